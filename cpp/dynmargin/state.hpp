// The state a = sum_k n_k y_k of a perceptron: the dense part, the integer counts, t = sum_k n_k and ‖a‖².
//
// The part of `a` in the extension coordinates is implied by the counts (n_k Delta_k in coordinate k), so it is never
// stored.
//
// An algorithm that only adds patterns has integer counts. One that also rescales `a` has real ones.
#pragma once

#include <cstdint>
#include <vector>

namespace dynmargin {

// What a visit needs to know of pattern y_k beside its row, in half a cache line: rows are visited in random order, and
// every other place to look at would be another miss. The count n_k belongs to the state and stands here for that
// reason.
template <class Count>
struct BasicPattern {
  std::uint64_t start;  // where the row is
  double squared_norm;  // ‖y_k‖²
  double delta2;        // Delta_k²
  Count count;          // n_k
};

// All that a rule looks at. With integer counts t is a whole number; a double holds it exactly up to 2^53.
struct Totals {
  double t = 0;
  double norm2 = 0;  // ‖a‖², extension included
};

template <class Count>
struct BasicState {
  std::vector<double> w;  // sum_k n_k l_k x_k
  double bias = 0;        // sum_k n_k l_k rho, the augmented coordinate
  Totals totals;
  std::vector<BasicPattern<Count>> patterns;
};

// Sums over all patterns.
struct Lengths {
  double all = 0;  // sum_k ‖y_k‖²
  double own = 0;  // sum_k Delta_k²: what of that is not shared with others; 0 for the hard margin
};

using Pattern = BasicPattern<std::int64_t>;
using State = BasicState<std::int64_t>;

inline constexpr double largest_count = 9007199254740992.0;  // 2^53

// One presentation makes at most so many updates (2^40); a pattern of length zero, which stays wrong for ever, would
// ask for infinitely many.
inline constexpr double largest_multiplicity = 1099511627776.0;

}  // namespace dynmargin
