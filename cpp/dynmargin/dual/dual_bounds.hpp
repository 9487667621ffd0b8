// The current bounds of a dual algorithm, and the best weights seen.
//
//   squared hinge   the best weights in the span of w and the bias direction, slacks repaired, and ‖a‖ / t
//   hinge           its objective P at w and the dual value D of alpha, both as 1 / sqrt(2 objective): for the squared
//                   hinge that is what a margin is
//   free bias       as the squared hinge, but the bias costs nothing: without slacks the best one is half-way between
//                   the two sides
//
// A running average of w, which PDM's lower bound relies on, gained nothing here: visiting where it pays keeps w quiet.
#pragma once

#include "dynmargin/dual/dual_state.hpp"
#include "dynmargin/perceptron/best_weights.hpp"
#include "dynmargin/proof/witnesses.hpp"

namespace dynmargin {

class DualBounds : public BestWeights<2, 1> {  // w and the bias
 public:
  DualBounds(const PackedRows& packed, const Problem& problem)
      : BestWeights(packed, problem), problem_(problem), w_(packed.n_columns + 1) {}

  // One read-only pass over all rows.
  template <class P>
  Bounds check(const P& patterns, const DualState& state, double target) {
    const Sums sums = sums_of(state);
    const double scale = 1 / target;  // of the weights that are scored, w / target
    scores_[0].resize(whole_lanes(members_.size()));
    const auto score_block = [&](std::size_t begin, std::size_t end) {
      Seen seen;
      for (std::size_t i = begin; i < end; ++i) {
        const Member m = members_[i];
        const DualPattern& y = state.patterns[m.row()];
        const double score = scale * patterns.dense_dot(state.w.data(), state.bias, y, m.side());
        scores_[0][i] = score;
        double& low = seen.smallest[m.negative()];
        low = std::min(low, score);
        if (problem_.loss == Loss::hinge) {
          seen.loss += y.delta2 * std::max(0.0, 1 - score);
        } else {
          double& extended_low = seen.extended[m.negative()];
          extended_low = std::min(extended_low, score + scale * y.count * y.delta2);
        }
      }
      return seen;
    };
    const auto [smallest, extended, loss] = blocks().sum(problem_.n_threads, score_block, add_seen);
    const double squared = scale * (scale * sums.dense2);
    if (problem_.loss == Loss::hinge) {
      const double primal = squared / 2 + loss * scale, dual = sums.t * scale - squared / 2;
      const double value = 1 / std::sqrt(2 * primal);
      if (value > margin_) take(state, scale, value, 1);
      return {margin_, 1 / std::sqrt(2 * std::max(0.0, dual)), margin_};
    }
    problem_.hard_margin() ? take_direction(state, scale, squared, smallest)
                           : combine(state, scale, squared, bias_between(extended));
    const double norm = std::sqrt(sums.norm2());
    return {margin_, norm / sums.t, smallest_of(extended) * target / norm};
  }

  const std::vector<double>& w() const { return w_; }  // the bias last

  double row_length() const { return row_length_; }  // non-zeros, on average

  // Whether the scores of the last check are known; a run that continues from a snapshot has to make it again.
  bool scored() const { return !scores_[0].empty(); }

  // The dual weights, one per row, that the weights of the last check imply: at the optimum they are the slacks, times
  // Delta_k^-2.
  std::vector<double> implied(std::size_t n_rows) const {
    std::vector<double> alpha(n_rows);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const double score = combined_[0] * scores_[0][i] + combined_[1] * (members_[i].side() * rho());
      alpha[members_[i].row()] = penalty(i) * std::max(0.0, 1 - score);
    }
    return alpha;
  }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    BestWeights::snapshot(s, w_.size());
    s.fixed(w_);
    if constexpr (Snapshot::reading) scores_[0].clear();  // those of another state
  }

 private:
  struct Seen {
    static constexpr double far = std::numeric_limits<double>::infinity();
    // The smallest score of the positive and of the negative side, and the same with the extension.
    std::array<double, 2> smallest{far, far}, extended{far, far};
    double loss = 0;  // hinge
  };
  static void add_seen(Seen& all, const Seen& next) {
    for (const std::size_t side : {0, 1}) {
      all.smallest[side] = std::min(all.smallest[side], next.smallest[side]);
      all.extended[side] = std::min(all.extended[side], next.extended[side]);
    }
    all.loss += next.loss;
  }

  // What the bias is multiplied by in the scores.
  double rho() const { return problem_.free_bias ? 1 : problem_.rho; }

  // The best bias to begin with, and the smallest score with it.
  double bias_between(const std::array<double, 2>& smallest) const {
    return problem_.free_bias ? (smallest[1] - smallest[0]) / 2 : 0;
  }
  double smallest_of(const std::array<double, 2>& smallest) const {
    return problem_.free_bias ? (smallest[1] + smallest[0]) / 2 : std::min(smallest[0], smallest[1]);
  }

  // Takes the weights of a state, times a factor.
  void take(const DualState& state, double factor, double margin, double scale) {
    for (std::size_t j = 0; j < state.w.size(); ++j) w_[j] = factor * state.w[j];
    w_.back() = factor * state.bias;
    margin_ = margin;
    scale_ = scale;
  }

  // `squared` is the squared length of the scaled weights.
  void combine(const DualState& state, double scale, double squared, double bias) {
    const double of_bias = scale * state.bias;
    const Gram gram{{{squared, of_bias}, {of_bias, problem_.free_bias ? 0.0 : 1.0}}};
    const auto found = Repair(scores_, penalties_, gram, problem_.n_threads, rho()).best({1.0, bias});
    combined_ = found.c;
    if (!(found.margin > margin_)) return;
    // Where no weights are better than none, the direction is all there is. With a free bias, no weights are a
    // classifier like any other.
    if (found.c == Combined{} && !problem_.free_bias) return take(state, scale, found.margin, 0);
    take(state, found.c[0] * scale, found.margin, 1);
    w_.back() += found.c[1];
  }

  void take_direction(const DualState& state, double scale, double squared, const std::array<double, 2>& smallest) {
    const double score = smallest_of(smallest), margin = score / std::sqrt(squared);
    if (!(squared > 0 && margin > margin_)) return;
    take(state, scale, margin, score > 0 ? 1 / score : 0);
    w_.back() += bias_between(smallest);
  }

  const Problem& problem_;
  Repair::Scores scores_;  // of w; those of the bias are not stored
  Combined combined_{};    // the best combination of them at the last check
  std::vector<double> w_;
};

}  // namespace dynmargin
