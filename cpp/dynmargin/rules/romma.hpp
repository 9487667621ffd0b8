// ROMMA, the relaxed online maximum margin algorithm (Li and Long), plain and aggressive.
//
//   misclassified:     a.y <= 0             plain
//                      a.y <= 1 - delta     aggressive, with accuracy delta
//   update:            the shortest w with w.y >= 1 and w.a >= ‖a‖²;  the first is y / ‖y‖²
//
// The best weights u* / gamma_d satisfy both constraints, so ‖a‖ <= 1 / gamma_d always. When the aggressive variant has
// nothing left to do, every margin exceeds (1 - delta) / ‖a‖ >= (1 - delta) gamma_d. ‖a‖² grows by at least delta² / R²
// per update, hence at most R² / (delta gamma_d)² of them.
//
// The coefficients stay non-negative, and their sum is ‖a‖² (1/q = 1/q at first, and both become c times themselves
// plus d): the upper bound of the certificate, ‖a‖ / sum, is ROMMA's own 1 / ‖a‖.
#pragma once

#include "dynmargin/rules/totals.hpp"

namespace dynmargin {

struct Romma {
  double bound;  // 0, or 1 - delta

  double threshold(const Totals& /*a*/) const { return bound; }

  Step step(double p, double q, const Totals& a) const {
    const double A = a.norm2;
    if (p >= q * A) return {0, 1 / q, 1 / q};  // y / q alone satisfies w.a >= ‖a‖²; also the way to begin, from a = 0
    const double D = q * A - p * p;            // positive by Cauchy and Schwarz, unless y and a are opposite:
    if (!(D > 0)) return {q * A - p, A * (1 - p), 0};       // then these multiples of them cancel
    const double c = (q * A - p) / D, d = A * (1 - p) / D;  // both constraints are tight
    return {c, d, c * A + d};
  }
};

}  // namespace dynmargin
