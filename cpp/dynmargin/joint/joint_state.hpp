// The state A = sum_kr n_kr z_kr of the joint perceptron: the weights of all classes, the integer counts, t and ‖A‖².
//
// As for two classes, the part in the extension is implied by the counts: n_k Delta_k in coordinate k, where n_k =
// sum_r n_kr.
//   A.z_kr  = (w_y - w_r).[x_k, rho] + n_k Delta_k²
//   ‖z_kr‖² = 2 ‖[x_k, rho]‖² + Delta_k²
//   ‖A‖²    = ‖W‖² + sum_k n_k² Delta_k²
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "../state.hpp"
#include "class_scores.hpp"
#include "joint_problem.hpp"

namespace dynmargin {

// What a visit needs to know of a row, in one place.
struct JointRow {
  std::uint64_t start;
  double squared_norm;  // ‖[x_k, rho]‖²
  double delta2;        // Delta_k²
  std::int64_t count;   // n_k
  std::int32_t right;   // its class, from 0 up; -1 for a row that is left out
};

// ‖z_kr‖², the same for every wrong class.
inline double squared_norm(const JointRow& row) { return 2 * row.squared_norm + row.delta2; }

struct JointState {
  ClassWeights w;
  Totals totals;
  std::vector<JointRow> rows;
  std::vector<std::int64_t> counts;  // n_kr, all classes of a row side by side

  JointState(const PackedRows& packed, const JointProblem& problem)
      : w(packed.n_columns, problem.costs.size()), rows(packed.n_rows), counts(packed.n_rows * problem.costs.size()) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto start = std::visit([&](const auto& packed_rows) { return packed_rows.start(k); }, packed.rows);
      const double delta2 = problem.sides[k] == 0 ? 0 : problem.delta2(k);
      rows[k] = {start, packed.squared_norms[k] + problem.rho * problem.rho, delta2, 0, problem.class_of(k)};
    }
  }
};

// The state as TwoParts sees it.
inline const std::vector<double>& coordinates(const JointState& a) { return a.w.values; }
inline const std::vector<std::int64_t>& counts(const JointState& a) { return a.counts; }

// n_k = sum_r n_kr
inline std::int64_t count_of_row(const std::vector<std::int64_t>& counts, std::size_t k, std::size_t n_classes) {
  return std::accumulate(counts.begin() + k * n_classes, counts.begin() + (k + 1) * n_classes, std::int64_t{0});
}

inline void assign(JointState& a, std::vector<double> coordinates, std::vector<std::int64_t> counts) {
  a.w.values = std::move(coordinates);
  a.counts = std::move(counts);
  for (std::size_t k = 0; k < a.rows.size(); ++k) a.rows[k].count = count_of_row(a.counts, k, a.w.n_classes);
}

inline double extended_product(const JointState& a, const std::vector<std::int64_t>& n,
                               const std::vector<std::int64_t>& m) {
  double sum = 0;
  for (std::size_t k = 0; k < a.rows.size(); ++k)
    sum += static_cast<double>(count_of_row(n, k, a.w.n_classes)) *
           static_cast<double>(count_of_row(m, k, a.w.n_classes)) * a.rows[k].delta2;
  return sum;
}

// ‖A‖² from scratch: the running value gathers rounding errors.
inline double recomputed_norm2(const JointState& a) {
  double dense = 0, extended = 0;
  for (double c : a.w.values) dense += c * c;
  for (const JointRow& row : a.rows) {
    const auto n = static_cast<double>(row.count);
    extended += n * n * row.delta2;
  }
  return dense + extended;
}

}  // namespace dynmargin
