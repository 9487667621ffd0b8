// The gradient of LinearSVC's objective, for proofs about every C at once.
//
//   P(w) = ½‖w‖² + C ½ sum_k c_k max(0, 1 - s_k)²,      s_k = w.ybar_k,  c_k = 2 weight_k
//   gradient  g = w - C v(w),      v(w) = sum_k c_k max(0, 1 - s_k) ybar_k
//
// v is what the rows pull with; it does not depend on C. P is strongly convex with modulus 1, so (w - w*).g >=
// ‖w - w*‖² for the optimum w*, which is the same as ‖w* - (w - g/2)‖ <= ‖g‖/2.
#pragma once

#include "dynmargin/proof/error_analysis.hpp"

namespace dynmargin {

struct Pull {
  std::vector<double> shortfalls;  // 1 - s_k, negative beyond the margin; 0 for rows that are left out
  std::vector<double> v;           // one more coordinate than there are columns, the last for the augmentation
  double error = 0;                // ‖v - exact‖ and sum_k c_k |shortfall_k - exact| ‖ybar_k‖ together are at most this
};

// c_k ‖ybar_k‖, by how much a slack of row k pulls; 0 for rows that are left out.
inline std::vector<double> leverages(const PackedRows& packed, const Problem& problem) {
  std::vector<double> found(problem.sides.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    if (problem.sides[k] != 0)
      found[k] = problem.penalty(k) * std::sqrt(packed.squared_norms[k] + problem.rho * problem.rho) * 1.0000001;
  return found;
}

// Sums of a block of rows are added to the total as a whole: a coordinate is then off by a few hundred roundings, not
// by one per row. (Adult, C=1000: the radius that rounding alone leaves is 4e-6 instead of 6e-4.)
inline Pull pull_of(const PackedRows& packed, const Problem& problem, std::span<const double> w) {
  const DefaultArithmetic arithmetic;
  const std::size_t n = w.size() - 1, block = std::max<std::size_t>(256, n);
  const double b = w[n] * problem.rho;
  const std::vector<double> leverage = leverages(packed, problem);
  Pull found{std::vector<double>(problem.sides.size()), std::vector<double>(n + 1)};
  std::vector<double> part(n + 1);
  std::size_t in_part = 0, n_parts = 0;
  double of_scores = 0, gross = 0;
  const auto add_part = [&] {
    for (std::size_t j = 0; j <= n; ++j) found.v[j] += std::exchange(part[j], 0.0);
    in_part = 0;
    ++n_parts;
  };
  std::visit(
      [&](const auto& rows) {
        for (std::size_t k = 0; k < problem.sides.size(); ++k) {
          if (problem.sides[k] == 0) continue;
          const auto start = rows.start(k);
          const SizedSum sum = rows.sized_dot(start, w.data());
          const double score = sum.value + b, side = problem.sides[k];
          const double shortfall = 1 - side * score;
          found.shortfalls[k] = shortfall;
          of_scores +=
              leverage[k] * (score_error(sum.terms + 2, sum.size + std::abs(b)) + two_u * (1 + std::abs(score)));
          if (!(shortfall > 0)) continue;
          const double times = side * (problem.penalty(k) * shortfall);
          gross += leverage[k] * shortfall;
          rows.add_to(part.data(), start, times);
          part[n] += times * problem.rho;
          if (++in_part == block) add_part();
        }
      },
      packed.rows);
  add_part();
  found.error = 1.01 * (2 * of_scores + (static_cast<double>(block + n_parts) + 16) * two_u * gross);
  if (!std::isfinite(found.error)) found.error = std::numeric_limits<double>::infinity();
  return found;
}

}  // namespace dynmargin
