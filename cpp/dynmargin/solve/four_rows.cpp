#include "dynmargin/solve/four_rows.hpp"

#include "dynmargin/data/every_cpu.hpp"

namespace dynmargin {

// No sum runs over j. (Milliseconds of Newton's method on dense rows, with and without: 3,643 x 295 31 and 43,
// 4,168 x 403 150 and 208.)
DYNMARGIN_FOR_EVERY_CPU
void add_four_rows(double* __restrict line, const std::array<double, 4>& factors,
                   const std::array<const double*, 4>& rows, std::size_t begin, std::size_t end) {
  const double f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
  const double* __restrict x0 = rows[0], * __restrict x1 = rows[1], * __restrict x2 = rows[2], * __restrict x3 = rows[3];
  for (std::size_t j = begin; j < end; ++j) line[j] += (f0 * x0[j] + f1 * x1[j]) + (f2 * x2[j] + f3 * x3[j]);
}

}  // namespace dynmargin
