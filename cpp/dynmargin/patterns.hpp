// The patterns y_k = l_k [x_k, rho, Delta_k e_k]: reflected, augmented and extended, without ever being written out.
//
// With abar the dense part of a (paper, Section 5, footnote on the extended instances):
//   a.y_k    = abar.ybar_k + n_k Delta_k²
//   ‖y_k‖²   = ‖x_k‖² + rho² + Delta_k²
//   ‖a‖²     = ‖abar‖² + sum_k n_k² Delta_k²
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "problem.hpp"
#include "rows.hpp"
#include "state.hpp"

namespace dynmargin {

// Delta_k², from two numbers when only the class matters and from a table when rows are weighted.
class Extension {
 public:
  explicit Extension(const Problem& problem) : by_class_{1 / (2 * problem.C_negative), 1 / (2 * problem.C_positive)} {
    if (problem.sample_weight.empty()) return;
    by_row_.resize(problem.sides.size());
    for (std::size_t k = 0; k < by_row_.size(); ++k)
      if (problem.sides[k] != 0) by_row_[k] = problem.delta2(k);
  }
  double delta2(std::size_t k, std::int8_t side) const { return by_row_.empty() ? by_class_[side > 0] : by_row_[k]; }

 private:
  std::array<double, 2> by_class_;
  std::vector<double> by_row_;
};

template <class Rows>
class Patterns {
 public:
  Patterns(const Rows& rows, const PackedRows& packed, const Problem& problem, const Extension& extension)
      : rows_(rows),
        squared_norms_(packed.squared_norms.data()),
        sides_(problem.sides.data()),
        rho_(problem.rho),
        extension_(extension) {}

  // abar.ybar_k: the part of a.y_k that the model can use on new data.
  double dense_dot(const std::vector<double>& w, double bias, std::size_t k) const {
    const double score = rows_.dot(k, w.data()) + rho_ * bias;
    return sides_[k] > 0 ? score : -score;
  }

  double dot(const State& a, std::size_t k) const {
    return dense_dot(a.w, a.bias, k) + static_cast<double>(a.counts[k]) * delta2(k);
  }

  double squared_norm(std::size_t k) const { return squared_norms_[k] + rho_ * rho_ + delta2(k); }

  double delta2(std::size_t k) const { return extension_.delta2(k, sides_[k]); }

  // a += lambda y_k, where p = a.y_k and q = ‖y_k‖² are known already.
  void add_to(State& a, std::size_t k, std::int64_t lambda, double p, double q) const {
    const auto factor = static_cast<double>(lambda);
    const double signed_factor = sides_[k] > 0 ? factor : -factor;
    rows_.add_to(a.w.data(), k, signed_factor);
    a.bias += signed_factor * rho_;
    a.counts[k] += lambda;
    a.t += lambda;
    a.norm2 += factor * (2 * p + factor * q);
  }

  // ‖a‖² from scratch: the running value gathers rounding errors.
  double recomputed_norm2(const State& a) const {
    double dense = a.bias * a.bias, extended = 0;
    for (double c : a.w) dense += c * c;
    for (std::size_t k = 0; k < a.counts.size(); ++k)
      if (a.counts[k] != 0) extended += static_cast<double>(a.counts[k]) * static_cast<double>(a.counts[k]) * delta2(k);
    return dense + extended;
  }

  void prefetch_row(std::size_t k) const { rows_.prefetch_row(k); }

 private:
  const Rows& rows_;
  const double* squared_norms_;
  const std::int8_t* sides_;
  double rho_;
  const Extension& extension_;
};

// R = max_k ‖y_k‖
inline double largest_norm(const PackedRows& packed, const Problem& problem) {
  double R2 = 0;
  for (std::size_t k = 0; k < problem.sides.size(); ++k)
    if (problem.sides[k] != 0)
      R2 = std::max(R2, packed.squared_norms[k] + problem.rho * problem.rho + problem.delta2(k));
  return std::sqrt(R2);
}

}  // namespace dynmargin
