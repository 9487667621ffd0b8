// The margitron, a perceptron whose margin threshold is a power of t, or of ‖a‖ (derived from what its paper's abstract
// and the PDM paper say of it).
//
//   misclassified:     a.y <= b t^(1-e),  0 < e < 2         or   a.y <= b ‖a‖^s,  0 <= s < 1
//   update:            a += y,  t += 1
//   multiple update:   as often as the pattern stays misclassified; there is no closed form
//
// With e = 1 (s = 0) it is the perceptron with margin. From ‖a_{t+1}‖² <= ‖a_t‖² + R² + 2 threshold:
//   ‖a‖² <= R² t + 2b t^(2-e) / (2-e)                       or, but for terms of lower order,  ‖a‖^(2-s) <= (2-s) b t,
// so that at convergence the directional margin approaches the fraction 1 - e/2 (1 / (2-s)) of the best one as b grows.
#pragma once

#include "dynmargin/rules/totals.hpp"
#include "dynmargin/solve/portable_math.hpp"

namespace dynmargin {

// The smallest n >= 1 with which the pattern is right. There is one place where the condition ceases to hold, because
// p + n q grows linearly in n and the threshold, seen as a function of that score, like a power below 1.
template <class Misclassified>
double smallest_multiplicity(Misclassified after) {
  double wrong = 0, right = 1;
  while (after(right)) {
    wrong = right;
    right *= 2;
    if (right > largest_multiplicity) return largest_multiplicity;
  }
  while (right - wrong > 1) {
    const double middle = std::floor((wrong + right) / 2);
    (after(middle) ? wrong : right) = middle;
  }
  return right;
}

struct MargitronUpdates {
  double b, power;  // power = 1 - e

  double score(double p, const Totals& /*a*/) const { return p; }
  double threshold(const Totals& a) const { return b * portable::pow(a.t, power); }

  double multiplicity(double p, double q, const Totals& a) const {
    return smallest_multiplicity([&](double n) { return p + n * q <= b * portable::pow(a.t + n, power); });
  }
};

struct MargitronNorm {
  double b, power;  // power = s

  double score(double p, const Totals& /*a*/) const { return p; }
  double threshold(const Totals& a) const { return b * portable::pow(std::max(0.0, a.norm2), power / 2); }

  double multiplicity(double p, double q, const Totals& a) const {
    return smallest_multiplicity([&](double n) {
      return p + n * q <= b * portable::pow(std::max(0.0, a.norm2 + n * (2 * p + n * q)), power / 2);
    });
  }
};

}  // namespace dynmargin
