// The bounds of the moment for an algorithm that also takes back, and the best weights seen.
//
//   squared hinge   the best weights in the span of w and the bias direction, slacks repaired, and ‖a‖ / t
//   hinge           its objective P at w and the dual value D of alpha, both as 1 / sqrt(2 objective): for the squared
//                   hinge that is what a margin is
//
// A running average of w, which PDM's lower bound lives on, gained nothing here: visiting where it pays keeps w quiet.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "dynmargin/dual/dual_state.hpp"
#include "dynmargin/proof/witnesses.hpp"
#include "dynmargin/solve/slack_repair.hpp"

namespace dynmargin {

class DualBounds {
 public:
  DualBounds(const Problem& problem, std::size_t n_columns)
      : members_(members_of(problem)), problem_(problem), w_(n_columns + 1) {
    if (problem.hard_margin()) return;
    penalties_.resize(whole_lanes(members_.size()));
    for (std::size_t i = 0; i < members_.size(); ++i) penalties_[i] = problem.penalty(members_[i].row());
  }

  // One read-only pass over all rows.
  template <class P>
  Bounds check(const P& patterns, const DualState& state, double target) {
    const Sums sums = sums_of(state);
    std::vector<double> w(state.w);
    w.push_back(state.bias);
    for (double& c : w) c /= target;
    for (auto& scores : scores_) scores.resize(whole_lanes(members_.size()));
    double smallest = std::numeric_limits<double>::infinity(), smallest_score = smallest, loss = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Member m = members_[i];
      const DualPattern& y = state.patterns[m.row()];
      const double score = patterns.dense_dot(w.data(), w.back(), y, m.side());
      scores_[0][i] = score;
      scores_[1][i] = m.side() * problem_.rho;
      smallest_score = std::min(smallest_score, score);
      if (problem_.loss == Loss::hinge)
        loss += y.delta2 * std::max(0.0, 1 - score);
      else
        smallest = std::min(smallest, score + y.count / target * y.delta2);
    }
    if (problem_.loss == Loss::hinge) {
      const double primal = sums.dense2 / (target * target) / 2 + loss / target;
      const double dual = sums.t / target - sums.dense2 / (target * target) / 2;
      const double value = 1 / std::sqrt(2 * primal);
      if (value > margin_) take(w, value, 1);
      return {margin_, 1 / std::sqrt(2 * std::max(0.0, dual)), margin_};
    }
    problem_.hard_margin() ? take_direction(w, smallest_score) : combine(w);
    const double norm = std::sqrt(sums.norm2());
    return {margin_, norm / sums.t, smallest * target / norm};
  }

  double margin() const { return margin_; }
  const std::vector<double>& w() const { return w_; }  // the bias last
  double scale() const { return scale_; }

 private:
  void take(const std::vector<double>& w, double margin, double scale) {
    w_ = w;
    margin_ = margin;
    scale_ = scale;
  }

  void combine(const std::vector<double>& w) {
    SlackRepair<2>::Gram gram{};
    for (const double c : w) gram[0][0] += c * c;
    gram[0][1] = gram[1][0] = w.back();
    gram[1][1] = 1;
    const auto found = SlackRepair<2>(scores_, penalties_, gram).best({1.0, 0.0});
    if (!(found.margin > margin_)) return;
    take(w, found.margin, found.c == std::array<double, 2>{} ? 0 : 1);
    if (scale_ == 0) return;  // where no weights are better than none, the direction is all there is
    for (double& c : w_) c *= found.c[0];
    w_.back() += found.c[1];
  }

  void take_direction(const std::vector<double>& w, double smallest_score) {
    double norm2 = 0;
    for (const double c : w) norm2 += c * c;
    const double margin = smallest_score / std::sqrt(norm2);
    if (norm2 > 0 && margin > margin_) take(w, margin, smallest_score > 0 ? 1 / smallest_score : 0);
  }

  std::vector<Member> members_;
  const Problem& problem_;
  std::vector<double> penalties_;  // Delta_k^-2, and zeros up to whole lanes
  SlackRepair<2>::Scores scores_;  // of w, of the bias
  std::vector<double> w_;
  double scale_ = 0, margin_ = -std::numeric_limits<double>::infinity();
};

}  // namespace dynmargin
