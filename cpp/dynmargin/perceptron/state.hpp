// The state a = sum_k n_k y_k of a run: the dense part, the counts, t = sum_k n_k and ‖a‖².
//
// The part of `a` in the extension coordinates is implied by the counts (n_k Delta_k in coordinate k), so it is never
// stored.
//
// A perceptron that adds whole patterns, and takes them back, has integer counts. An algorithm that rescales `a`, or
// changes dual weights, has real ones.
#pragma once

#include "dynmargin/data/problem.hpp"
#include "dynmargin/order/members.hpp"
#include "dynmargin/rules/totals.hpp"

namespace dynmargin {

// What a visit needs to know of pattern y_k beside its row, in half a cache line: rows are visited in random order, and
// every other place to read from would be another cache miss. That is why the count n_k, which belongs to the state, is
// here.
template <class Count>
struct BasicPattern {
  std::uint64_t start;  // where the row is
  double squared_norm;  // ‖y_k‖²
  double delta2;        // Delta_k²; with the hinge, which has no extension, the largest n_k
  Count count;          // n_k
};

template <class Count>
struct BasicState {
  std::vector<double> w;  // sum_k n_k l_k x_k
  double bias = 0;        // sum_k n_k l_k rho, the augmented coordinate
  Totals totals;
  std::vector<BasicPattern<Count>> patterns;

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s.fixed(w);
    s(bias, totals);
    for (BasicPattern<Count>& y : patterns) s(y.count);
  }
};

// The upper bound ‖a‖ / t.
inline double bound_of(const Totals& a) { return std::sqrt(a.norm2) / a.t; }

using Pattern = BasicPattern<std::int64_t>;
using State = BasicState<std::int64_t>;

template <class Count>
BasicState<Count> empty_state(const PackedRows& packed, const Problem& problem) {
  BasicState<Count> a{std::vector<double>(packed.n_columns), 0, {}, std::vector<BasicPattern<Count>>(packed.n_rows)};
  for (std::size_t k = 0; k < a.patterns.size(); ++k)
    if (problem.sides[k] != 0)
      a.patterns[k] = {packed.start(k), problem.squared_norm(k, packed.squared_norms[k]), problem.delta2(k), 0};
  return a;
}

template <class Count, class F>
void for_each_coordinate(const BasicState<Count>& a, const F& f) {
  for (const double c : a.w) f(c);
  f(a.bias);
}

// t and the two parts of ‖a‖² from scratch: running values gather rounding errors.
struct Sums {
  double t = 0;
  double dense2 = 0;    // ‖w‖², the bias included
  double extended = 0;  // sum_k n_k² Delta_k²
  double norm2() const { return dense2 + extended; }
  Totals totals() const { return {t, norm2()}; }
};

// ‖w‖², the bias included. On wide data there are about as many columns as entries: one addition after the other would
// take as long as a pass. (4,715 rows of 24,439 columns take 0.92 times the time to a certified 1 %, 2,403 of 97,209
// 0.93 times.)
template <class Count>
double dense_square(const BasicState<Count>& a) {
  return a.bias * a.bias + squared_in_lanes(a.w);
}

// Patterns are added up one after the other: rows that are left out add zeros, and must not decide which of the others
// are added first.
template <class Count>
Sums sums_of(const BasicState<Count>& a) {
  Sums sums{0, dense_square(a), 0};
  for (const BasicPattern<Count>& y : a.patterns) {
    const auto n = static_cast<double>(y.count);
    sums.t += n;
    sums.extended += n * n * y.delta2;
  }
  return sums;
}

template <class Count>
std::vector<Count> counts_of(const BasicState<Count>& a) {
  std::vector<Count> n(a.patterns.size());
  for (std::size_t k = 0; k < n.size(); ++k) n[k] = a.patterns[k].count;
  return n;
}

// Between the counts, as shares, and others, in the extension.
inline double squared_distance(const State& a, std::span<const double> shares) {
  double sum = 0;
  const double scale = 1 / a.totals.t;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const Pattern& y = a.patterns[k];
    const double difference = static_cast<double>(y.count) * scale - shares[k];
    sum += y.delta2 * difference * difference;
  }
  return sum;
}

// What Mixture has to know of a state.

struct Lengths {
  double all = 0;  // sum_k ‖y_k‖²
  double own = 0;  // sum_k Delta_k²: what of that is not shared with others; 0 for the hard margin
  std::size_t patterns = 0;
};

template <class AnyState>
Lengths lengths_of(const AnyState& a, std::span<const Member> members) {
  Lengths sums{.patterns = members.size()};
  for (const Member m : members) {
    sums.all += a.patterns[m.row()].squared_norm;
    sums.own += a.patterns[m.row()].delta2;
  }
  return sums;
}

// The shares n_k / t, and their products in the extension with others. Where there is no other they take its place.
template <std::size_t N>
std::array<double, N> take_shares(const State& a, std::vector<double>& shares, std::array<const double*, N> others) {
  shares.resize(a.patterns.size());
  std::replace(others.begin(), others.end(), static_cast<const double*>(nullptr), std::as_const(shares).data());
  std::array<double, N> sums{};
  const double scale = 1 / a.totals.t;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const Pattern& y = a.patterns[k];
    shares[k] = static_cast<double>(y.count) * scale;
    const double weighted = y.delta2 * shares[k];
    for (std::size_t i = 0; i < N; ++i) sums[i] += weighted * others[i][k];
  }
  return sums;
}

inline void multiply(State& a, double times) {
  for (double& c : a.w) c *= times;
  a.bias *= times;
  for (Pattern& y : a.patterns) y.count *= static_cast<std::int64_t>(times);
  a.totals = {a.totals.t * times, a.totals.norm2 * times * times};
}

// Sets the counts to count_of(k), and all that follows from them.
template <class P, class F>
void rebuild(State& a, const P& patterns, std::span<const Member> members, const F& count_of) {
  std::fill(a.w.begin(), a.w.end(), 0.0);
  a.bias = 0;
  a.totals = {};
  for (const Member m : members) {
    Pattern& y = a.patterns[m.row()];
    y.count = count_of(m.row());
    if (y.count == 0) continue;
    const auto n = static_cast<double>(y.count);
    patterns.add_to(a.w.data(), a.bias, y, m.side() * n);
    a.totals.t += n;
    a.totals.norm2 += n * n * y.delta2;
  }
  for_each_coordinate(a, [&](double c) { a.totals.norm2 += c * c; });
}

}  // namespace dynmargin
