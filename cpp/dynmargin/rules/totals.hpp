// What a rule sees of the state, and what it answers.
#pragma once

#include <algorithm>
#include <cmath>

namespace dynmargin {

// With integer counts t is a whole number; a double holds it exactly up to 2^53. For a rule that rescales, t is the
// number of updates made so far.
struct Totals {
  double t = 0;
  double norm2 = 0;  // ‖a‖², extension included
};

// The answer of a rule that rescales: a <- keep a + add y_k, both non-negative; with keep = 0 everything before is
// forgotten.
struct Step {
  double keep, add;
  double norm2;  // ‖a‖² afterwards; 0 says that a has vanished, which only opposite patterns can do
};

inline constexpr double largest_count = 9007199254740992.0;  // 2^53

// One presentation makes at most this many updates (2^40): a pattern of length zero, which stays wrong for ever, would
// ask for infinitely many.
inline constexpr double largest_multiplicity = 1099511627776.0;

// [mu] + 1, the multiplicity of an update where the pattern stays misclassified up to a root mu >= 0 of the condition.
// The root is rounded; one step corrects it either way.
template <class Misclassified>
double first_whole_beyond(double mu, const Misclassified& after) {
  if (!(mu < largest_multiplicity)) return largest_multiplicity;
  double lambda = std::max(0.0, std::floor(mu)) + 1;
  if (after(lambda)) ++lambda;
  if (lambda > 1 && !after(lambda - 1)) --lambda;
  return lambda;
}

}  // namespace dynmargin
