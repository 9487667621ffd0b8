// The two bounds of a joint certificate, proven as those for two classes are (certificate.hpp): a bound on the rounding
// error follows every sum, and results are rounded outward.
//
//   weights W, b  ->  a margin that they have:               lower bound of the best joint margin
//   counts n_kr   ->  ‖sum n_kr z_kr‖ / sum n_kr:            upper bound of it, whatever made the counts
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "../certificate.hpp"
#include "joint_problem.hpp"

namespace dynmargin {

// The smallest margin of a row over its wrong classes, m = min_r (s_y - s_r).
struct RowMargin {
  double value, low;  // low: as small as the exact one may be
  double error;       // |value - exact| <= error
};

// The scores of a row for all classes, each with a bound on its own error.
class ScoredRow {
 public:
  // Weights a line a feature, so that a look at an entry serves all classes.
  ScoredRow(std::span<const double> W, std::span<const double> b, std::int64_t n_columns)
      : K_(b.size()), b_(b), lines_(W.size()), scores_(K_), sizes_(K_) {
    for (std::size_t c = 0; c < K_; ++c)
      for (std::int64_t j = 0; j < n_columns; ++j) lines_[j * K_ + c] = W[c * n_columns + j];
  }

  template <class View>
  RowMargin margin(const View& view, std::int64_t row, std::size_t right) {
    for (std::size_t c = 0; c < K_; ++c) scores_[c] = b_[c], sizes_[c] = std::abs(b_[c]);
    std::int64_t terms = 1;
    view.for_each_entry(row, [&](std::int64_t column, double value) {
      const double* line = lines_.data() + column * K_;
      for (std::size_t c = 0; c < K_; ++c) {
        const double product = line[c] * value;
        scores_[c] += product;
        sizes_[c] += std::abs(product);
      }
      ++terms;
    });
    // A sum of products, in any order, for each of the two classes; their difference is rounded once more. The minimum
    // over r is moved by no more than the largest error of a difference, and not below the smallest `low`.
    const auto score_error = [&](std::size_t c) { return (terms + 4) * (two_u * sizes_[c] + underflow); };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    RowMargin found{infinity, infinity, 0};
    for (std::size_t c = 0; c < K_; ++c) {
      if (c == right) continue;
      const double difference = scores_[right] - scores_[c];
      const double error = score_error(right) + score_error(c) + two_u * std::abs(difference);
      if (!std::isfinite(difference)) return {-infinity, -infinity, infinity};
      found.value = std::min(found.value, difference);
      found.low = std::min(found.low, difference - error);
      found.error = std::max(found.error, error);
    }
    return found;
  }

 private:
  std::size_t K_;
  std::span<const double> b_;
  std::vector<double> lines_, scores_, sizes_;
};

// The margin of the weights: 1 / sqrt(F) with F = ‖W‖² + ‖b/rho‖² + sum_k Delta_k^-2 max(0, 1 - m_k)², m_k the smallest
// margin of row k; for the hard margin min_k m_k / ‖(W, b/rho)‖. W has a row a class.
inline Bound margin_of_weights(const MatrixView& matrix, const JointProblem& problem, std::span<const double> W,
                               std::span<const double> b) {
  const auto n = static_cast<std::size_t>(n_columns(matrix));
  double norm2 = 0;
  bool intercepts = false;
  for (std::size_t c = 0; c < b.size(); ++c) {  // class by class: a sum of n + 1 squares, then one of K sums
    double sum = 0;
    for (double w : W.subspan(c * n, n)) sum += w * w;
    if (problem.rho != 0) sum += (b[c] / problem.rho) * (b[c] / problem.rho);
    intercepts |= b[c] != 0;
    norm2 += sum;
  }
  const double terms = static_cast<double>(n + b.size());
  const double norm2_error = (terms + 8) * two_u * norm2;

  bool finite = std::isfinite(norm2);
  double loss = 0, loss_error = 0;
  double smallest = std::numeric_limits<double>::infinity(), smallest_low = smallest;
  const bool hard = problem.hard_margin();
  ScoredRow scored(W, b, static_cast<std::int64_t>(n));
  std::visit(
      [&](const auto& view) {
        for (std::int64_t k = 0; k < view.n_rows; ++k) {
          if (problem.sides[k] == 0) continue;
          const RowMargin m = scored.margin(view, k, problem.class_of(k));
          finite &= std::isfinite(m.value);
          if (hard) {
            smallest = std::min(smallest, m.value);
            smallest_low = std::min(smallest_low, m.low);
          } else if (const double slack = 1 - m.value; slack + m.error > 0) {
            const double penalty = problem.penalty(k), kept = std::max(slack, 0.0);
            const double slack_error = m.error + two_u * (1 + std::abs(m.value));
            loss += penalty * kept * kept;
            loss_error += penalty * (2 * kept + slack_error) * slack_error;
          }
        }
      },
      matrix);

  if (!finite || (problem.rho == 0 && intercepts)) return {-std::numeric_limits<double>::infinity(), 0};
  if (hard) {
    if (!(norm2 > smallest_square)) return {-std::numeric_limits<double>::infinity(), 0};
    const double norm = std::sqrt(norm2), margin = smallest / norm;
    return {margin, (smallest - smallest_low) / norm + (terms + 16) * (two_u * std::abs(margin) + underflow)};
  }
  const double F = norm2 + loss;
  if (!(F > smallest_square && F < largest_square)) return {0, 0};  // a soft margin is never negative
  // As for two classes: all terms are positive, so the relative error of a sum is at most its number of terms times u.
  const double relative =
      (norm2_error + loss_error * 1.01 + (problem.sides.size() + 16) * two_u * loss) / F + 8 * two_u;
  const double margin = 1 / std::sqrt(F);
  return {margin, relative * margin};
}

// ‖A‖ / t for A = sum n_kr z_kr, from the counts and the data alone. A count is that of row k and wrong class r where
// its place is k K + r.
inline Bound bound_of_counts(const MatrixView& matrix, const JointProblem& problem,
                             std::span<const std::int64_t> places, std::span<const std::int64_t> counts) {
  const std::int64_t K = problem.n_classes();
  // Block c of A is sum_k g_kc x_k with g_kc = sum_r n_kr for the right class and -n_kc for a wrong one.
  std::vector<CompensatedVector> blocks(K, CompensatedVector(n_columns(matrix)));
  std::vector<std::int64_t> bias(K);  // sum_k g_kc: whole numbers, exact
  std::int64_t t = 0;
  double extended = 0, gross = 0, terms = 0;  // gross: sum |g_kc| |x_kj|, which bounds what cancels in the blocks
  std::visit(
      [&](const auto& view) {
        const auto add = [&](std::int64_t k, std::int64_t c, std::int64_t g) {
          const auto factor = static_cast<double>(g);
          const double high_factor = std::trunc(factor * 0x1p-27) * 0x1p27, low_factor = factor - high_factor;
          double size = 0;
          view.for_each_entry(k, [&](std::int64_t column, double value) {
            if constexpr (std::decay_t<decltype(view)>::is_float32)
              blocks[c].add(column, high_factor, low_factor, static_cast<float>(value));
            else
              blocks[c].add(column, factor, value);
            size += std::abs(value);
            ++terms;
          });
          gross += std::abs(factor) * size;
          bias[c] += g;
        };
        for (std::size_t i = 0; i < places.size();) {
          const std::int64_t k = places[i] / K;
          std::int64_t of_row = 0;
          for (const std::size_t first = i; i < places.size() && places[i] / K == k; ++i) {
            const std::int64_t r = places[i] % K, n = counts[i];
            if (places[i] < 0 || k >= view.n_rows || problem.sides[k] == 0 || r == problem.class_of(k))
              throw std::invalid_argument("a count belongs to no row and wrong class of this data");
            if (i > first && places[i] <= places[i - 1])
              throw std::invalid_argument("the rows and classes of counts must increase");
            if (n < 0 || n > (std::int64_t{1} << 53) - t)
              throw std::invalid_argument("counts must be non-negative and add up to at most 2**53");
            if (n == 0) continue;
            t += n;
            of_row += n;
            add(k, r, -n);
          }
          if (i < places.size() && places[i] / K < k)
            throw std::invalid_argument("the rows and classes of counts must increase");
          if (of_row == 0) continue;
          add(k, problem.class_of(k), of_row);
          extended += static_cast<double>(of_row) * static_cast<double>(of_row) / problem.penalty(k);
        }
      },
      matrix);
  if (t == 0) return {std::numeric_limits<double>::infinity(), 0};

  double norm2 = extended;
  for (std::int64_t c = 0; c < K; ++c) {
    const double augmented = static_cast<double>(bias[c]) * problem.rho;
    norm2 += blocks[c].squared_norm() + augmented * augmented;
  }
  // In the norm: the squares of a block and their sum, then the sum over the blocks; in the sum `extended` of positive
  // terms; in the blocks, what the compensation leaves.
  const double relative = static_cast<double>(n_columns(matrix) + K + 16) * two_u +
                          (places.size() + 16) * two_u * (norm2 > 0 ? extended / norm2 : 0);
  const double cancelled = (terms + 4) * (terms + 4) * two_u * two_u * gross * 1.01;
  const double value = std::sqrt(norm2) / static_cast<double>(t);
  const double vanished = std::sqrt(static_cast<double>(K) * smallest_square);  // ‖A‖ when its squares have vanished
  return {value, relative * value + (cancelled + vanished) / static_cast<double>(t)};
}

}  // namespace dynmargin
