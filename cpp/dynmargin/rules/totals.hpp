// What a rule sees of the state, and what it answers.
#pragma once

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

}  // namespace dynmargin
