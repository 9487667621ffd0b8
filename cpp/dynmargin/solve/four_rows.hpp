// The inner loop of the Hessian and of its factorisation, where nearly all of their time goes.
#pragma once

#include <array>
#include <cstddef>

namespace dynmargin {

// line[j] += (f0 x0[j] + f1 x1[j]) + (f2 x2[j] + f3 x3[j]) for begin <= j < end.
void add_four_rows(double* line, const std::array<double, 4>& factors, const std::array<const double*, 4>& rows,
                   std::size_t begin, std::size_t end);

}  // namespace dynmargin
