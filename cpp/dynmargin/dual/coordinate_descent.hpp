// DCD, dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan 2008; LIBLINEAR -s 1 and -s 3).
//
//   maximise  sum_k alpha_k - ‖a‖²/2  over  0 <= alpha_k (<= C_k for the hinge)
//   visit:    alpha_k <- alpha_k + (1 - a.y_k) / ‖y_k‖², clipped to its range: the best value for this coordinate
#pragma once

#include <algorithm>

namespace dynmargin {

struct CoordinateDescent {
  double target() const { return 1; }

  // p = a.y_k, q = ‖y_k‖². A pattern of length zero, which stays wrong for ever, would need an infinite weight.
  double next(double p, double q, double alpha, double most) const {
    constexpr double largest_step = 1e100;
    return std::clamp(alpha + std::min((1 - p) / q, largest_step), 0.0, most);
  }

  // How many updates a change counts for.
  double updates(double /*change*/) const { return 1; }
};

}  // namespace dynmargin
