// One two-class problem over the rows: on which side each row stands and what its slack costs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace dynmargin {

struct Problem {
  std::vector<std::int8_t> sides;  // l_k = +1 or -1; 0 for a row of zero weight, which is left out
  double rho = 0;                  // the augmentation (intercept_scaling); 0 without an intercept
  double C_negative = 1, C_positive = 1;
  std::vector<double> sample_weight;  // empty: all ones

  // Delta_k^-2 = 2 C weight_k, the price of a squared slack; infinite for the hard margin.
  double penalty(std::size_t k) const {
    const double C = sides[k] > 0 ? C_positive : C_negative;
    return 2 * (sample_weight.empty() ? C : C * sample_weight[k]);
  }
  double delta2(std::size_t k) const { return 1 / penalty(k); }
  bool hard_margin() const { return std::isinf(C_positive); }
};

}  // namespace dynmargin
