// PDM, the perceptron with dynamic margin (paper, Section 2).
//
//   misclassified:     a.y <= (1 - eps) ‖a‖² / t          (the dynamic condition; threshold 0 at t = 0)
//   update:            a += y,  t += 1
//   multiple update:   lambda = [mu] + 1, mu the root of (t + mu) a_{t+mu}.y - (1 - eps) ‖a_{t+mu}‖² = 0 (Section 4)
//   taking back:       of what a pattern was added too often, [lambda] with the lambda that minimises
//                      ‖a - lambda y‖ / (t - lambda): what is left is a state that a perceptron may begin with, and
//                      proves a smaller upper bound (not in the paper, see Schedule)
//
// At convergence the directional margin exceeds (1 - eps) ‖a‖/t >= (1 - eps) gamma_d.
#pragma once

#include "dynmargin/rules/totals.hpp"

namespace dynmargin {

// g(mu) = a2 mu² + a1 mu - c with a2, c >= 0
struct Parabola {
  double a2, a1, c;

  double operator()(double mu) const { return (a2 * mu + a1) * mu - c; }

  double first_whole_beyond_root() const {
    const double root = std::sqrt(a1 * a1 + 4 * a2 * c);
    const double mu = a1 > 0 ? 2 * c / (a1 + root) : (root - a1) / (2 * a2);
    return first_whole_beyond(mu, [&](double n) { return (*this)(n) <= 0; });
  }
};

struct DynamicMargin {
  double eps;

  // Both sides are multiplied by t, which avoids the division and the special case t = 0.
  double score(double p, const Totals& a) const { return a.t * p; }
  double threshold(const Totals& a) const { return (1 - eps) * a.norm2; }

  // p = a.y, q = ‖y‖². Misclassified means g(0) <= 0, and g is convex, so it stays <= 0 up to its one non-negative
  // root: each of the lambda single updates is legitimate, and the pattern is right afterwards.
  double multiplicity(double p, double q, Totals a) const {
    const Parabola g{eps * q, a.t * q - (1 - 2 * eps) * p, (1 - eps) * a.norm2 - a.t * p};
    // a2 is small: the root of the linear part is nearly always right, and needs no branch on lambda = 1. Adding 1.5 *
    // 2^52 rounds to a whole number, faster than a conversion to an integer and back would.
    constexpr double whole = 6755399441055744.0;
    const double lambda = (g.c / g.a1 + 0.5 + whole) - whole;
    if (g.a1 > 0 && g(lambda) > 0 && g(lambda - 1) <= 0 && lambda <= largest_multiplicity) return lambda;
    return g.first_whole_beyond_root();
  }

  // 0 if y has not been added too often.
  double excess(double p, double q, const Totals& a) const {
    const double most = std::floor((a.t * p - a.norm2) / (a.t * q - p));
    return a.t * p > a.norm2 && a.t * q > p ? most : 0;
  }
};

}  // namespace dynmargin
