// The best scale for a weight vector: the margin it proves when the slacks are chosen for it.
//
// For weights w with s_k = w.ybar_k, the extension coordinates (the slacks) are free. The best extended vector along w
// has margin
//   1 / sqrt(min_v F(v)),   F(v) = v² ‖w‖² + sum_k Delta_k^-2 max(0, 1 - v s_k)²,
// and v w is the solution of LinearSVC's objective restricted to the ray through w (F is twice that objective). F is
// convex and piecewise quadratic, so Newton's method ends after a few steps; a bracket keeps it honest. For the hard
// margin no slack is allowed: v = 1 / min_k s_k.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "problem.hpp"

namespace dynmargin {

struct Repair {
  double scale;   // v; 0 when no positive scale is better than no weights at all
  double margin;  // the margin of v w, extension included
};

inline Repair repair_hard_margin(const std::vector<double>& s, double norm2) {
  const double smallest = *std::min_element(s.begin(), s.end());
  return {smallest > 0 ? 1 / smallest : 0.0, norm2 > 0 ? smallest / std::sqrt(norm2) : 0.0};
}

// `rows` lists the rows that take part; s is indexed like it.
inline Repair repair_slacks(const std::vector<double>& s, const std::vector<std::uint32_t>& rows,
                            const Problem& problem, double norm2, double first_guess) {
  struct Sums {
    double s1 = 0, s2 = 0, F = 0;
  };
  const auto sums_at = [&](double v) {
    Sums sums;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double slack = 1 - v * s[i];
      if (slack <= 0) continue;
      const double penalty = problem.penalty(rows[i]);
      sums.s1 += penalty * s[i];
      sums.s2 += penalty * s[i] * s[i];
      sums.F += penalty * slack * slack;
    }
    sums.F += v * v * norm2;
    return sums;
  };

  const Sums at_zero = sums_at(0);
  if (!(at_zero.s1 > 0)) return {0.0, 1 / std::sqrt(at_zero.F)};  // F rises from v = 0 on

  double low = 0, high = std::numeric_limits<double>::infinity();
  double v = first_guess > 0 && std::isfinite(first_guess) ? first_guess : at_zero.s1 / (norm2 + at_zero.s2);
  Repair best{0.0, 1 / std::sqrt(at_zero.F)};
  for (int step = 0; step < 100; ++step) {
    const Sums sums = sums_at(v);
    const double margin = 1 / std::sqrt(sums.F);
    if (margin > best.margin) best = {v, margin};
    const double slope = v * (norm2 + sums.s2) - sums.s1;  // F'(v) / 2
    if (slope == 0) break;
    (slope < 0 ? low : high) = v;
    double next = sums.s1 / (norm2 + sums.s2);
    if (!(next > low && next < high)) next = std::isinf(high) ? 2 * v : (low + high) / 2;
    if (std::abs(next - v) <= 1e-13 * v) break;
    v = next;
  }
  return best;
}

}  // namespace dynmargin
