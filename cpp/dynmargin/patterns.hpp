// The patterns y_k = l_k [x_k, rho, Delta_k e_k]: reflected, augmented and extended, without ever being written out.
//
// With abar the dense part of a (paper, Section 5, footnote on the extended instances):
//   a.y_k    = abar.ybar_k + n_k Delta_k²
//   ‖y_k‖²   = ‖x_k‖² + rho² + Delta_k²
//   ‖a‖²     = ‖abar‖² + sum_k n_k² Delta_k²
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "problem.hpp"
#include "rows.hpp"
#include "state.hpp"

namespace dynmargin {

// A pattern as lists hold it: its row and, in the top bit, its side, so that neither has to be looked up.
class Member {
 public:
  Member(std::uint32_t row, bool negative) : bits_(row | std::uint32_t{negative} << 31) {}
  std::uint32_t row() const { return bits_ & 0x7fffffffu; }
  bool negative() const { return bits_ >> 31; }

  // +1 or -1, to multiply by: no branch to mispredict.
  double side() const {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) | std::uint64_t{bits_ & 0x80000000u} << 32);
  }

 private:
  std::uint32_t bits_;
};

inline std::vector<Member> members_of(const Problem& problem) {
  std::vector<Member> members;
  for (std::size_t k = 0; k < problem.sides.size(); ++k)
    if (problem.sides[k] != 0) members.emplace_back(static_cast<std::uint32_t>(k), problem.sides[k] < 0);
  return members;
}

template <class Count>
BasicState<Count> empty_state(const PackedRows& packed, const Problem& problem) {
  BasicState<Count> a{std::vector<double>(packed.n_columns), 0, {}, std::vector<BasicPattern<Count>>(packed.n_rows)};
  for (std::size_t k = 0; k < a.patterns.size(); ++k) {
    const double delta2 = problem.sides[k] == 0 ? 0 : problem.delta2(k);
    const auto start = std::visit([&](const auto& rows) { return rows.start(k); }, packed.rows);
    a.patterns[k] = {start, packed.squared_norms[k] + problem.rho * problem.rho + delta2, delta2, 0};
  }
  return a;
}

// What is done with a pattern, for one layout of the rows. A pattern is whatever knows where its row starts.
template <class Rows>
class Patterns {
 public:
  Patterns(const Rows& rows, double rho) : rows_(rows), rho_(rho) {}

  // v.ybar_k, signed by the side.
  template <class Y>
  double dense_dot(const double* v, double bias, const Y& y, double side) const {
    return side * (rows_.dot(y.start, v) + rho_ * bias);
  }

  // a.y_k
  template <class Y>
  double dot(const double* w, double bias, const Y& y, double side) const {
    return dense_dot(w, bias, y, side) + static_cast<double>(y.count) * y.delta2;
  }

  // v.ybar_k for two vectors, of which `v` holds the coordinates in pairs, the bias last.
  template <class Y>
  Half dense_dots(const std::vector<Half>& v, const Y& y, double side) const {
    return (rows_.dot_both(y.start, v.data()) + v.back() * rho_) * side;
  }

  // The dense part of a += lambda y_k.
  template <class Y>
  void add_to(double* w, double& bias, const Y& y, double signed_lambda) const {
    rows_.add_to(w, y.start, signed_lambda);
    bias += signed_lambda * rho_;
  }

  template <class Y>
  void prefetch_row(const Y& y) const {
    rows_.prefetch_row(y.start);
  }

 private:
  const Rows& rows_;
  double rho_;
};

inline std::vector<std::int64_t> counts(const State& a) {
  std::vector<std::int64_t> n(a.patterns.size());
  for (std::size_t k = 0; k < n.size(); ++k) n[k] = a.patterns[k].count;
  return n;
}

// ‖a‖² from scratch: the running value gathers rounding errors.
template <class Count>
double recomputed_norm2(const BasicState<Count>& a) {
  double dense = a.bias * a.bias, extended = 0;
  for (double c : a.w) dense += c * c;
  for (const BasicPattern<Count>& y : a.patterns) {
    const auto n = static_cast<double>(y.count);
    extended += n * n * y.delta2;
  }
  return dense + extended;
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

inline Lengths lengths_of(const State& a, std::span<const Member> members) {
  Lengths sums;
  for (const Member m : members) {
    sums.all += a.patterns[m.row()].squared_norm;
    sums.own += a.patterns[m.row()].delta2;
  }
  return sums;
}

template <class F>
void for_each_coordinate(const State& a, const F& f) {
  for (const double c : a.w) f(c);
  f(a.bias);
}

// The shares n_k / t, and their products in the extension with others. Where there is no other they stand in for it.
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

// Gives the state the counts count_of(k), and all that follows from them.
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

// The mean of ‖ybar_k‖² / Delta_k²: how much of a pattern it shares with others, beside its own coordinate. Large
// values mean that the weights of the patterns have to be tuned against each other, which takes many passes over them;
// infinite for the hard margin.
inline double stiffness(const PackedRows& packed, const Problem& problem) {
  double sum = 0, rows = 0;
  for (std::size_t k = 0; k < problem.sides.size(); ++k) {
    if (problem.sides[k] == 0) continue;
    sum += (packed.squared_norms[k] + problem.rho * problem.rho) * problem.penalty(k);
    ++rows;
  }
  return sum / rows;
}

// R = max_k ‖y_k‖
inline double largest_norm(const PackedRows& packed, const Problem& problem) {
  double R2 = 0;
  for (std::size_t k = 0; k < problem.sides.size(); ++k)
    if (problem.sides[k] != 0)
      R2 = std::max(R2, packed.squared_norms[k] + problem.rho * problem.rho + problem.delta2(k));
  return std::sqrt(R2);
}

}  // namespace dynmargin
