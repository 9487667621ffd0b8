// The weights that are returned for all classes: the best combination of the state and a running average of recent
// states, as for two classes (perceptron/lower_bound.hpp).
//
// The slack that a row needs depends only on its smallest margin over the wrong classes:
//   F(c) = ‖W_c‖² + sum_k Delta_k^-2 max_r max(0, 1 - s_kr(c))²,   W_c = c_0 state + c_1 average.
// With one wrong class chosen for each row, F is smaller or the same, and slack repair finds its minimum. So the
// nearest wrong classes are chosen at c, the best c is found for them, and this is repeated until F falls no more.
#pragma once

#include "dynmargin/joint/joint_state.hpp"
#include "dynmargin/perceptron/best_weights.hpp"

namespace dynmargin {

class JointLowerBound : public BestWeights<2> {
 public:
  JointLowerBound(const PackedRows& packed, const JointProblem& problem)
      : BestWeights(packed, problem), problem_(problem), w_(packed.n_columns, problem.costs.size()) {}

  // Takes the state into the average, after a pass over `pass_size` rows, unless the pass cost less than this does.
  void remember(const JointState& a, std::size_t pass_size) {
    const auto size = static_cast<double>(a.w.values.size()), stride = static_cast<double>(a.w.stride);
    if (static_cast<double>(pass_size) * (row_length_ + 1) * stride >= size) take_into_average(a, a.w.values.size());
  }

  // Looks for better weights at this state; returns min_kr A.z_kr, a by-product.
  template <class P>
  double improve(const P& patterns, const JointState& a) {
    const std::size_t K = a.w.n_classes, stride = a.w.stride;
    Directions directions{a.w, a.w};
    const double scale = canonical_scale(a.totals);
    for (double& c : directions[0].values) c *= scale;
    directions[1].values = average_;
    directions[1].values.resize(a.w.values.size());
    for (auto& scores : scores_) scores.resize(members_.size() * stride);
    const double smallest = smallest_over(blocks(), [&](std::size_t begin, std::size_t end) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = begin; i < end; ++i) {
        const JointPattern& y = a.patterns[members_[i].row()];
        for (std::size_t direction = 0; direction < 2; ++direction)
          score_classes(patterns, y, directions[direction], &scores_[direction][i * stride]);
        const double* s = &scores_[0][i * stride];
        const double margin = s[y.right] - s[nearest_wrong_class(s, K, y.right)];
        least = std::min(least, (scale > 0 ? margin / scale : 0) + static_cast<double>(y.count) * y.delta2);
      }
      return least;
    });
    problem_.hard_margin() ? combine_hard(a, directions) : combine(a, directions);
    return smallest;
  }

  const ClassWeights& w() const { return w_; }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    BestWeights::snapshot(s, w_.values.size());
    s.fixed(w_.values);
  }

 private:
  using Directions = std::array<ClassWeights, 2>;  // the state and the average

  template <class SmallestOf>
  double smallest_over(const Blocks& blocks, const SmallestOf& smallest_of) const {
    return blocks.sum(problem_.n_threads, smallest_of,
                      [](double& least, double next) { least = std::min(least, next); });
  }

  static Gram gram_of(const Directions& u) {
    Gram gram{};
    for (std::size_t j = 0; j < u[0].values.size(); ++j)
      for (std::size_t d = 0; d < 2; ++d)
        for (std::size_t e = 0; e <= d; ++e) gram[d][e] += u[d].values[j] * u[e].values[j];
    gram[0][1] = gram[1][0];
    return gram;
  }

  static double norm2_of(const Gram& gram, const Combined& c) {
    return c[0] * c[0] * gram[0][0] + 2 * c[0] * c[1] * gram[0][1] + c[1] * c[1] * gram[1][1];
  }

  // Chooses the nearest wrong class of every row for the weights W_c, and returns the smallest margin.
  double choose(const JointState& a, const Combined& c) {
    const std::size_t K = a.w.n_classes, stride = a.w.stride;
    for (auto& scores : nearest_) scores.resize(whole_lanes(members_.size()));
    return smallest_over(Blocks(members_.size()), [&](std::size_t begin, std::size_t end) {
      double least = std::numeric_limits<double>::infinity();
      std::vector<double> combined(stride);  // scores of a row
      for (std::size_t i = begin; i < end; ++i) {
        const auto right = static_cast<std::size_t>(a.patterns[members_[i].row()].right);
        const double *s = &scores_[0][i * stride], *t = &scores_[1][i * stride];
        for (std::size_t n = 0; n < stride; ++n) combined[n] = c[0] * s[n] + c[1] * t[n];
        const std::size_t wrong = nearest_wrong_class(combined.data(), K, right);
        nearest_[0][i] = s[right] - s[wrong];
        nearest_[1][i] = t[right] - t[wrong];
        least = std::min(least, c[0] * nearest_[0][i] + c[1] * nearest_[1][i]);
      }
      return least;
    });
  }

  // F(c), with the wrong classes chosen for it.
  double objective(const Gram& gram, const Combined& c) const {
    const auto loss_of = [&](std::size_t begin, std::size_t end) {
      double loss = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double slack = std::max(0.0, 1 - (c[0] * nearest_[0][i] + c[1] * nearest_[1][i]));
        loss += penalties_[i] * slack * slack;
      }
      return loss;
    };
    const double loss =
        Blocks(members_.size()).sum(problem_.n_threads, loss_of, [](double& sum, double next) { sum += next; });
    return norm2_of(gram, c) + loss;
  }

  Combination<2> descend(const JointState& a, const Gram& gram) {
    Combined c = start_;
    choose(a, c);
    double F = objective(gram, c);
    for (int round = 0; round < 20; ++round) {
      Combined there = Repair(nearest_, penalties_, gram, problem_.n_threads).best(c).c;
      double lower = F;
      for (int halvings = 0; halvings < 4; ++halvings) {
        choose(a, there);
        lower = objective(gram, there);
        if (lower < F) break;
        for (std::size_t d = 0; d < 2; ++d) there[d] = (c[d] + there[d]) / 2;
      }
      if (!(lower < F)) break;
      const bool settled = lower > (1 - 1e-6) * F;
      c = there;
      F = lower;
      if (settled) break;
    }
    return {c, 1 / std::sqrt(F)};
  }

  void take(const Directions& u, const Combined& c, double margin, double scale) {
    margin_ = margin;
    scale_ = scale;
    for (std::size_t j = 0; j < w_.values.size(); ++j) w_.values[j] = c[0] * u[0].values[j] + c[1] * u[1].values[j];
  }

  void combine(const JointState& a, const Directions& u) {
    const auto [c, margin] = descend(a, gram_of(u));
    if (c != Combined{}) start_ = c;
    // As long as no weights are better than none, the direction of the average, or of the state, is all there is.
    if (c == Combined{} && scale_ == 0) return take(u, average_.empty() ? Combined{1, 0} : Combined{0, 1}, margin, 0);
    if (margin > margin_) take(u, c, margin, 1);
  }

  void combine_hard(const JointState& a, const Directions& u) {
    const Gram gram = gram_of(u);
    BestWeights::combine_hard(
        gram, [&] { return descend(a, gram).c; }, [&](const Combined& c) { return norm2_of(gram, c); },
        [&](const Combined& c) { return choose(a, c); },
        [&](const Combined& c, double margin, double scale) { take(u, c, margin, scale); });
  }

  const JointProblem& problem_;
  std::array<std::vector<double>, 2> scores_;  // of the two directions, all classes of a row side by side
  Repair::Scores nearest_;                     // (w_y - w_r).[x_k, rho] of the two directions, r chosen for each row
  ClassWeights w_;
};

}  // namespace dynmargin
