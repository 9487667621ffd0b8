// The inner loops of the Hessian and of its factorisation, where nearly all of their time goes.
#pragma once

#include <array>
#include <cstddef>

namespace dynmargin {

// H += sum_r factors[r] x_r x_r^T for four vectors of n numbers, upper triangle, lines `first` to `last` - 1; H has n
// lines of n numbers. Four at a time, so that H, which may not fit into the cache, is read and written a quarter as
// often.
void add_four_outers(double* H, std::size_t n, const std::array<double, 4>& factors,
                     const std::array<const double*, 4>& x, std::size_t first, std::size_t last);

// How many multiplications are made here in the time of one of a pass over rows. (Nanoseconds for a multiplication:
// 0.05 here, 0.1 to 0.2 in a pass over dense rows, 0.3 to 0.6 over sparse ones.)
inline double made_at_once(bool dense) { return dense ? 3 : 8; }

}  // namespace dynmargin
