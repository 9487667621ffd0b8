// Rows times weights, with all that bounds how far scores may be from the exact ones, and which rows that settles.
#pragma once

#include "dynmargin/data/default_arithmetic.hpp"
#include "dynmargin/proof/error_analysis.hpp"

namespace dynmargin {

// Vectors of weights side by side, one line per column, so that one access to an entry serves all of them.
class WeightLines {
 public:
  WeightLines(std::span<const double> W, std::size_t n_vectors) : n_vectors_(n_vectors), lines_(W.size()) {
    const std::size_t d = n_vectors > 0 ? W.size() / n_vectors : 0;
    for (std::size_t c = 0; c < n_vectors; ++c)
      for (std::size_t j = 0; j < d; ++j) lines_[j * n_vectors + c] = W[c * d + j];
  }

  // f(k, scores, squares, terms) for every row: plain sums; ‖x‖², rounded up, which bounds what they add up, as |w|.|x|
  // is at most ‖w‖ ‖x‖; how many products may be rounded, in whatever order others sum them.
  template <class View, class Accumulators, class F>
  void for_each_row(const View& view, std::size_t begin, std::size_t end, Accumulators scores, const F& f) const {
    const std::size_t M = scores.size();
    for (auto k = static_cast<std::int64_t>(begin); k < static_cast<std::int64_t>(end); ++k) {
      std::fill(scores.begin(), scores.end(), 0.0);
      double squares = 0;
      std::int64_t last = -1;
      bool increasing = true;
      view.for_each_cell(k, [&](std::int64_t column, double value) {
        const double* const line = lines_.data() + column * M;
        for (std::size_t c = 0; c < M; ++c) scores[c] += line[c] * value;
        squares += value * value;
        increasing &= column > last;
        last = column;
      });
      const auto terms = static_cast<std::int64_t>(view.cells(k).size) + 1;  // with the intercept
      if (!increasing && repeats(view, k)) squares = sum_of_sizes(view, k) * sum_of_sizes(view, k);
      const double roundings = 1 + 2 * static_cast<double>(terms + 8) * two_u;
      f(k, scores, squares * roundings + smallest_square, static_cast<double>(terms));
    }
  }

  // The same with as many accumulators as there are vectors; for two, which is usual, they stay in registers.
  template <class F>
  void for_each_row(const MatrixView& matrix, unsigned n_threads, const F& f) const {
    std::visit(
        [&](const auto& view) {
          const Blocks blocks = Blocks::of_rows(view.n_rows, static_cast<double>(view.n_entries()));
          blocks.for_each(n_threads, [&](std::size_t /*block*/, std::size_t begin, std::size_t end) {
            if (n_vectors_ == 2)
              for_each_row(view, begin, end, std::array<double, 2>{}, f);
            else
              for_each_row(view, begin, end, std::vector<double>(n_vectors_), f);
          });
        },
        matrix);
  }

 private:
  // Repeated columns mean their sum: only the sum of all absolute values bounds its length then.
  template <class View>
  static bool repeats(const View& view, std::int64_t k) {
    std::vector<Entry> room;
    bool summed = false;
    read_row(view, k, room, summed);
    return summed;
  }
  template <class View>
  static double sum_of_sizes(const View& view, std::int64_t k) {
    double size = 0;
    view.for_each_cell(k, [&](std::int64_t, double value) { size += std::abs(value); });
    return size;
  }

  std::size_t n_vectors_;
  std::vector<double> lines_;
};

struct ScoredRows {
  std::vector<double> scores;  // one per row and vector of weights
  std::vector<double> lengths, terms;
};

// W has `n_vectors` vectors of weights, one after the other.
inline ScoredRows score_rows(const MatrixView& matrix, std::span<const double> W, std::size_t n_vectors,
                             unsigned n_threads = 1) {
  const DefaultArithmetic arithmetic;
  const auto n = static_cast<std::size_t>(n_rows(matrix));
  ScoredRows found{std::vector<double>(n * n_vectors), std::vector<double>(n), std::vector<double>(n)};
  WeightLines(W, n_vectors)
      .for_each_row(matrix, n_threads, [&](std::size_t k, const auto& scores, double squares, double terms) {
        std::copy(scores.begin(), scores.end(), found.scores.begin() + static_cast<std::ptrdiff_t>(k * n_vectors));
        found.lengths[k] = std::sqrt(squares) * (1 + two_u);
        found.terms[k] = terms;
      });
  return found;
}

// A ball of weights and the weights that predict, for two classes.
struct TwoPlanes {
  std::array<double, 2> intercepts, lengths;  // of the centre, and of the weights that predict
  double radius, rho;
};

// Which rows all weights in the ball, and the weights that predict, put on the same side, however scores are rounded.
// W has the centre and then the weights.
inline std::vector<std::uint8_t> settled_rows(const MatrixView& matrix, std::span<const double> W,
                                              const TwoPlanes& planes, unsigned n_threads = 1) {
  const DefaultArithmetic arithmetic;
  constexpr double outward = 1 + 16 * two_u;
  std::vector<std::uint8_t> settled(static_cast<std::size_t>(n_rows(matrix)));
  WeightLines(W, 2).for_each_row(
      matrix, n_threads, [&](std::size_t k, const auto& scores, double squares, double terms) {
        const double reach = std::sqrt(squares + planes.rho * planes.rho);  // ‖[x, rho]‖, at least ‖x‖
        const auto error = [&](std::size_t i) {
          const double size = planes.lengths[i] * reach + std::abs(planes.intercepts[i]);
          return (terms + 4) * (two_u * size + underflow) * 1.01;
        };
        const double of_centre = scores[0] + planes.intercepts[0], own = scores[1] + planes.intercepts[1];
        const double least = (error(0) + planes.radius * reach) * outward, rounding = error(1) * outward;
        // No branch: nobody can predict it.
        settled[k] = ((of_centre > least) & (own > rounding)) | ((of_centre < -least) & (own < -rounding));
      });
  return settled;
}

}  // namespace dynmargin
