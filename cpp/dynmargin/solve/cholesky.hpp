// Solves a symmetric positive definite system by Cholesky's factorisation, on one thread.
//
// Written out because a threaded BLAS is no help for the few hundred unknowns that matter here: with another process on
// the machine, it took 160 ms for 300 unknowns, its threads waiting for each other; this takes 2 ms.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "dynmargin/solve/four_outers.hpp"

namespace dynmargin {

// A is n x n, row after row; its upper triangle is read and overwritten. b becomes the solution. False if A is not
// positive definite.
inline bool solve_positive_definite(std::vector<double>& A, std::vector<double>& b) {
  constexpr std::size_t block =
      4;  // four rows are taken off at once, so that the rest is read and written a quarter as often
  const std::size_t n = b.size();
  const auto row = [&](std::size_t i) { return A.data() + i * n; };
  for (std::size_t k = 0; k < n; k += block) {
    const std::size_t end = std::min(k + block, n);
    for (std::size_t i = k; i < end; ++i) {
      double* __restrict pivot = row(i);
      if (!(pivot[i] > 0)) return false;
      const double inverse = 1 / std::sqrt(pivot[i]);
      for (std::size_t j = i; j < n; ++j) pivot[j] *= inverse;
      for (std::size_t r = i + 1; r < end; ++r) {
        double* __restrict other = row(r);
        for (std::size_t j = r; j < n; ++j) other[j] -= pivot[r] * pivot[j];
      }
    }
    if (end - k < block) break;
    const std::array<const double*, block> pivots{row(k), row(k + 1), row(k + 2), row(k + 3)};
    add_four_outers(A.data(), n, {-1, -1, -1, -1}, pivots, end, n);
  }
  for (std::size_t i = 0; i < n; ++i) {  // U^T z = b
    b[i] /= row(i)[i];
    for (std::size_t j = i + 1; j < n; ++j) b[j] -= row(i)[j] * b[i];
  }
  for (std::size_t i = n; i-- > 0;) {  // U x = z
    double sum = b[i];
    for (std::size_t j = i + 1; j < n; ++j) sum -= row(i)[j] * b[j];
    b[i] = sum / row(i)[i];
  }
  return true;
}

// What that costs, in multiplications of a pass over rows that are dense or not.
inline double solve_work(std::size_t n, bool dense) {
  const auto size = static_cast<double>(n);
  return size * size * size / 6 / made_at_once(dense);
}

template <std::size_t K>
using SmallVector = std::array<double, K>;
template <std::size_t K>
using SmallMatrix = std::array<SmallVector<K>, K>;

// The same for a handful of unknowns, from the lower triangle. An unknown whose direction those before it nearly
// contain is left out: its solution is 0.
template <std::size_t K>
SmallVector<K> solve_small(SmallMatrix<K> H, const SmallVector<K>& b) {
  std::array<bool, K> used{};
  for (std::size_t i = 0; i < K; ++i) {
    const double diagonal = H[i][i];
    for (std::size_t j = 0; j < i; ++j) {
      if (!used[j]) continue;
      for (std::size_t l = 0; l < j; ++l)
        if (used[l]) H[i][j] -= H[i][l] * H[j][l];
      H[i][j] /= H[j][j];
      H[i][i] -= H[i][j] * H[i][j];
    }
    used[i] = H[i][i] > 1e-10 * diagonal;
    if (used[i]) H[i][i] = std::sqrt(H[i][i]);
  }
  SmallVector<K> x{};
  for (std::size_t i = 0; i < K; ++i) {
    if (!used[i]) continue;
    x[i] = b[i];
    for (std::size_t j = 0; j < i; ++j) x[i] -= used[j] ? H[i][j] * x[j] : 0;
    x[i] /= H[i][i];
  }
  for (std::size_t i = K; i-- > 0;) {
    if (!used[i]) continue;
    for (std::size_t j = i + 1; j < K; ++j) x[i] -= used[j] ? H[j][i] * x[j] : 0;
    x[i] /= H[i][i];
  }
  return x;
}

}  // namespace dynmargin
