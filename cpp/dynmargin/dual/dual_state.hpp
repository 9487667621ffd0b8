// The state of an algorithm that also takes back: dual weights alpha_k >= 0, and w = sum_k alpha_k ybar_k.
//
// All of them maximise  target sum_k alpha_k - ‖a‖²/2,  a = sum_k alpha_k y_k,  one coordinate at a time. The target is
// the score that every pattern with a weight should have: 1 for coordinate descent, whose alpha_k are those of
// LinearSVC's dual; alpha_k / target are in any case.
//
//   squared hinge   y_k is extended by Delta_k (patterns.hpp), alpha_k is not bounded above
//   hinge           y_k is not extended, alpha_k <= C_k target
#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "../patterns.hpp"
#include "../problem.hpp"
#include "../rows.hpp"

namespace dynmargin {

// What a visit needs to know of a pattern beside its row, in half a cache line.
struct DualPattern {
  std::uint64_t start;  // where the row is
  double squared_norm;  // ‖y_k‖², the extension included
  double slack;         // Delta_k² for the squared hinge; the largest alpha_k for the hinge
  double alpha;
};

struct DualState {
  std::vector<double> w;  // sum_k alpha_k l_k x_k
  double bias = 0;        // sum_k alpha_k l_k rho
  std::vector<DualPattern> patterns;
};

inline DualState empty_dual_state(const PackedRows& packed, const Problem& problem, double target) {
  DualState state{std::vector<double>(packed.n_columns), 0, std::vector<DualPattern>(packed.n_rows)};
  for (std::size_t k = 0; k < state.patterns.size(); ++k) {
    if (problem.sides[k] == 0) continue;
    const auto start = std::visit([&](const auto& rows) { return rows.start(k); }, packed.rows);
    const double q = packed.squared_norms[k] + problem.rho * problem.rho + problem.delta2(k);
    const double slack = problem.loss == Loss::hinge ? problem.penalty(k) / 2 * target : problem.delta2(k);
    state.patterns[k] = {start, q, slack, 0};
  }
  return state;
}

struct DualTotals {
  double t = 0;         // sum alpha_k
  double dense2 = 0;    // ‖w‖², the bias included
  double extended = 0;  // sum alpha_k² Delta_k²
};

inline DualTotals totals_of(const DualState& state, Loss loss) {
  DualTotals totals;
  totals.dense2 = state.bias * state.bias;
  for (const double c : state.w) totals.dense2 += c * c;
  for (const DualPattern& y : state.patterns) {
    totals.t += y.alpha;
    if (loss == Loss::squared_hinge) totals.extended += y.alpha * y.alpha * y.slack;
  }
  return totals;
}

}  // namespace dynmargin
