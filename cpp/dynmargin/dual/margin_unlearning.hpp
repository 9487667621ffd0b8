// MPU, the margin perceptron with unlearning (Panagiotakopoulos and Tsampouka 2010). The paper was not available:
// the rule is our derivation, with the properties that other papers report of it (docs/algorithms.md).
//
//   learn:     a.y_k <= b                          a += lambda y_k,  lambda = [(b - a.y_k) / ‖y_k‖²] + 1
//   unlearn:   a.y_k >= b + db and alpha_k > 0     a -= lambda y_k,  lambda = [(a.y_k - b - db) / ‖y_k‖²] + 1, at most
//                                                  alpha_k
//
// A full pass that does neither ends the run: b < a.y_k for all, a.y_k < b + db for those with a count. Then
// ‖a‖² = sum alpha_k a.y_k < (b + db) t, and the margin exceeds b / (b + db) gamma_d. With db > R² every unit of either
// kind raises (b + db/2) t - ‖a‖²/2 by at least (db - R²)/2, so there are at most
// (b + db/2)² / (gamma_d² (db - R²)) of them.
#pragma once

#include "dynmargin/rules/totals.hpp"

namespace dynmargin {

struct MarginUnlearning {
  double b, db;

  double target() const { return b + db / 2; }

  double next(double p, double q, double alpha, double most) const {
    if (p <= b) return std::min(most, alpha + units(b - p, q));
    if (p >= b + db) return std::max(0.0, alpha - units(p - b - db, q));
    return alpha;
  }

  // The same dead zone at `factor` times the target: a finer rule for counts that are `factor` times as large.
  MarginUnlearning finer(double factor) const { return {factor * target() - db / 2, db}; }

  static double units(double distance, double q) {
    const double lambda = std::floor(distance / q) + 1;
    return lambda < largest_multiplicity ? lambda : largest_multiplicity;
  }

  double updates(double change) const { return std::abs(change); }
};

}  // namespace dynmargin
