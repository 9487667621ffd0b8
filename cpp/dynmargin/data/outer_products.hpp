// Sums of the outer products of rows with themselves, for Newton's Hessian: rows are written out as dense vectors.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dynmargin/data/row_products.hpp"
#include "dynmargin/solve/four_outers.hpp"

namespace dynmargin {

// H += sum factor [x, rho] [x, rho]^T, upper triangle, lines `first` to `last` - 1; `write(start, x)` writes a row out.
// Four rows at a time, so that H, which may not fit into the cache, is read and written a quarter as often.
template <class Write>
void add_outers_as_dense(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho,
                         std::size_t first, std::size_t last, const Write& write) {
  constexpr std::size_t together = 4;
  std::vector<double> x(together * stride);  // rows [x, rho]; those missing at the end have factor 0
  for (std::size_t begin = 0; begin < rows.size(); begin += together) {
    std::array<double, together> factors{};
    for (std::size_t r = 0; r < together && begin + r < rows.size(); ++r) {
      factors[r] = rows[begin + r].factor;
      write(rows[begin + r].start, x.data() + r * stride);
      x[r * stride + stride - 1] = rho;
    }
    const double* const first_row = x.data();
    add_four_outers(H, stride, factors, {first_row, first_row + stride, first_row + 2 * stride, first_row + 3 * stride},
                    first, last);
  }
}

// What a row of so many columns costs there, in multiplications of a pass over rows.
inline double outer_work_as_dense(std::size_t n_columns, bool dense) {
  return static_cast<double>(n_columns) * static_cast<double>(n_columns) / 2 / made_at_once(dense);
}

}  // namespace dynmargin
