// One problem for all classes over the rows: Kesler's construction.
//
// The weights w_c of the K classes are side by side in one vector W. Row k of class y and a wrong class r are a
// pattern of that space,
//   z_kr = [x_k, rho] in block y, -[x_k, rho] in block r, Delta_k e_k in the extension,
// which is on the right side when class y scores more than class r does: W.z_kr = (w_y - w_r).[x_k, rho] + slack. All
// wrong classes of a row share its extension coordinate, so that the row has one slack, that of the worst of them:
//   the best margin is 1 / sqrt(2 P*),  P* = min ‖W‖²/2 + sum_k C_k max_r max(0, 1 - (w_y - w_r).[x_k, rho])²,
// the problem of Crammer and Singer (2001) with squared slacks.
#pragma once

#include "dynmargin/data/packed_rows.hpp"
#include "dynmargin/data/problem.hpp"

namespace dynmargin {

struct JointProblem {
  std::vector<std::int32_t> sides;    // the class of each row, from 1 up; 0 for a row of zero weight, which is left out
  double rho = 0;                     // the augmentation; 0 without an intercept
  std::vector<double> costs;          // C of each class
  std::vector<double> sample_weight;  // empty: all ones
  unsigned n_threads = 1;             // that a pass over the rows may use; no result depends on it
  static constexpr Loss loss = Loss::squared_hinge;

  std::int32_t n_classes() const { return static_cast<std::int32_t>(costs.size()); }
  std::int32_t class_of(std::size_t k) const { return sides[k] - 1; }  // from 0 up

  void require_valid() const {
    require(rho >= 0 && std::isfinite(rho), "rho must not be negative or infinite");
    require(costs.size() >= 2, "a problem needs two classes or more");
    for (double C : costs) {
      Problem::require_cost(C);
      require(std::isinf(C) == hard_margin(), "C must be finite for all classes or for none");
    }
    for (std::size_t k = 0; k < sides.size(); ++k) {
      require(sides[k] >= 0 && sides[k] <= n_classes(), "a row belongs to no class");
      if (sides[k] != 0 && !sample_weight.empty()) Problem::require_cost(sample_weight[k] * costs[class_of(k)]);
    }
  }

  // Delta_k^-2, as in the two-class problem.
  double penalty(std::size_t k) const {
    const double C = costs[class_of(k)];
    return 2 * (sample_weight.empty() ? C : C * sample_weight[k]);
  }
  bool has_row(std::int64_t k) const { return k >= 0 && k < std::ssize(sides) && sides[k] != 0; }
  double delta2(std::size_t k) const { return 1 / penalty(k); }
  // ‖z_kr‖², the same for every wrong class r.
  double squared_norm(std::size_t k, double row2) const { return 2 * (row2 + rho * rho) + delta2(k); }
  std::size_t n_members() const { return sides.size() - std::count(sides.begin(), sides.end(), 0); }
  bool hard_margin() const { return std::isinf(costs[0]); }
};

}  // namespace dynmargin
