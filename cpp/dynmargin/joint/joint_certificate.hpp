// The two bounds of a joint certificate, proven as those for two classes are (proof/certificate.hpp).
//
//   weights W, b  ->  a margin that they have:               lower bound of the best joint margin
//   counts n_kr   ->  ‖sum n_kr z_kr‖ / sum n_kr:            upper bound of it, whatever made the counts
//   both          ->  a ball that contains the optimum:      which predictions are settled
#pragma once

#include "dynmargin/joint/joint_problem.hpp"
#include "dynmargin/proof/ball.hpp"

namespace dynmargin {

// The scores of a row for all classes, each with a bound on its own error.
class ScoredRow {
 public:
  // `lines` are those of line_up.
  ScoredRow(std::span<const double> lines, std::span<const double> b)
      : K_(b.size()), b_(b), lines_(lines), scores_(K_), sizes_(K_) {}

  // One line of weights per feature, so that one access to an entry serves all classes.
  static std::vector<double> line_up(std::span<const double> W, std::size_t K, std::size_t n_columns) {
    std::vector<double> lines(W.size());
    for (std::size_t c = 0; c < K; ++c)
      for (std::size_t j = 0; j < n_columns; ++j) lines[j * K + c] = W[c * n_columns + j];
    return lines;
  }

  // The smallest margin over the wrong classes, m = min_r (s_y - s_r).
  template <class View>
  RowScore margin(const View& view, std::int64_t row, std::size_t right) {
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
    // A sum of products for each of the two classes; their difference is rounded once more. The minimum over r is moved
    // by no more than the largest error of a difference, and not below the smallest `low`.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double value = infinity, low = infinity, largest_error = 0;
    for (std::size_t c = 0; c < K_; ++c) {
      if (c == right) continue;
      const double difference = scores_[right] - scores_[c];
      const double error =
          score_error(terms, sizes_[right]) + score_error(terms, sizes_[c]) + two_u * std::abs(difference);
      if (!std::isfinite(difference)) return RowScore::plain(-infinity, -infinity, infinity);
      value = std::min(value, difference);
      low = std::min(low, difference - error);
      largest_error = std::max(largest_error, error);
    }
    return RowScore::plain(value, low, largest_error);
  }

  // Of the row that was scored last: by how much the right class outscores another; as wrong as its margin at most.
  double difference(std::size_t right, std::size_t wrong) const { return scores_[right] - scores_[wrong]; }

 private:
  std::size_t K_;
  std::span<const double> b_, lines_;
  std::vector<double> scores_, sizes_;
};

// Scores rows one after the other, and adds up what belongs to their counts.
class JointScorer {
 public:
  JointScorer(const JointProblem& problem, ScoredRow scored, std::span<const std::int64_t> places,
              std::span<const std::int64_t> counts, std::int64_t first_row)
      : problem_(problem), scored_(std::move(scored)), places_(places), counts_(counts) {
    const auto first = std::lower_bound(places.begin(), places.end(), first_row * problem.n_classes());
    next_ = static_cast<std::size_t>(first - places.begin());
  }

  template <class View>
  RowScore score(const View& view, std::int64_t k) {
    return scored_.margin(view, k, problem_.class_of(k));
  }

  void count(std::int64_t k, const RowScore& score, CountedScores& counted) {
    const std::int64_t K = problem_.n_classes();
    while (next_ < places_.size() && places_[next_] < k * K) ++next_;
    for (; next_ < places_.size() && places_[next_] < (k + 1) * K; ++next_) {
      // W.z_kr - 1 with the slack of the row, that of the nearest wrong class, is max(0, m - 1) + (s_y - s_r - m).
      const double difference = scored_.difference(problem_.class_of(k), places_[next_] % K);
      const double above = std::max(0.0, -score.slack) + std::max(0.0, difference - score.value);
      const double error = 2 * score.error + score.slack_error + 2 * two_u * above;
      counted.add(static_cast<double>(counts_[next_]), problem_.hard_margin() ? difference : above, error);
    }
  }

 private:
  const JointProblem& problem_;
  ScoredRow scored_;
  std::span<const std::int64_t> places_, counts_;
  std::size_t next_;
};

// The margin of the weights, with ‖W‖² + ‖b/rho‖² as their squared length, and what counts add up to with the scores.
// W has a row per class.
inline Weighed weigh(const MatrixView& matrix, const JointProblem& problem, std::span<const double> W,
                     std::span<const double> b, std::span<const std::int64_t> places,
                     std::span<const std::int64_t> counts) {
  const DefaultArithmetic arithmetic;
  if (problem.rho == 0 && std::any_of(b.begin(), b.end(), [](double c) { return c != 0; }))
    return {Bound::no_margin(), 0};
  const auto n = static_cast<std::size_t>(n_columns(matrix));
  const SquaredNorm of_weights = squared_norm(W);
  CompensatedSum norm2;
  norm2.add(of_weights.value);
  if (problem.rho != 0)
    for (const double c : b) norm2.add((c / problem.rho) * (c / problem.rho));
  const std::vector<double> lines = ScoredRow::line_up(W, b.size(), n);
  return margin_of_scores(
      matrix, problem, norm2.value(), of_weights.terms + static_cast<double>(b.size()), problem.n_threads,
      [&](std::int64_t first) { return JointScorer(problem, ScoredRow(lines, b), places, counts, first); });
}

inline Bound margin_of_weights(const MatrixView& matrix, const JointProblem& problem, std::span<const double> W,
                               std::span<const double> b) {
  return weigh(matrix, problem, W, b, {}, {}).margin;
}

// ‖A‖ / t for A = sum n_kr z_kr, from the counts and the data alone. A count is that of row k and wrong class r where
// its place is k K + r. Block c of A is sum_k g_kc x_k with g_kc = sum_r n_kr for the right class and -n_kc for a wrong
// one.
inline Counted bound_of_counts(const MatrixView& matrix, const JointProblem& problem,
                               std::span<const std::int64_t> places, std::span<const std::int64_t> counts) {
  const DefaultArithmetic arithmetic;
  const std::int64_t K = problem.n_classes();
  CountedSum A(n_columns(matrix), problem.costs.size());
  Total t;
  std::visit(
      [&](const auto& view) {
        for (std::size_t i = 0; i < places.size();) {
          const std::int64_t k = places[i] / K;
          std::int64_t of_row = 0;
          for (; i < places.size() && places[i] / K == k; ++i) {
            const std::int64_t r = places[i] % K, n = counts[i];
            require(places[i] >= 0 && problem.has_row(k) && r != problem.class_of(k),
                    "a count belongs to no row and wrong class of this data");
            require(i == 0 || places[i] > places[i - 1], "the rows and classes of counts must increase");
            t.add(n);
            if (n == 0) continue;
            of_row += n;
            A.add(view, k, r, -n);
          }
          if (of_row == 0) continue;
          A.add(view, k, problem.class_of(k), of_row);
          A.extend(of_row, problem.penalty(k));
        }
      },
      matrix);
  return A.counted(problem.rho, t.value());
}

// All that weights and counts prove; the same for whoever publishes it and whoever confirms it.
inline Proof prove(const MatrixView& matrix, const JointProblem& problem, std::span<const double> W,
                   std::span<const double> b, std::span<const std::int64_t> places,
                   std::span<const std::int64_t> counts) {
  const DefaultArithmetic arithmetic;
  const Counted counted = bound_of_counts(matrix, problem, places, counts);  // refuses impossible counts
  const Weighed weights = weigh(matrix, problem, W, b, places, counts);
  return {weights.margin, counted.bound, ball_of(problem, W, b, weights, counted)};
}

}  // namespace dynmargin
