// The patterns y_k = l_k [x_k, rho, Delta_k e_k]: reflected, augmented and extended, without ever being written out.
//
// With abar the dense part of a (paper, Section 5, footnote on the extended instances):
//   a.y_k    = abar.ybar_k + n_k Delta_k²
//   ‖y_k‖²   = ‖x_k‖² + rho² + Delta_k²
//   ‖a‖²     = ‖abar‖² + sum_k n_k² Delta_k²
#pragma once

#include "dynmargin/data/packed_rows.hpp"

namespace dynmargin {

// What is done with a pattern, for one layout of the rows. A pattern is whatever knows where its row starts.
template <class Rows>
class Patterns {
 public:
  Patterns(const Rows& rows, double rho) : rows_(rows), rho_(rho) {}

  double rho() const { return rho_; }

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

  // f(column, value) for every entry of the row.
  template <class Y, class F>
  void for_each_entry(const Y& y, const F& f) const {
    rows_.for_each(y.start, f);
  }

  template <class Y>
  void prefetch_row(const Y& y) const {
    rows_.prefetch_row(y.start);
  }

  // Calls f(i) for every i < n, which visits pattern_of(i); that is fetched from memory early, and its row half as
  // early. For rows that do not lie side by side.
  template <class PatternOf, class F>
  void for_scattered(std::size_t n, const PatternOf& pattern_of, const F& f) const {
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < n; ++i) {
      if (i + ahead < n) prefetch(&pattern_of(i + ahead));
      if (i + ahead / 2 < n) prefetch_row(pattern_of(i + ahead / 2));
      f(i);
    }
  }

 private:
  const Rows& rows_;
  double rho_;
};

}  // namespace dynmargin
