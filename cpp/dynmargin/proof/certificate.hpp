// The two bounds of a certificate, proven from the data and a witness each.
//
//   weights (w, b)  ->  a margin that they have:          lower bound of the best margin gamma_d
//   counts n_k      ->  ‖sum n_k y_k‖ / sum n_k:           upper bound of gamma_d, whatever made the counts
#pragma once

#include <optional>

#include "dynmargin/proof/error_analysis.hpp"

namespace dynmargin {

// The margin of the weights (w, b), with ‖w‖² + (b/rho)² as their squared length. `data` is a matrix, or packed rows,
// and w has the columns of that.
template <class Data>
Bound margin_of_weights(const Data& data, const Problem& problem, std::span<const double> w, double b) {
  const DefaultArithmetic arithmetic;
  // Without an augmentation there can be no intercept, unless it is free: then margins are geometric. Where no row
  // takes part, nothing else would notice one that is not a number.
  if (!std::isfinite(b) || (problem.rho == 0 && b != 0 && !problem.free_bias)) return Bound::no_margin();
  const SquaredNorm of_weights = squared_norm(w);
  double norm2 = of_weights.value;
  if (problem.rho != 0) norm2 += (b / problem.rho) * (b / problem.rho);
  const auto score_of = [&](const auto& view, std::int64_t k) -> RowScore {
    double score = b, size = std::abs(b);
    std::int64_t terms = 1;
    if constexpr (requires { view.sized_dot(k, w.data()); }) {
      const SizedSum sum = view.sized_dot(k, w.data());
      score += sum.value;
      size += sum.size;
      terms += sum.terms;
    } else {
      view.for_each_cell(k, [&](std::int64_t column, double value) {
        const double product = w[column] * value;
        score += product;
        size += std::abs(product);
        terms += value != 0;
      });
    }
    if (problem.sides[k] < 0) score = -score;
    const double error = score_error(terms, size);
    return {score, score - error, error};
  };
  return margin_of_scores(data, problem, norm2, of_weights.terms, score_of);
}

// For the hinge: counts n_k prove a dual value D, and no objective lies below it. With dual weights alpha_k = s n_k,
// D = s t - s² ‖a‖²/2; s is the best scale t / ‖a‖² or, if that is too large, the largest with s n_k <= C_k for all k,
// which is `largest_scale`. The bound is 1 / sqrt(2 D), what a margin is for the squared hinge.
inline Bound hinge_bound(Bound norm_by_t, double t, double largest_scale) {
  constexpr double inward = 1 - 0x1p-40;  // keeps s n_k <= C_k true in real arithmetic, and costs 1e-12 of D
  // What the bound is if ‖a‖ is `norm`; `otherwise` where D is out of range.
  const auto bound = [&](double norm, double otherwise) {
    const double s = std::min(t / norm / norm, largest_scale) * inward;
    const double D = s * t - (s * norm) * (s * norm) / 2;  // at least s t / 2: nothing cancels
    return D > smallest_square && D < largest_square ? 1 / std::sqrt(2 * D) : otherwise;
  };
  const double high = bound((norm_by_t.value + norm_by_t.error) * t, std::numeric_limits<double>::infinity());
  const double low = bound(std::max(0.0, norm_by_t.value - norm_by_t.error) * t, 0);
  return Bound::upper(high, (high - low) + (0x1p-39 + 64 * two_u) * high);
}

// ‖a‖ / t from sums in the working precision, which take a third of the time of compensated ones, if the error that
// leaves is negligible: 1e-5 of the distance to a proven `margin`. Every coordinate of a is a sum of at most as many
// products as there are counts, so rounding moves a by at most that number times u times sum n_k ‖x_k‖. (639 texts of
// 534 words: 0.35 ms instead of 1.2.)
inline std::optional<Bound> quick_bound_of_counts(const PackedRows& packed, const Problem& problem,
                                                  std::span<const std::int64_t> rows,
                                                  std::span<const std::int64_t> counts, double margin) {
  constexpr double negligible = 1e-5, usual_gap = 0.01;
  if (packed.summed || problem.loss == Loss::hinge || problem.free_bias) return std::nullopt;
  const DefaultArithmetic arithmetic;
  const auto n_counts = static_cast<double>(rows.size());
  double gross = 0, extended = 0;
  std::int64_t t = 0, bias = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t k = rows[i], n = counts[i];
    // Whatever is wrong with the counts is said by the slow way.
    if (!problem.has_row(k) || (i > 0 && k <= rows[i - 1]) || n < 0 || n > (std::int64_t{1} << 53) - t)
      return std::nullopt;
    const auto times = static_cast<double>(n);
    gross += times * std::sqrt(packed.squared_norms[k]);
    extended += times * times / problem.penalty(k);
    bias += problem.sides[k] > 0 ? n : -n;
    t += n;
  }
  const double cancelled = (n_counts + 4) * two_u * gross * 1.01;
  if (!(cancelled <= negligible * usual_gap * margin * static_cast<double>(t))) return std::nullopt;
  std::vector<double> a(packed.n_columns);
  std::visit(
      [&](const auto& packed_rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          if (i + 8 < rows.size()) packed_rows.prefetch_row(packed_rows.start(rows[i + 8]));
          const auto times = static_cast<double>(counts[i]);
          packed_rows.add_to(a.data(), packed_rows.start(rows[i]), problem.sides[rows[i]] > 0 ? times : -times);
        }
      },
      packed.rows);
  const SquaredNorm dense = squared_norm(a);
  const double augmented = static_cast<double>(bias) * problem.rho,
               norm2 = dense.value + extended + augmented * augmented;
  const Bound bound = norm_by_t(norm2, static_cast<double>(t), dense.terms, extended, n_counts, cancelled);
  return bound.error <= negligible * (bound.value - margin) ? std::optional(bound) : std::nullopt;
}

// ‖a‖ / t for a = sum n_k y_k, from the counts and the data alone.
template <class Data>
Bound bound_of_counts(const Data& data, const Problem& problem, std::span<const std::int64_t> rows,
                      std::span<const std::int64_t> counts) {
  const DefaultArithmetic arithmetic;
  CountedSum a(n_columns(data), 1);
  double largest_scale = std::numeric_limits<double>::infinity();
  with_view(data, [&](const auto& view) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t k = rows[i], n = counts[i];
      require(i == 0 || k > rows[i - 1], "the rows of counts must increase");
      a.count(n);
      if (n == 0) continue;
      require(problem.has_row(k), "a count belongs to no row of this data");
      if (i + 1 < rows.size() && problem.has_row(rows[i + 1])) a.prefetch(view, rows[i + 1], 0);
      a.add(view, k, 0, problem.sides[k] > 0 ? n : -n);
      if (problem.loss == Loss::hinge)
        largest_scale = std::min(largest_scale, problem.penalty(k) / 2 / static_cast<double>(n));
      else
        a.extend(n, problem.penalty(k));
    }
  });
  // u.a = sum n_k (l_k (u.x_k + b)) for any b only if the two sides have the same sum.
  require(!problem.free_bias || a.bias(0) == 0, "with a free bias the counts of the two sides must have the same sum");
  const Bound bound = a.bound(problem.rho, rows.size(), 0);
  return problem.loss == Loss::hinge ? hinge_bound(bound, a.t(), largest_scale) : bound;
}

}  // namespace dynmargin
