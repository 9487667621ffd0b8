// The best weights in the span of a few directions: the margin that they prove when the slacks are chosen for them.
//
// For weights w with s_k = w.ybar_k the extension coordinates (the slacks) are free; the best extended vector for w has
// margin
//   1 / sqrt(F(w)),   F(w) = ‖w‖² + sum_k Delta_k^-2 max(0, 1 - s_k)²,
// and F is twice LinearSVC's objective. Here F is minimised over w = sum_i c_i u_i, given the Gram matrix of the
// directions u_i and their scores. F is convex and piecewise quadratic, so Newton's method ends after a few steps; a
// step that does not lower F is halved. With one direction this is the best scale of a weight
// vector.
#pragma once

#include <numeric>
#include <span>

#include "dynmargin/order/threads.hpp"
#include "dynmargin/solve/cholesky.hpp"
#include "dynmargin/solve/lanes.hpp"

namespace dynmargin {

template <std::size_t K>
struct Combination {
  SmallVector<K> c{};  // all zero when no weights are better than these
  double margin = 0;
};

// Where the bias is one of the directions, its scores are +-rho, by the side of the row: they are not stored. The sign
// of a penalty is then that of the side.
template <std::size_t K, std::size_t bias = K>
class SlackRepair {
 public:
  using Coefficients = SmallVector<K>;
  using Gram = SmallMatrix<K>;
  using Scores = std::array<std::vector<double>, K>;

  // scores[i][k] is that of direction i for the k-th row that takes part, penalties[k] its Delta_k^-2. All are filled
  // up to whole lanes, penalties with zeros, scores with any finite numbers: a row without a penalty does not count.
  SlackRepair(std::span<const std::vector<double>, K> scores, const std::vector<double>& penalties, const Gram& gram,
              unsigned n_threads = 1, double rho = 0)
      : scores_(scores), penalties_(penalties), gram_(gram), n_threads_(n_threads), rho_(rho) {}

  // Ends with a step that lowers F by less than `settled`, relative to F.
  Combination<K> best(Coefficients c, double settled = 1e-6) const {
    const double F_at_zero = blocks().sum(
        n_threads_,
        [&](std::size_t begin, std::size_t end) {
          return std::accumulate(penalties_.data() + begin, penalties_.data() + end, 0.0,
                                 [](double sum, double penalty) { return sum + std::abs(penalty); });
        },
        [](double& sum, double next) { sum += next; });
    Evaluation now = evaluate(c);
    if (!(now.F < F_at_zero)) now = evaluate(c = {});
    for (int step = 0; step < 50; ++step) {
      const Coefficients direction = solve_small(now.hessian, now.gradient);
      double slope = 0, length = 1;
      for (std::size_t i = 0; i < K; ++i) slope -= direction[i] * now.gradient[i];
      if (!(slope < -1e-14 * now.F)) break;
      Evaluation next;
      Coefficients there;
      do {
        for (std::size_t i = 0; i < K; ++i) there[i] = c[i] - length * direction[i];
        next = evaluate(there);
        length /= 2;
      } while (!(next.F < now.F) && length > 1e-6);
      if (!(next.F < now.F)) break;
      const bool over = next.F > (1 - settled) * now.F;
      c = there;
      now = next;
      if (over) break;
    }
    return {c, 1 / std::sqrt(now.F)};
  }

 private:
  struct Evaluation {
    double F;
    Coefficients gradient;  // halved, like the Hessian
    Gram hessian;           // lower triangle
  };

  struct Sums {
    Lanes loss{};
    std::array<Lanes, K> gradient{};
    std::array<std::array<Lanes, K>, K> hessian{};

    void operator+=(const Sums& next) {
      loss += next.loss;
      for (std::size_t i = 0; i < K; ++i) {
        gradient[i] += next.gradient[i];
        for (std::size_t j = 0; j <= i; ++j) hessian[i][j] += next.hessian[i][j];
      }
    }
  };

  Blocks blocks() const { return Blocks(penalties_.size()); }

  // No branch on whether a row has a slack: about half of them do, and the CPU cannot predict which.
  Sums sums_of(const Coefficients& c, std::size_t begin, std::size_t end) const {
    Lanes loss{};
    std::array<Lanes, K> step, gradient{};
    std::array<std::array<Lanes, K>, K> hessian{};
    for (std::size_t i = 0; i < K; ++i) step[i] = all_lanes(c[i]);
    const Lanes rho = all_lanes(rho_);
    for (std::size_t k = begin; k < end; k += n_lanes) {
      std::array<Lanes, K> score;
      Lanes slack = all_lanes(1), penalty = load_lanes(&penalties_[k]);
      for (std::size_t i = 0; i < K; ++i)
        slack -= step[i] * (score[i] = i == bias ? with_sign_of(rho, penalty) : load_lanes(&scores_[i][k]));
      if constexpr (bias < K) penalty = magnitude(penalty);
      const Lanes active = where_positive(slack, penalty), alpha = active * slack;
      loss += alpha * slack;
      for (std::size_t i = 0; i < K; ++i) {
        gradient[i] -= alpha * score[i];
        for (std::size_t j = 0; j <= i; ++j) hessian[i][j] += active * score[i] * score[j];
      }
    }
    return {loss, gradient, hessian};
  }

  Evaluation evaluate(const Coefficients& c) const {
    const Sums sums = blocks().sum(
        n_threads_, [&](std::size_t begin, std::size_t end) { return sums_of(c, begin, end); },
        [](Sums& all, const Sums& next) { all += next; });
    Evaluation at{sum(sums.loss), {}, gram_};
    for (std::size_t i = 0; i < K; ++i) {
      for (std::size_t j = 0; j < K; ++j) at.gradient[i] += gram_[i][j] * c[j];
      at.F += c[i] * at.gradient[i];
      at.gradient[i] += sum(sums.gradient[i]);
      for (std::size_t j = 0; j <= i; ++j) at.hessian[i][j] += sum(sums.hessian[i][j]);
    }
    return at;
  }

  std::span<const std::vector<double>, K> scores_;
  const std::vector<double>& penalties_;
  const Gram& gram_;
  unsigned n_threads_;
  double rho_;
};

// The v >= 0 for which v times the weights have the smallest F(v) = v² norm2 + sum_k penalty_k max(0, 1 - v s_k)²; 0
// where no weights are better than none.
inline double best_scale(std::vector<double> scores, std::vector<double> penalties, double norm2) {
  if (!(norm2 > 0)) return 0;
  const std::size_t room = whole_lanes(scores.size());
  SlackRepair<1>::Scores filled{std::move(scores)};
  filled[0].resize(room);
  penalties.resize(room);
  const SlackRepair<1>::Gram gram{{{norm2}}};
  return std::max(0.0, SlackRepair<1>(filled, penalties, gram).best({}, 0).c[0]);
}

}  // namespace dynmargin
