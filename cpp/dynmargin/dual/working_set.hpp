// The small problem of a decomposition method: a few dual weights move, the others stay.
//
//   maximise  g.d - d^T Q d / 2   over   sum_i l_i d_i = 0,  alpha_i + d_i >= 0
//
// by pairs: the two patterns that violate the conditions of optimality most exchange weight, until none does (SMO).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace dynmargin {

// May alpha_i move so that l_i alpha_i grows, or falls?
inline bool can_rise(double side, double alpha) { return side > 0 || alpha > 0; }
inline bool can_fall(double side, double alpha) { return side < 0 || alpha > 0; }

struct WorkingSet {
  std::vector<std::uint32_t> rows;
  std::vector<double> side, alpha, gradient;  // l_i, alpha_i, g_i
  std::vector<double> Q;                      // y_i.y_j, row after row

  std::size_t size() const { return rows.size(); }

  // Moves alpha (and the gradient with it) towards the optimum, as long as it is worth the time.
  void solve() {
    constexpr int most_pairs = 1000;
    constexpr double enough = 1e-3, largest_step = 1e100;  // of the violation at the start; for patterns that cancel
    double first_violation = 0;
    for (int pair = 0; pair < most_pairs; ++pair) {
      std::size_t i = size(), j = size();
      double high = -std::numeric_limits<double>::infinity(), low = -high;
      for (std::size_t k = 0; k < size(); ++k) {
        const double slope = side[k] * gradient[k];
        if (can_rise(side[k], alpha[k]) && slope > high) high = slope, i = k;
        if (can_fall(side[k], alpha[k]) && slope < low) low = slope, j = k;
      }
      const double violation = high - low;
      if (pair == 0) first_violation = violation;
      if (!(violation > enough * first_violation) || !(violation > 0) || i == j) return;
      const double curvature = Q[i * size() + i] + Q[j * size() + j] - 2 * side[i] * side[j] * Q[i * size() + j];
      double step = curvature > 0 ? std::min(violation / curvature, largest_step) : largest_step;
      if (side[i] < 0) step = std::min(step, alpha[i]);
      if (side[j] > 0) step = std::min(step, alpha[j]);
      const double change_i = side[i] * step, change_j = -side[j] * step;
      alpha[i] = std::max(0.0, alpha[i] + change_i);
      alpha[j] = std::max(0.0, alpha[j] + change_j);
      for (std::size_t k = 0; k < size(); ++k)
        gradient[k] -= Q[k * size() + i] * change_i + Q[k * size() + j] * change_j;
    }
  }
};

}  // namespace dynmargin
