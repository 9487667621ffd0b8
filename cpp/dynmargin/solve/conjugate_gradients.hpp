// Conjugate gradients: an approximate solution of H x = -g, by one product with H per iteration.
//
// They take as many iterations as H has eigenvalues of different sizes. Dividing by the diagonal of H (Jacobi) brings
// these closer together where columns have different scales, but then residuals are small in that measure, not in
// length, and it is the length of the gradient that decides what the dual weights of a point prove (newton.hpp). The
// root of the diagonal is a compromise that is good for both. (Iterations to a certified 1 % without scaling, with the
// diagonal and with its root: 631 x 135 812, 2,068 and 920; 735 x 119 2,724, 2,870 and 2,510; 918 x 194 71, 56 and 59;
// 902 x 49 348, 72 and 98.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "dynmargin/solve/lanes.hpp"

namespace dynmargin {

class ConjugateGradients {
 public:
  ConjugateGradients() = default;  // not begun

  // The gradient is divided by a power of two, which changes no digit and keeps products of three large factors finite.
  ConjugateGradients(const std::vector<double>& gradient, const std::vector<double>& diagonal)
      : solution_(gradient.size()), residual_(gradient.size()), search_(gradient.size()), scale_(gradient.size()) {
    double largest = 0;
    for (const double c : gradient) largest = std::max(largest, std::abs(c));
    std::frexp(largest, &exponent_);
    const PowerOfTwo power(-exponent_);
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      scale_[j] = 1 / std::sqrt(diagonal[j]);
      residual_[j] = -(gradient[j] * power);
    }
    initial_ = squared_ = scaled_square();
    for (std::size_t j = 0; j < gradient.size(); ++j) search_[j] = scale_[j] * residual_[j];
  }

  int iterations() const { return iterations_; }

  // Whether what is left of the gradient is at most this fraction of it.
  bool within(double fraction) const { return !(squared_ > fraction * fraction * initial_); }

  // `hessian_times(v)` is H v.
  template <class Product>
  void iterate(const Product& hessian_times) {
    ++iterations_;
    const std::vector<double> product = hessian_times(search_);
    const double curvature = sum_in_lanes(product.size(), [&](std::size_t j) { return search_[j] * product[j]; });
    const double length = squared_ / curvature, previous = squared_;
    for (std::size_t j = 0; j < product.size(); ++j) {
      solution_[j] += length * search_[j];
      residual_[j] -= length * product[j];
    }
    squared_ = scaled_square();
    const double keep = squared_ / previous;
    for (std::size_t j = 0; j < product.size(); ++j) search_[j] = scale_[j] * residual_[j] + keep * search_[j];
  }

  std::vector<double> solution() const {
    std::vector<double> x(solution_);
    const PowerOfTwo power(exponent_);
    for (double& c : x) c = c * power;
    return x;
  }

  bool begun() const { return !solution_.empty(); }

  // Of a solution that has `n` coordinates.
  template <class Snapshot>
  void snapshot(Snapshot& s, std::size_t n) {
    bool here = begun();
    s(here);
    for (std::vector<double>* list : {&solution_, &residual_, &search_, &scale_}) {
      list->resize(here ? n : 0);
      s.fixed(*list);
    }
    s(initial_, squared_, exponent_, iterations_);
  }

 private:
  // In two factors, since one alone may leave the doubles. (PDM with a polish, on 842 rows of 41 entries in 30,000
  // columns: 11.0 ms, and 11.9 with a call of ldexp for every coordinate.)
  struct PowerOfTwo {
    double first, second;

    explicit PowerOfTwo(int exponent)
        : first(std::ldexp(1.0, exponent / 2)), second(std::ldexp(1.0, exponent - exponent / 2)) {}
    friend double operator*(double c, const PowerOfTwo& power) { return c * power.first * power.second; }
  };

  double scaled_square() const {
    return sum_in_lanes(residual_.size(), [&](std::size_t j) { return scale_[j] * residual_[j] * residual_[j]; });
  }

  std::vector<double> solution_, residual_, search_;
  std::vector<double> scale_;         // one over the root of the diagonal
  double initial_ = 0, squared_ = 0;  // the residual's square, scaled: of the gradient, and now
  int exponent_ = 0, iterations_ = 0;
};

}  // namespace dynmargin
