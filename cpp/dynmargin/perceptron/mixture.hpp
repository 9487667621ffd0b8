// The best combination of a run's state with what it was after the last few full passes.
//
// PDM's rule only adds. A pattern that was added too often early on is diluted as t grows, or taken back, and what the
// run has learnt about a direction it learns again, pass after pass. But any counts >= 0 are a state that a
// perceptron may begin with, and prove the upper bound ‖a‖/t. So after a full pass the run continues from the
// combination of states, in shares n_k / t, that proves most:
//
//   minimise ‖sum_i c_i a_i / t_i‖ over sum_i c_i = 1;  n_k = [T max(0, sum_i c_i n_ik / t_i) + 1/2]
//
// The coefficients may be negative: this is how updates are undone. A share that would be negative becomes 0, and if
// that spoils the bound, a shorter step is tried. A few former states are as good as many, as in conjugate gradients.
// (Visits per row to a certified 1 %, with mixing and without, counts not renewed: 30,000 rows of 100 columns 47 and
// 1,105, 8,000 rows of 500 columns 125 and 1,380, 50,000 rows of 20 columns with much overlap 40 and 143, Adult 14.5
// and 23, 20,000 short texts 11 and 14. A mix costs about as much as visiting half of the rows.)
//
// For the hard margin there is no extension that keeps steps short. There only the last state takes part, and the
// weights of what came before it and of what came since are at least 0: a mixture of the two parts of the run (21
// visits per row instead of 149 on 18,353 separable rows of 100 columns).
//
// Counts are whole numbers, and the cost of rounding them is small compared with the accuracy of the rule. That is not
// enough where patterns share far more with each other than their extensions set them apart, as when features are not
// scaled: there rounding ends all progress far from the goal. So whenever a stiff run gains less from one mix to the
// next than rounding may cost, it continues with finer numbers. (569 rows of raw breast cancer measurements to 1 %:
// 0.2 s; otherwise it stalls 5 to 30 % short.)
//
// In other problems rounding is not the reason. When combinations fail to lower the bound several times in a row there,
// the run is close to satisfying its rule, and the excess is better diluted. Then it continues in larger steps, and is
// mixed in the manner of the hard margin, whenever it has doubled. (600 rows of 8 columns to 1e-6: 0.5 s; otherwise not
// after 1.5 s.)
#pragma once

#include "dynmargin/order/snapshot.hpp"
#include "dynmargin/perceptron/state.hpp"
#include "dynmargin/solve/cholesky.hpp"

namespace dynmargin {

inline constexpr std::size_t most_directions = 4;
template <class Value>
using FromEach = std::array<Value, most_directions + 1>;

// AnyState goes through its coordinates (`for_each_coordinate`), knows its counts as shares, with what they contribute
// to the products of states in the extension (`take_shares`), and can be multiplied by a whole number (`multiply`).
template <class AnyState>
class Mixture {
 public:
  // Where there are more columns than rows, states are large, and two of them are as good as more.
  Mixture(const Lengths& lengths, bool wide)
      : squared_norms_(lengths.all),
        stiffness_(lengths.all / lengths.own),
        n_patterns_(lengths.patterns),
        most_points_(lengths.own == 0 ? 1 : (wide ? 2 : most_directions)),
        parts_only_(lengths.own == 0) {}

  // The t of counts that prove about this bound, so large that rounding them costs less than the accuracy of the rule.
  double fine_total(double bound, double accuracy) const {
    return std::min(std::sqrt(squared_norms_ / (fineness_ * accuracy)) / bound, largest_total);
  }

  // The run continues from something else.
  void forget() { points_.clear(); }

  // Whether combinations have come to fail.
  bool diluting() const { return diluting_; }

  // Makes the combination the state, if it proves more. `rebuild(a, count_of)` is to give `a` the count count_of(i) at
  // place i, and all that follows from the counts.
  //
  // All is written in numbers so large that rounding costs less than the accuracy of the rule: rounding n_k adds at
  // most ‖y_k‖² / 4 to ‖a‖² on the average. An update is a small step then.
  //
  // The shares take the memory of `room`, which gets that of the shares that are forgotten, if there are any.
  template <class Rebuild>
  void mix(AnyState& a, double accuracy, const Rebuild& rebuild, std::vector<double>& room) {
    const double t = a.totals.t, norm2 = a.totals.norm2, bound = std::sqrt(norm2) / t;
    if (!(bound > 0) || t > largest_total) return;
    if (diluting_ && ++passes_ < next_mix_) return;
    if (diluting_) next_mix_ *= 2;
    Point now = point_of(a, std::move(room));
    const bool stiff = stiffness_ > std::max(stiff_from, stiff_by / accuracy);
    if (stiff && !points_.empty()) refine(points_[0].squared / now.squared - 1, accuracy);
    const auto factor = [&](double noise) { return std::sqrt(squared_norms_ / norm2 / noise); };
    const double finer = diluting_ ? 1 : std::max(1.0, std::min(factor(fineness_ * accuracy), largest_total / t));
    const Coefficients step = best_step(now);
    if (worthwhile(now, step)) {
      attempt(a, now, step, bound, finer * t, rebuild);
      if (failures_ == most_failures && !diluting_ && !stiff)
        start_diluting(a, now, factor(std::max(accuracy, std::min(100 * accuracy, largest_noise))) * t, rebuild);
      now = point_of(a, std::move(now.shares));
    } else if (finer > 2) {
      multiply(a, std::floor(finer));
      now = point_of(a, std::move(now.shares));
    }
    room = remember(a, std::move(now));
  }

  // Of a run whose states have that many coordinates and counts.
  template <class Snapshot>
  void snapshot(Snapshot& s, std::size_t n_coordinates, std::size_t n_counts) {
    s(most_points_, parts_only_, fineness_, diluting_, failures_, passes_, next_mix_, points_);
    require_intact(most_points_ >= 1 && most_points_ <= most_directions && points_.size() <= most_points_);
    for (const Point& p : points_) require_intact(p.coordinates.size() == n_coordinates && p.shares.size() == n_counts);
  }

 private:
  // A run is stiff if its stiffness exceeds both `stiff_from` and, since fine accuracies gain more by dilution,
  // `stiff_by` over the accuracy. Raw measurements have 1e6, scaled ones 10 to 200 at C=1.
  static constexpr double stiff_from = 300, stiff_by = 1e-3;
  static constexpr double smallest_noise = 1e-12;  // of ‖a‖²: doubles resolve no less
  static constexpr int most_failures = 4;
  static constexpr double largest_noise = 1e-3;                // of ‖a‖², by rounding
  static constexpr double largest_total = largest_count / 16;  // leaves room for updates, and for what is cut off
  using Coefficients = SmallVector<most_directions>;

  // A state, divided by its t.
  struct Point {
    std::vector<double> coordinates;  // once it is remembered
    std::vector<double> shares;
    double t, squared;      // ‖a / t‖²
    Coefficients products;  // with the points remembered

    template <class Snapshot>
    void snapshot(Snapshot& s) {
      s(coordinates, shares, t, squared, products);
    }
  };

  Point point_of(const AnyState& a, std::vector<double> room) const {
    Point p{{}, std::move(room), a.totals.t, 0, {}};
    const double scale = 1 / p.t;
    const auto others = from_each<const double*>([](const Point& q) { return q.coordinates.data(); });
    FromEach<double> sums{};
    std::size_t j = 0;
    for_each_coordinate(a, [&](double coordinate) {
      const double c = coordinate * scale;
      sums.back() += c * c;
      for (std::size_t i = 0; i < points_.size(); ++i) sums[i] += c * others[i][j];
      ++j;
    });
    const auto extended =
        take_shares(a, p.shares, from_each<const double*>([](const Point& q) { return q.shares.data(); }));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += extended[i];
    p.squared = sums.back();
    std::copy_n(sums.begin(), most_directions, p.products.begin());
    return p;
  }

  // f of each of the remembered points, zero for those that are missing.
  template <class Value, class F>
  FromEach<Value> from_each(const F& f) const {
    FromEach<Value> found{};
    for (std::size_t i = 0; i < points_.size(); ++i) found[i] = f(points_[i]);
    return found;
  }

  // How far to go from the present state towards each of the remembered points.
  Coefficients best_step(const Point& now) const {
    SmallMatrix<most_directions> H{};  // products of the ways there
    Coefficients downhill{};
    for (std::size_t i = 0; i < points_.size(); ++i) {
      downhill[i] = now.squared - now.products[i];
      H[i][i] = points_[i].squared - 2 * now.products[i] + now.squared;
      for (std::size_t j = 0; j < i; ++j)  // point j is later than point i, and knows its product with it
        H[i][j] = points_[j].products[i - j - 1] - now.products[i] - now.products[j] + now.squared;
    }
    Coefficients step = solve_small(H, downhill);
    if (parts_only_ && !points_.empty()) {  // the weights of both parts are at least 0
      const double before = points_[0].t / now.t;
      step[0] = before < 1 ? std::clamp(step[0], -before / (1 - before), 1.0) : 0;
    }
    return step;
  }

  // A gain that is small compared with what the run has gained by itself since is not worth the time.
  bool worthwhile(const Point& now, const Coefficients& step) const {
    if (points_.empty()) return false;
    double gain = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) gain += step[i] * (now.squared - now.products[i]);
    return gain > std::max(0.1 * (points_[0].squared - now.squared), 1e-12 * now.squared);
  }

  // When the gain is below what rounding may cost, rounding may cost a tenth of that from now on.
  void refine(double gain, double accuracy) {
    const double noise = fineness_ * accuracy;
    if (gain < noise && noise > 10 * smallest_noise) fineness_ /= 10;
  }

  // Takes the step, or a part of it; if no part lowers the bound, only the size of the numbers changes.
  template <class Rebuild>
  void attempt(AnyState& a, const Point& now, const Coefficients& step, double bound, double T,
               const Rebuild& rebuild) {
    for (double length : {1.0, 0.5, 0.25}) {
      give_shares(a, now, step, length, T, rebuild);
      if (std::sqrt(a.totals.norm2) / a.totals.t < bound && a.totals.t <= largest_count) {
        failures_ = 0;
        return;
      }
    }
    ++failures_;
    give_shares(a, now, {}, 0, T, rebuild);
  }

  // From now on larger steps, but never so large that counts are lost, and mixtures of two parts now and then.
  template <class Rebuild>
  void start_diluting(AnyState& a, const Point& now, double T, const Rebuild& rebuild) {
    diluting_ = parts_only_ = true;
    most_points_ = 1;
    points_.clear();
    const std::size_t places = now.shares.size() / a.patterns.size() * n_patterns_;
    if (T < now.t && T > 4 * static_cast<double>(places)) give_shares(a, now, {}, 0, T, rebuild);
  }

  template <class Rebuild>
  void give_shares(AnyState& a, const Point& now, const Coefficients& step, double length, double T,
                   const Rebuild& rebuild) const {
    FromEach<double> c{};
    c.back() = T;
    for (std::size_t i = 0; i < points_.size(); ++i) c.back() -= c[i] = T * (length * step[i]);
    const auto shares = from_each<const double*>([](const Point& p) { return p.shares.data(); });
    rebuild(a, [&](std::size_t k) {
      double n = c.back() * now.shares[k];
      for (std::size_t i = 0; i < points_.size(); ++i) n += c[i] * shares[i][k];
      return static_cast<std::int64_t>(std::clamp(n, 0.0, largest_total) + 0.5);
    });
  }

  // Returns the room of the shares that are forgotten.
  std::vector<double> remember(const AnyState& a, Point p) {
    std::vector<double> room;
    if (points_.size() == most_points_) {
      p.coordinates = std::move(points_.back().coordinates);  // the same memory again
      room = std::move(points_.back().shares);
      points_.pop_back();
    }
    p.coordinates.clear();
    const double scale = 1 / p.t;
    for_each_coordinate(a, [&](double coordinate) { p.coordinates.push_back(coordinate * scale); });
    points_.insert(points_.begin(), std::move(p));
    return room;
  }

  double squared_norms_;    // sum_k ‖y_k‖²
  double stiffness_;        // sum_k ‖y_k‖² over sum_k Delta_k²
  std::size_t n_patterns_;  // that take part
  std::size_t most_points_;
  bool parts_only_;
  double fineness_ = 1;  // what rounding may cost, as a fraction of the accuracy
  bool diluting_ = false;
  int failures_ = 0;                        // in a row
  std::int64_t passes_ = 0, next_mix_ = 8;  // full passes since dilution began
  std::vector<Point> points_;               // the last one first
};

}  // namespace dynmargin
