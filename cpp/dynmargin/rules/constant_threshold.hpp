// The perceptron (Rosenblatt; Novikoff), and with b > 0 the perceptron with margin (Duda and Hart; Krauth and Mezard).
//
//   misclassified:     a.y <= b
//   update:            a += y,  t += 1
//   multiple update:   lambda = [(b - a.y) / ‖y‖²] + 1
//
// ‖a‖² grows by at most R² + 2b per update while ‖a‖ >= gamma_d t, so t <= (R² + 2b) / gamma_d². At convergence the
// directional margin exceeds b / ‖a‖ >= gamma_d / (2 + R²/b): up to half the best one, and with b = 0 only more than 0.
#pragma once

#include "dynmargin/rules/totals.hpp"

namespace dynmargin {

struct ConstantThreshold {
  double b;

  double score(double p, const Totals& /*a*/) const { return p; }
  double threshold(const Totals& /*a*/) const { return b; }

  double multiplicity(double p, double q, const Totals& /*a*/) const {
    return first_whole_beyond((b - p) / q, [&](double n) { return p + n * q <= b; });
  }
};

}  // namespace dynmargin
