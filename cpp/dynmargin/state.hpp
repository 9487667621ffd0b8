// The state a = sum_k n_k y_k of a perceptron: the dense part, the integer counts, t = sum_k n_k and ‖a‖².
//
// The part of `a` in the extension coordinates is implied by the counts (n_k Delta_k in coordinate k), so it is never
// stored.
#pragma once

#include <cstdint>
#include <vector>

namespace dynmargin {

struct State {
  std::vector<double> w;             // sum_k n_k l_k x_k
  double bias = 0;                   // sum_k n_k l_k rho, the augmented coordinate
  std::vector<std::int64_t> counts;  // n_k
  std::int64_t t = 0;
  double norm2 = 0;  // ‖a‖², extension included

  State(std::size_t n_columns, std::size_t n_rows) : w(n_columns), counts(n_rows) {}
};

// Counts stay integers that a double holds exactly.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 53;

// One presentation makes at most so many updates; a pattern of length zero, which stays wrong for ever, would ask for
// infinitely many.
inline constexpr double largest_multiplicity = double(std::int64_t{1} << 40);

}  // namespace dynmargin
