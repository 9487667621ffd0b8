// ALMA_2(alpha), the approximate large margin algorithm for the 2-norm (Gentile).
//
//   misclassified:     a.y <= (1 - alpha) B R / sqrt(k)            k = 1, 2, ... counts the updates
//   update:            a += C / (R sqrt(k)) y,  then back into the unit ball: a /= max(1, ‖a‖)
//
// with B = sqrt(8) / alpha and C = sqrt(2). At convergence the directional margin is at least (1 - alpha) gamma_d,
// after at most 2 (R / gamma_d)² (2 / alpha - 1)² + 8 / alpha - 4 updates.
#pragma once

#include "dynmargin/rules/totals.hpp"

namespace dynmargin {

struct Alma {
  double alpha, R;

  double threshold(const Totals& a) const { return (1 - alpha) * (std::sqrt(8.0) / alpha) * R / std::sqrt(a.t + 1); }

  Step step(double p, double q, const Totals& a) const {
    const double eta = std::sqrt(2.0) / (R * std::sqrt(a.t + 1));
    const double norm2 = a.norm2 + eta * (2 * p + eta * q);
    const double shrink = 1 / std::max(1.0, std::sqrt(norm2));
    return {shrink, shrink * eta, std::min(1.0, norm2)};
  }
};

}  // namespace dynmargin
