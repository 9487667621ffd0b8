// The best combination of the dual weights of a run with what they were at a few earlier moments.
//
// Where rows share much with each other, or slacks are expensive, coordinate descent takes the same small steps pass
// after pass. So now and then the run continues from the combination of its states that is best for the dual objective:
//
//   minimise  f(sum_i c_i alpha_i)  over  sum_i c_i = 1,   f(alpha) = ‖a‖²/2 - target sum_k alpha_k
//
// The coefficients may be negative: this is how a step is prolonged. A dual weight that would leave its range goes to
// the end of it; where that spoils the objective, a shorter step is tried. That is what mixture.hpp is for PDM. More
// than four former states make it worse.
//
// (Milliseconds to a certified 1 %, with and without: 537 rows of 670 columns 670 and 2,340, 885 of 1,264 columns 180
// and 940, 23,192 of 7,011 columns 255 and 478, 7,236 of 15,030 columns 340 and 780.)
#pragma once

#include "dynmargin/dual/dual_state.hpp"
#include "dynmargin/order/snapshot.hpp"
#include "dynmargin/solve/cholesky.hpp"

namespace dynmargin {

class DualMixture {
 public:
  // Not before there have been `after` visits per pattern: most runs are over by then, and have no need of the memory.
  DualMixture(const PackedRows& packed, const Problem& problem, double after)
      : begin_(after * static_cast<double>(problem.n_members())), hinge_(problem.loss == Loss::hinge) {
    const auto patterns = static_cast<double>(problem.n_members());
    const double visit = static_cast<double>(n_nonzeros(packed, problem)) / patterns + visit_itself;
    pause_ = costs * (static_cast<double>(packed.n_columns) + patterns) / visit;
  }

  // Whether the visits since the last time have cost several times what this does.
  bool due(double visits) const {
    return visits >= begin_ && visits - mixed_at_ >= pause_ + visits_per_weight * n_weights_;
  }

  // Makes the combination the state, if its objective is better.
  template <class P>
  void mix(DualState& a, const P& patterns, const Problem& problem, double target, double visits) {
    mixed_at_ = visits;
    if (!points_.empty()) improve(a, patterns, problem, target);
    remember(a);
  }

  // Whether other dual weights may be mixed in: by a run that mixes its states, but has not done so yet.
  bool open() const { return points_.empty() && std::isfinite(begin_); }

  // The same with other dual weights in place of former ones, which are not kept; returns whether that is better.
  template <class P>
  bool mix_with(std::vector<double> alpha, DualState& a, const P& patterns, const Problem& problem, double target) {
    Point other{std::vector<double>(a.w.size()), std::move(alpha), 0, 0, 0, 1, {}};
    for (std::size_t k = 0; k < other.alpha.size(); ++k) {
      const double weight = other.alpha[k];
      if (weight == 0) continue;
      patterns.add_to(other.w.data(), other.bias, a.patterns[k], problem.sides[k] * weight);
      other.t += weight;
      other.squared += weight * weight * extension(a.patterns[k]);
    }
    other.squared += other.bias * other.bias + squared_in_lanes(other.w);
    if (!std::isfinite(other.squared)) return false;
    points_.push_back(std::move(other));
    const bool better = improve(a, patterns, problem, target);
    points_.clear();
    return better;
  }

  // The run continues from something else.
  void forget() {
    points_.clear();
    growth_ = 1;
  }

  // Of a run whose states have that many coordinates and dual weights.
  template <class Snapshot>
  void snapshot(Snapshot& s, std::size_t n_coordinates, std::size_t n_weights) {
    s(mixed_at_, n_weights_, growth_, points_);
    require_intact(points_.size() <= most_points);
    for (const Point& p : points_) require_intact(p.w.size() == n_coordinates && p.alpha.size() == n_weights);
  }

 private:
  static constexpr std::size_t most_points = 4;
  static constexpr double costs = 10;             // multiplications of visits, per coordinate and dual weight
  static constexpr double visit_itself = 4;       // in multiplications
  static constexpr double visits_per_weight = 1;  // more often does not save visits
  static constexpr double most_growth = 100;      // of rounding errors: some 1e-14 of w then
  using Coefficients = SmallVector<most_points>;

  struct Point {
    std::vector<double> w, alpha;
    double bias, t, squared;  // sum_k alpha_k, ‖a‖²
    double growth;            // of rounding errors in w, since it was last summed over the rows
    Coefficients products;    // with the points that were remembered before it

    template <class Snapshot>
    void snapshot(Snapshot& s) {
      s(w, alpha, bias, t, squared, growth, products);
    }
  };

  double extension(const DualPattern& y) const { return hinge_ ? 0 : y.delta2; }
  double most(const DualPattern& y) const { return hinge_ ? y.delta2 : std::numeric_limits<double>::infinity(); }

  Point point_of(const DualState& a) const {
    const Sums sums = sums_of(a);
    Point p{a.w, counts_of(a), a.bias, sums.t, hinge_ ? sums.dense2 : sums.norm2(), growth_, {}};
    for (std::size_t i = 0; i < points_.size(); ++i) p.products[i] = product(a, points_[i]);
    return p;
  }

  double product(const DualState& a, const Point& p) const {
    double sum = a.bias * p.bias + sum_in_lanes(p.w.size(), [&](std::size_t j) { return a.w[j] * p.w[j]; });
    for (std::size_t k = 0; k < p.alpha.size(); ++k) sum += a.patterns[k].count * p.alpha[k] * extension(a.patterns[k]);
    return sum;
  }

  // Returns whether there is a better state.
  template <class P>
  bool improve(DualState& a, const P& patterns, const Problem& problem, double target) {
    const Point now = point_of(a);
    const Coefficients step = best_step(now, target);
    for (const double length : {1.0, 0.25}) {
      go(a, patterns, problem, now, step, length);
      const Sums there = sums_of(a);
      const double squared = hinge_ ? there.dense2 : there.norm2();
      if (squared / 2 - target * there.t < now.squared / 2 - target * now.t) return true;
    }
    go(a, patterns, problem, now, {}, 0);
    return false;
  }

  // How far to go from the present state towards each of the remembered points.
  Coefficients best_step(const Point& now, double target) const {
    SmallMatrix<most_points> H{};  // products of the ways there
    Coefficients downhill{};
    for (std::size_t i = 0; i < points_.size(); ++i) {
      downhill[i] = now.squared - now.products[i] + target * (points_[i].t - now.t);
      H[i][i] = points_[i].squared - 2 * now.products[i] + now.squared;
      for (std::size_t j = 0; j < i; ++j)  // point j is later than point i, and knows its product with it
        H[i][j] = points_[j].products[i - j - 1] - now.products[i] - now.products[j] + now.squared;
    }
    return solve_small(H, downhill);
  }

  // Takes a part of the step.
  //
  // w is the same combination of the former ones, corrected for the dual weights that were cut off; to sum it anew over
  // the rows took a fifth of the time on 300,000 rows of 72 entries. But coefficients multiply rounding errors, and
  // nothing else would ever correct these: where they may have grown too large, or most weights were cut off, it is
  // summed anew.
  template <class P>
  void go(DualState& a, const P& patterns, const Problem& problem, const Point& now, const Coefficients& step,
          double length) {
    Coefficients c{};
    double own = 1;
    for (std::size_t i = 0; i < points_.size(); ++i) own -= c[i] = length * step[i];
    growth_ = std::abs(own) * now.growth;
    for (std::size_t i = 0; i < points_.size(); ++i) growth_ += std::abs(c[i]) * points_[i].growth;
    std::vector<std::pair<std::size_t, double>> cut_off;  // rows, and by how much
    std::size_t n_weights = 0;
    for (std::size_t k = 0; k < a.patterns.size(); ++k) {
      DualPattern& y = a.patterns[k];
      double alpha = own * now.alpha[k];
      for (std::size_t i = 0; i < points_.size(); ++i) alpha += c[i] * points_[i].alpha[k];
      y.count = std::clamp(alpha, 0.0, most(y));
      if (y.count != alpha) cut_off.emplace_back(k, y.count - alpha);
      n_weights += y.count > 0;
    }
    const auto add = [&](std::size_t k, double weight) {
      patterns.add_to(a.w.data(), a.bias, a.patterns[k], problem.sides[k] * weight);
    };
    if (growth_ <= most_growth && 2 * cut_off.size() <= n_weights) {
      for (std::size_t j = 0; j < a.w.size(); ++j) {
        a.w[j] = own * now.w[j];
        for (std::size_t i = 0; i < points_.size(); ++i) a.w[j] += c[i] * points_[i].w[j];
      }
      a.bias = own * now.bias;
      for (std::size_t i = 0; i < points_.size(); ++i) a.bias += c[i] * points_[i].bias;
      // (300,000 rows of 72 entries: a fit takes 0.9 times as long when these rows are fetched ahead.)
      patterns.for_scattered(
          cut_off.size(), [&](std::size_t i) -> const DualPattern& { return a.patterns[cut_off[i].first]; },
          [&](std::size_t i) { add(cut_off[i].first, cut_off[i].second); });
    } else {
      growth_ = 1;
      std::fill(a.w.begin(), a.w.end(), 0.0);
      a.bias = 0;
      for (std::size_t k = 0; k < a.patterns.size(); ++k)
        if (a.patterns[k].count > 0) add(k, a.patterns[k].count);
    }
  }

  void remember(const DualState& a) {
    if (points_.size() == most_points) points_.pop_back();
    points_.insert(points_.begin(), point_of(a));
    const auto has_weight = [](const DualPattern& y) { return y.count > 0; };
    n_weights_ = static_cast<double>(std::count_if(a.patterns.begin(), a.patterns.end(), has_weight));
  }

  double begin_, pause_;  // in visits
  bool hinge_;
  double mixed_at_ = 0, n_weights_ = 0;  // the last time: after so many visits, with so many dual weights
  double growth_ = 1;                    // of the state, as of a point
  std::vector<Point> points_;            // the last one first
};

}  // namespace dynmargin
