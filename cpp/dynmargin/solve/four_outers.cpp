#include "dynmargin/solve/four_outers.hpp"

#include "dynmargin/data/every_cpu.hpp"
#include "dynmargin/solve/wide_lanes.hpp"

namespace dynmargin {
namespace {

using Four = std::array<double, 4>;
using FourVectors = std::array<const double*, 4>;

DYNMARGIN_PART_OF_A_LOOP void add_one(double* line, const FourVectors& x, const Four& f, std::size_t j) {
  line[j] += (x[0][j] * f[0] + x[1][j] * f[1]) + (x[2][j] * f[2] + x[3][j] * f[3]);
}

// add_one for n_lines lines below each other, from line i on, and for all j. No sum runs over j.
template <std::size_t n_lines>
DYNMARGIN_PART_OF_A_LOOP void add_to_lines(double* H, std::size_t n, const Four& factors, const FourVectors& x,
                                           std::size_t i) {
  std::array<Four, n_lines> f;
  for (std::size_t l = 0; l < n_lines; ++l)
    for (std::size_t r = 0; r < 4; ++r) f[l][r] = factors[r] * x[r][i + l];
  double* const lines = H + i * n;
  for (std::size_t l = 0; l < n_lines; ++l)  // the corner of the triangle
    for (std::size_t j = i + l; j < i + n_lines; ++j) add_one(lines + l * n, x, f[l], j);
  std::size_t j = i + n_lines;
  for (; j + 4 <= n; j += 4) {
    const auto x0 = wide<4>(x[0] + j), x1 = wide<4>(x[1] + j), x2 = wide<4>(x[2] + j), x3 = wide<4>(x[3] + j);
    for (std::size_t l = 0; l < n_lines; ++l) {
      double* const line = lines + l * n + j;
      store<4>(line, wide<4>(line) + ((x0 * f[l][0] + x1 * f[l][1]) + (x2 * f[l][2] + x3 * f[l][3])));
    }
  }
  for (; j < n; ++j)
    for (std::size_t l = 0; l < n_lines; ++l) add_one(lines + l * n, x, f[l], j);
}

}  // namespace

// Four lines at a time, which share what is read of the vectors. (Nanoseconds per multiplication for n = 60, 100 and
// 400, line by line and four lines at a time: with AVX-512 0.07, 0.07, 0.07 and 0.06, 0.06, 0.04; with AVX2 the same
// and 0.06, 0.06, 0.05; with neither 0.14, 0.13, 0.13 and 0.12, 0.11, 0.10.)
DYNMARGIN_FOR_EVERY_CPU
void add_four_outers(double* H, std::size_t n, const Four& factors, const FourVectors& x, std::size_t first,
                     std::size_t last) {
  constexpr std::size_t together = 4;
  std::size_t i = first;
  for (; i + together <= last; i += together) add_to_lines<together>(H, n, factors, x, i);
  for (; i < last; ++i) add_to_lines<1>(H, n, factors, x, i);
}

}  // namespace dynmargin
