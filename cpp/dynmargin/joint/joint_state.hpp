// The state A = sum_kr n_kr z_kr of the joint perceptron: the weights of all classes, the integer counts, t and ‖A‖².
//
// As for two classes, the part in the extension is implied by the counts: n_k Delta_k in coordinate k, where n_k =
// sum_r n_kr.
//   A.z_kr  = (w_y - w_r).[x_k, rho] + n_k Delta_k²
//   ‖z_kr‖² = 2 ‖[x_k, rho]‖² + Delta_k²
//   ‖A‖²    = ‖W‖² + sum_k n_k² Delta_k²
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../patterns.hpp"
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

// What Mixture has to know of a state.

inline Lengths lengths_of(const JointState& a, std::span<const Member> members) {  // one pattern a row
  Lengths sums;
  for (const Member m : members) {
    sums.all += squared_norm(a.rows[m.row()]);
    sums.own += a.rows[m.row()].delta2;
  }
  return sums;
}

template <class F>
void for_each_coordinate(const JointState& a, const F& f) {
  for (const double c : a.w.values) f(c);
}

// The shares n_kr / t, and their products in the extension with others. Where there is no other they stand in for it.
template <std::size_t N>
std::array<double, N> take_shares(const JointState& a, std::vector<double>& shares,
                                  std::array<const double*, N> others) {
  const std::size_t K = a.w.n_classes;
  const auto of_row = [&](const double* from, std::size_t k) {
    return std::accumulate(from + k * K, from + (k + 1) * K, 0.0);
  };
  shares.resize(a.counts.size());
  std::replace(others.begin(), others.end(), static_cast<const double*>(nullptr), std::as_const(shares).data());
  const double scale = 1 / a.totals.t;
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = static_cast<double>(a.counts[i]) * scale;
  std::array<double, N> sums{};
  for (std::size_t k = 0; k < a.rows.size(); ++k) {
    const double weighted = a.rows[k].delta2 * of_row(shares.data(), k);
    for (std::size_t i = 0; i < N; ++i) sums[i] += weighted * of_row(others[i], k);
  }
  return sums;
}

inline void multiply(JointState& a, double times) {
  const auto whole = static_cast<std::int64_t>(times);
  for (double& c : a.w.values) c *= times;
  for (JointRow& row : a.rows) row.count *= whole;
  for (std::int64_t& count : a.counts) count *= whole;
  a.totals = {a.totals.t * times, a.totals.norm2 * times * times};
}

// Gives the state the counts count_of(i), places as in `counts`, and all that follows from them.
template <class Rows, class F>
void rebuild(JointState& a, const Rows& rows, double rho, const F& count_of) {
  std::fill(a.w.values.begin(), a.w.values.end(), 0.0);
  a.totals.t = 0;
  for (std::size_t k = 0; k < a.rows.size(); ++k) {
    JointRow& row = a.rows[k];
    row.count = 0;
    for (std::size_t wrong = 0; wrong < a.w.n_classes; ++wrong) {
      const std::size_t place = k * a.w.n_classes + wrong;
      const std::int64_t n = a.counts[place] = count_of(place);
      if (n == 0) continue;
      row.count += n;
      a.w.add(rows, row.start, rho, row.right, wrong, static_cast<double>(n));
      a.totals.t += static_cast<double>(n);
    }
  }
  a.totals.norm2 = recomputed_norm2(a);
}

}  // namespace dynmargin
