// The two bounds of a certificate, proven from the data and a witness each: true in real arithmetic, not only up to
// rounding.
//
//   weights (w, b)  ->  a margin that they have:          lower bound of the best margin gamma_d
//   counts n_k      ->  ‖sum n_k y_k‖ / sum n_k:           upper bound of gamma_d, whatever made the counts
//
// Every sum is followed by a bound on its own rounding error (Higham, Accuracy and Stability of Numerical Algorithms,
// chapters 3 and 4; u = 2^-53), and results are rounded outward. `error` is how far the value may be from the exact
// one; a bound is published three errors outward, so that another machine that sums in another order still confirms it.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "matrix_view.hpp"
#include "problem.hpp"

namespace dynmargin {

static_assert(FLT_EVAL_METHOD == 0, "the error bounds need doubles to be computed as doubles");

// Twice the unit roundoff: bounds of the form n * two_u leave a factor 2 for the rounding of the bound itself.
inline constexpr double two_u = std::numeric_limits<double>::epsilon();

// What a product may lose at the lower end of the doubles.
inline constexpr double underflow = std::numeric_limits<double>::denorm_min();

// Outside this range squares may underflow or overflow; nothing is claimed there.
inline constexpr double smallest_square = 1e-250, largest_square = 1e250;

struct Bound {
  double value;
  double error;  // |value - exact| <= error
};

// ---------------------------------------------------------------- lower bound

// The margin of the weights (w, b): 1 / sqrt(F) with F = ‖w‖² + (b/rho)² + sum_k Delta_k^-2 max(0, 1 - l_k (w.x_k +
// b))², which is twice LinearSVC's objective; the same with 2 C_k max(0, ...) for the hinge; for the hard margin
// min_k l_k (w.x_k + b) / ‖(w, b/rho)‖.
inline Bound margin_of_weights(const MatrixView& matrix, const Problem& problem, std::span<const double> w, double b) {
  double norm2 = 0;
  for (double c : w) norm2 += c * c;
  if (problem.rho != 0) norm2 += (b / problem.rho) * (b / problem.rho);
  const double norm2_error = (w.size() + 8) * two_u * norm2;

  bool finite = std::isfinite(norm2);
  double loss = 0, loss_error = 0;  // soft margin
  double smallest = std::numeric_limits<double>::infinity(), smallest_low = smallest;
  const bool hard = problem.hard_margin();
  std::visit(
      [&](const auto& view) {
        for (std::int64_t k = 0; k < view.n_rows; ++k) {
          if (problem.sides[k] == 0) continue;
          double score = b, size = std::abs(b);
          std::int64_t terms = 1;
          view.for_each_cell(k, [&](std::int64_t column, double value) {
            const double product = w[column] * value;
            score += product;
            size += std::abs(product);
            terms += value != 0;
          });
          if (problem.sides[k] < 0) score = -score;
          finite &= std::isfinite(score);
          const double score_error = (terms + 4) * (two_u * size + underflow);  // a sum of products, in any order
          if (hard) {
            smallest = std::min(smallest, score);
            smallest_low = std::min(smallest_low, score - score_error);
          } else if (const double slack = 1 - score; slack + score_error > 0) {
            const double penalty = problem.penalty(k), kept = std::max(slack, 0.0);
            const double slack_error = score_error + two_u * (1 + std::abs(score));
            if (problem.loss == Loss::hinge) {
              loss += penalty * kept;
              loss_error += penalty * slack_error;
            } else {
              loss += penalty * kept * kept;
              loss_error += penalty * (2 * kept + slack_error) * slack_error;
            }
          }
        }
      },
      matrix);

  // Without an augmentation there is no intercept to have, unless it is free: then margins are geometric.
  if (!finite || (problem.rho == 0 && b != 0 && !problem.free_bias))
    return {-std::numeric_limits<double>::infinity(), 0};
  if (hard) {
    if (!(norm2 > smallest_square)) return {-std::numeric_limits<double>::infinity(), 0};
    const double norm = std::sqrt(norm2), margin = smallest / norm;
    return {margin, (smallest - smallest_low) / norm + (w.size() + 16) * (two_u * std::abs(margin) + underflow)};
  }
  const double F = norm2 + loss;
  if (!(F > smallest_square && F < largest_square)) return {0, 0};  // a soft margin is never negative
  // All terms are positive, so the relative error of the sum is at most its number of terms times u.
  const double relative =
      (norm2_error + loss_error * 1.01 + (problem.sides.size() + 16) * two_u * loss) / F + 8 * two_u;
  const double margin = 1 / std::sqrt(F);
  return {margin, relative * margin};  // d(F^-1/2) = -(1/2) F^-3/2 dF: a factor 2 to spare for small errors
}

// ---------------------------------------------------------------- upper bound

// A vector of sums kept in twice the working precision: each sum is high + low, wrong by at most (terms u)² of what was
// added.
class CompensatedVector {
 public:
  explicit CompensatedVector(std::size_t size) : sums_(size) {}

  void add(std::size_t j, double factor, double value) {
    const double product = factor * value;
    add_exact(j, product, std::fma(factor, value, -product));
  }

  // A float has 24 bits: times each of two parts of at most 27 it makes exact products, which costs less than fma does
  // where that is a call.
  void add(std::size_t j, double high_factor, double low_factor, float value) {
    const double high = high_factor * static_cast<double>(value), low = low_factor * static_cast<double>(value);
    const double product = high + low;
    add_exact(j, product, (high - product) + low);
  }

  double squared_norm() const {
    double sum = 0;
    for (const Sum& s : sums_) sum += (s.high + s.low) * (s.high + s.low);
    return sum;
  }

 private:
  struct Sum {
    double high = 0, low = 0;
  };

  void add_exact(std::size_t j, double product, double product_error) {
    Sum& s = sums_[j];
    const double sum = s.high + product, part = sum - s.high;
    s.low += ((s.high - (sum - part)) + (product - part)) + product_error;
    s.high = sum;
  }

  std::vector<Sum> sums_;
};

// For the hinge: counts n_k prove a dual value D, and no objective lies below it. With dual weights alpha_k = s n_k,
// D = s t - s² ‖a‖²/2; s is the best scale t / ‖a‖² or, if that is too large, the largest with s n_k <= C_k for all k,
// which is `largest_scale`. The bound is 1 / sqrt(2 D), what a margin is for the squared hinge.
inline Bound hinge_bound(Bound norm_by_t, double t, double largest_scale) {
  constexpr double inward = 1 - 0x1p-40;  // keeps s n_k <= C_k true in real arithmetic, and costs 1e-12 of D
  const auto bound = [&](double norm) {
    const double s = std::min(t / norm / norm, largest_scale) * inward;
    const double D = s * t - (s * norm) * (s * norm) / 2;  // at least s t / 2: nothing cancels
    return D > smallest_square && D < largest_square ? 1 / std::sqrt(2 * D) : std::numeric_limits<double>::infinity();
  };
  const double high = bound((norm_by_t.value + norm_by_t.error) * t);
  if (std::isinf(high)) return {high, 0};
  const double low = bound(std::max(0.0, norm_by_t.value - norm_by_t.error) * t);
  return {high, (high - low) + (0x1p-39 + 64 * two_u) * high};
}

// ‖a‖ / t for a = sum n_k y_k, from the counts and the data alone.
inline Bound bound_of_counts(const MatrixView& matrix, const Problem& problem, std::span<const std::int64_t> rows,
                             std::span<const std::int64_t> counts) {
  CompensatedVector dense(n_columns(matrix));
  std::int64_t t = 0, signed_t = 0;
  double largest_scale = std::numeric_limits<double>::infinity();
  double extended = 0, gross = 0, terms = 0;  // gross: sum n_k |x_kj|, which bounds what cancels in `dense`
  std::visit(
      [&](const auto& view) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const std::int64_t k = rows[i], n = counts[i];
          if (i > 0 && k <= rows[i - 1]) throw std::invalid_argument("the rows of counts must increase");
          if (n < 0 || n > (std::int64_t{1} << 53) - t)
            throw std::invalid_argument("counts must be non-negative and add up to at most 2**53");
          if (n == 0) continue;
          if (k < 0 || k >= view.n_rows || problem.sides[k] == 0)
            throw std::invalid_argument("a count belongs to no row of this data");
          t += n;
          signed_t += problem.sides[k] > 0 ? n : -n;
          const double factor = static_cast<double>(problem.sides[k] > 0 ? n : -n);
          const double high_factor = std::trunc(factor * 0x1p-27) * 0x1p27, low_factor = factor - high_factor;
          double size = 0;
          view.for_each_entry(k, [&](std::int64_t column, double value) {
            if constexpr (std::decay_t<decltype(view)>::is_float32)
              dense.add(column, high_factor, low_factor, static_cast<float>(value));
            else
              dense.add(column, factor, value);
            size += std::abs(value);
            ++terms;
          });
          gross += static_cast<double>(n) * size;
          if (problem.loss == Loss::hinge)
            largest_scale = std::min(largest_scale, problem.penalty(k) / 2 / static_cast<double>(n));
          else
            extended += static_cast<double>(n) * static_cast<double>(n) / problem.penalty(k);
        }
      },
      matrix);
  // u.a = sum n_k (l_k (u.x_k + b)) for any b only if the two sides have the same sum.
  if (problem.free_bias && signed_t != 0)
    throw std::invalid_argument("with a free bias the counts of the two sides must have the same sum");
  if (t == 0) return {std::numeric_limits<double>::infinity(), 0};

  const double bias = static_cast<double>(signed_t) * problem.rho;
  const double norm2 = dense.squared_norm() + bias * bias + extended;
  const double norm = std::sqrt(norm2);
  // In `norm`: the squares and their sum; in the sum `extended` of positive terms; in `dense`, what the compensation
  // leaves.
  const double relative =
      (n_columns(matrix) + 16) * two_u + (rows.size() + 16) * two_u * (norm2 > 0 ? extended / norm2 : 0);
  const double cancelled = (terms + 4) * (terms + 4) * two_u * two_u * gross * 1.01;
  const double value = norm / static_cast<double>(t);
  const double vanished = std::sqrt(smallest_square);  // ‖a‖ is at most this when its squares have vanished
  const Bound bound{value, relative * value + (cancelled + vanished) / static_cast<double>(t)};
  return problem.loss == Loss::hinge ? hinge_bound(bound, static_cast<double>(t), largest_scale) : bound;
}

}  // namespace dynmargin
