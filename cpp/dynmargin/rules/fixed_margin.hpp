// PFM, the perceptron with fixed margin (paper, Section 2).
//
//   misclassified:     a.y <= beta ‖a‖                    (the fixed condition; beta = (1 - eps) gamma_d)
//   update:            a += y,  t += 1
//   multiple update:   lambda = [mu] + 1, mu = (beta sqrt(D / (q - beta²)) - p) / q,  D = q ‖a‖² - p²
//
// At convergence the directional margin exceeds beta. That needs beta < gamma_d; a beta that no classifier can reach
// shows itself by a pattern no longer than beta, or by the upper bound ‖a‖/t falling to beta.
#pragma once

#include "dynmargin/rules/totals.hpp"

namespace dynmargin {

struct FixedMargin {
  double beta;

  double score(double p, const Totals& /*a*/) const { return p; }
  double threshold(const Totals& a) const { return beta * std::sqrt(a.norm2); }

  // From q ‖a + mu y‖² = (p + mu q)² + D: the condition fails as soon as p + mu q > beta sqrt(D / (q - beta²)).
  double multiplicity(double p, double q, const Totals& a) const {
    const double D = std::max(0.0, q * a.norm2 - p * p);
    const double mu = (beta * std::sqrt(D / (q - beta * beta)) - p) / q;
    return first_whole_beyond(mu,
                              [&](double n) { return p + n * q <= beta * std::sqrt(a.norm2 + n * (2 * p + n * q)); });
  }

  bool infeasible(double q) const { return q <= beta * beta; }
  bool infeasible(const Totals& a) const { return std::sqrt(a.norm2) <= beta * a.t; }
};

}  // namespace dynmargin
