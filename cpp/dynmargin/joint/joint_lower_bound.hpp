// The weights that are handed out for all classes: the best combination of the state and a running average of recent
// states, as for two classes (lower_bound.hpp).
//
// What the slacks have to make up for depends on the smallest margin of each row alone, over its wrong classes:
//   F(c) = ‖W_c‖² + sum_k Delta_k^-2 max_r max(0, 1 - s_kr(c))²,   W_c = c_0 state + c_1 average.
// With one wrong class chosen for each row, F is smaller or the same and slack repair finds its minimum. So: choose the
// nearest wrong classes at c, find the best c for them, choose again, until F falls no more.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "../slack_repair.hpp"
#include "joint_state.hpp"

namespace dynmargin {

class JointLowerBound {
 public:
  JointLowerBound(const PackedRows& packed, const JointProblem& problem)
      : problem_(problem),
        row_length_(static_cast<double>(packed.n_nonzeros) / static_cast<double>(packed.n_rows)),
        w_(packed.n_columns, problem.costs.size()) {
    for (std::size_t k = 0; k < problem.sides.size(); ++k)
      if (problem.sides[k] != 0) members_.push_back(static_cast<std::uint32_t>(k));
    penalties_.resize(whole_lanes(members_.size()));
    if (problem.hard_margin()) return;
    for (std::size_t i = 0; i < members_.size(); ++i) penalties_[i] = problem.penalty(members_[i]);
  }

  // Takes the state into the average, after a pass over so many rows; not after passes that cost less than this does.
  void remember(const JointState& a, std::size_t pass_size) {
    const std::vector<double>& w = a.w.values;
    if (static_cast<double>(pass_size) * (row_length_ + 1) * static_cast<double>(a.w.stride) <
        static_cast<double>(w.size()))
      return;
    const auto before = static_cast<double>(remembered_++);
    const double scale = canonical_scale(a), keep = before / (before + 6);
    average_.resize(w.size());
    for (std::size_t j = 0; j < w.size(); ++j) average_[j] = keep * average_[j] + (1 - keep) * scale * w[j];
  }

  // Looks for better weights at this state; returns min_kr A.z_kr, which falls out.
  template <class Rows>
  double look(const Rows& rows, const JointState& a) {
    const std::size_t K = a.w.n_classes, stride = a.w.stride;
    std::array<ClassWeights, 2> directions{a.w, a.w};
    const double scale = canonical_scale(a);
    for (double& c : directions[0].values) c *= scale;
    if (average_.empty())
      std::fill(directions[1].values.begin(), directions[1].values.end(), 0.0);
    else
      directions[1].values = average_;
    for (auto& scores : scores_) scores.resize(members_.size() * stride);
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const JointRow& row = a.rows[members_[i]];
      for (std::size_t direction = 0; direction < 2; ++direction)
        score_classes(rows, row.start, problem_.rho, directions[direction], &scores_[direction][i * stride]);
      const double* s = &scores_[0][i * stride];
      const double margin = s[row.right] - s[nearest_wrong_class(s, K, row.right)];
      smallest = std::min(smallest, (scale > 0 ? margin / scale : 0) + static_cast<double>(row.count) * row.delta2);
    }
    problem_.hard_margin() ? combine_hard(a, directions) : combine(a, directions);
    return smallest;
  }

  double margin() const { return margin_; }
  const ClassWeights& w() const { return w_; }
  double scale() const { return scale_; }

 private:
  using Combined = std::array<double, 2>;  // coefficients of the state and the average
  using Gram = SlackRepair<2>::Gram;
  using Directions = std::array<ClassWeights, 2>;

  // A t / ‖A‖² has the length of the optimum, up to the gap.
  static double canonical_scale(const JointState& a) { return a.totals.norm2 > 0 ? a.totals.t / a.totals.norm2 : 0; }

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

  // Chooses the nearest wrong class of every row for the weights W_c, and gives the smallest margin.
  double choose(const JointState& a, const Combined& c) {
    const std::size_t K = a.w.n_classes, stride = a.w.stride;
    double smallest = std::numeric_limits<double>::infinity();
    combined_.resize(stride);
    for (auto& scores : nearest_) scores.resize(whole_lanes(members_.size()));
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const auto right = static_cast<std::size_t>(a.rows[members_[i]].right);
      const double *s = &scores_[0][i * stride], *t = &scores_[1][i * stride];
      for (std::size_t n = 0; n < stride; ++n) combined_[n] = c[0] * s[n] + c[1] * t[n];
      const std::size_t wrong = nearest_wrong_class(combined_.data(), K, right);
      nearest_[0][i] = s[right] - s[wrong];
      nearest_[1][i] = t[right] - t[wrong];
      smallest = std::min(smallest, c[0] * nearest_[0][i] + c[1] * nearest_[1][i]);
    }
    return smallest;
  }

  // F(c), with the wrong classes chosen for it.
  double objective(const Gram& gram, const Combined& c) const {
    double loss = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const double slack = std::max(0.0, 1 - (c[0] * nearest_[0][i] + c[1] * nearest_[1][i]));
      loss += penalties_[i] * slack * slack;
    }
    return norm2_of(gram, c) + loss;
  }

  Combined descend(const JointState& a, const Gram& gram, double& F) {
    Combined c = start_;
    choose(a, c);
    F = objective(gram, c);
    for (int round = 0; round < 20; ++round) {
      Combined there = SlackRepair<2>(nearest_, penalties_, gram).best(c).c;
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
    return c;
  }

  void take(const Directions& u, const Combined& c, double margin, double scale) {
    margin_ = margin;
    scale_ = scale;
    for (std::size_t j = 0; j < w_.values.size(); ++j) w_.values[j] = c[0] * u[0].values[j] + c[1] * u[1].values[j];
  }

  void combine(const JointState& a, const Directions& u) {
    double F = 0;
    const Combined c = descend(a, gram_of(u), F);
    if (c != Combined{}) start_ = c;
    const double margin = 1 / std::sqrt(F);
    // As long as no weights are better than none, the direction of the average, or of the state, is all there is.
    if (c == Combined{} && scale_ == 0) return take(u, average_.empty() ? Combined{1, 0} : Combined{0, 1}, margin, 0);
    if (margin > margin_) take(u, c, margin, 1);
  }

  // No slack is allowed: the best combination when slacks are very dear, and what it is really worth.
  void combine_hard(const JointState& a, const Directions& u) {
    constexpr double dear = 1e3;
    const Gram gram = gram_of(u);
    Combined found{};
    if (double F = 0; gram[0][0] > 0) {
      std::fill_n(penalties_.begin(), members_.size(), dear * gram[0][0]);
      found = descend(a, gram, F);
      if (found != Combined{}) start_ = found;
    }
    for (const Combined& c : {Combined{1, 0}, Combined{0, 1}, found}) {
      const double norm2 = norm2_of(gram, c), smallest = choose(a, c), margin = smallest / std::sqrt(norm2);
      if (norm2 > 0 && margin > margin_) take(u, c, margin, smallest > 0 ? 1 / smallest : 0);
    }
  }

  const JointProblem& problem_;
  double row_length_;                   // non-zeros, on the average
  std::vector<std::uint32_t> members_;  // the rows that take part
  std::vector<double> penalties_;       // as in LowerBound
  std::vector<double> average_, combined_;
  std::int64_t remembered_ = 0;
  std::array<std::vector<double>, 2> scores_;  // of the two directions, all classes of a row side by side
  SlackRepair<2>::Scores nearest_;             // (w_y - w_r).[x_k, rho] of the two directions, r chosen for each row
  Combined start_{1, 0};                       // the last combination found: the next one is close
  ClassWeights w_;
  double scale_ = 0, margin_ = -std::numeric_limits<double>::infinity();
};

}  // namespace dynmargin
