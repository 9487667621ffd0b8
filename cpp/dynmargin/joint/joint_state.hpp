// The state A = sum_kr n_kr z_kr of the joint perceptron: the weights of all classes, the integer counts, t and ‖A‖².
//
// As for two classes, the part in the extension is implied by the counts: n_k Delta_k in coordinate k, where n_k =
// sum_r n_kr.
//   A.z_kr  = (w_y - w_r).[x_k, rho] + n_k Delta_k²
//   ‖z_kr‖² = 2 ‖[x_k, rho]‖² + Delta_k²
//   ‖A‖²    = ‖W‖² + sum_k n_k² Delta_k²
#pragma once

#include "dynmargin/joint/class_scores.hpp"
#include "dynmargin/joint/joint_problem.hpp"
#include "dynmargin/perceptron/state.hpp"

namespace dynmargin {

// What a visit needs to know of a row, in one place; n_k is its count.
struct JointPattern : Pattern {
  std::int32_t right;  // its class, from 0 up
};

struct JointState {
  ClassWeights w;
  Totals totals;
  std::vector<JointPattern> patterns;
  std::vector<std::int64_t> counts;  // n_kr, all classes of a row side by side

  JointState(const PackedRows& packed, const JointProblem& problem)
      : w(packed.n_columns, problem.costs.size()),
        patterns(packed.n_rows),
        counts(packed.n_rows * problem.costs.size()) {
    for (std::size_t k = 0; k < patterns.size(); ++k)
      if (problem.sides[k] != 0)
        patterns[k] = {{packed.start(k), problem.squared_norm(k, packed.squared_norms[k]), problem.delta2(k), 0},
                       problem.class_of(k)};
  }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s.fixed(w.values);
    s(totals);
    for (JointPattern& y : patterns) s(y.count);
    s.fixed(counts);
  }
};

// ‖A‖² from scratch: the running value gathers rounding errors.
inline double fresh_norm2(const JointState& a) {
  double dense = 0, extended = 0;
  for (double c : a.w.values) dense += c * c;
  for (const JointPattern& y : a.patterns) {
    const auto n = static_cast<double>(y.count);
    extended += n * n * y.delta2;
  }
  return dense + extended;
}

// What Mixture has to know of a state.

template <class F>
void for_each_coordinate(const JointState& a, const F& f) {
  for (const double c : a.w.values) f(c);
}

// The shares n_kr / t, and their products in the extension with others. Where there is no other they take its place.
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
  for (std::size_t k = 0; k < a.patterns.size(); ++k) {
    const double weighted = a.patterns[k].delta2 * of_row(shares.data(), k);
    for (std::size_t i = 0; i < N; ++i) sums[i] += weighted * of_row(others[i], k);
  }
  return sums;
}

inline void multiply(JointState& a, double times) {
  const auto whole = static_cast<std::int64_t>(times);
  for (double& c : a.w.values) c *= times;
  for (JointPattern& y : a.patterns) y.count *= whole;
  for (std::int64_t& count : a.counts) count *= whole;
  a.totals = {a.totals.t * times, a.totals.norm2 * times * times};
}

// Sets the counts to count_of(i), places as in `counts`, and all that follows from them.
template <class P, class F>
void rebuild(JointState& a, const P& patterns, const F& count_of) {
  std::fill(a.w.values.begin(), a.w.values.end(), 0.0);
  a.totals.t = 0;
  for (std::size_t k = 0; k < a.patterns.size(); ++k) {
    JointPattern& y = a.patterns[k];
    y.count = 0;
    for (std::size_t wrong = 0; wrong < a.w.n_classes; ++wrong) {
      const std::size_t place = k * a.w.n_classes + wrong;
      const std::int64_t n = a.counts[place] = count_of(place);
      if (n == 0) continue;
      y.count += n;
      a.w.add(patterns, y, y.right, wrong, static_cast<double>(n));
      a.totals.t += static_cast<double>(n);
    }
  }
  a.totals.norm2 = fresh_norm2(a);
}

}  // namespace dynmargin
