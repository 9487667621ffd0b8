// Where the exact optimum is: a ball that both witnesses of a certificate fix together.
//
// The problem is to find the shortest W with W.Y_k >= 1 for all k; W* solves it. The weights, with the slacks that are
// best for them, are such a W, and P = ‖W‖²/2. Counts make a dual point u = v a, whose value is D = v t - v² ‖a‖²/2. As
// W* is the shortest point of a convex set, P - P* >= ‖W - W*‖²/2; as the dual is a concave quadratic,
// D* - D >= ‖u - W*‖²/2. Together, with P* = D* and the law of the parallelogram,
//   ‖W* - (W + u)/2‖² <= r²,   r² = P - D - ‖W - u‖²/4 = (P - D)/2 + Y/2,   Y = v sum_k n_k (W.Y_k - 1) >= 0.
// Slacks make W.Y_k - 1 = max(0, s_k - 1); for the hard margin the weights are scaled until their smallest score is 1.
// The hinge has no extended space, and its objective is as convex: the same r² with P and D of the hinge and
//   Y = sum_k (C_k - alpha_k) max(0, 1 - s_k) + sum_k alpha_k max(0, s_k - 1) = sum_k C_k max(0, 1 - s_k) + v sum_k n_k
//   (s_k - 1).
// The dense part of W*, which scores rows, is in the same ball without its other coordinates.
#pragma once

#include "dynmargin/proof/error_analysis.hpp"

namespace dynmargin {

// A ball that contains the dense part of the optimum, (w*, b*/rho), of all classes where they share one problem.
struct Ball {
  std::vector<double> centre, intercept;  // of all blocks; intercepts are b, not b/rho
  double squared_radius = std::numeric_limits<double>::infinity(), squared_error = 0;
  double centre_error = 0;

  // Rounded outward by that many error bounds: three to publish it, one to confirm it.
  double radius(int errors) const {
    const double found = (std::sqrt(squared_radius + errors * squared_error) + errors * centre_error) * (1 + 8 * two_u);
    return found >= 0 ? found : std::numeric_limits<double>::infinity();  // what is not a number says nothing
  }
};

// The ball of weights W (one block of coordinates after the other, and their intercepts) and of counts.
template <class AnyProblem>
Ball ball_of(const AnyProblem& problem, std::span<const double> W, std::span<const double> b, const Weighed& weights,
             const Counted& counts) {
  Ball ball;
  const Bound &margin = weights.margin, &bound = counts.bound;
  const double least = margin.value - margin.error, v = counts.scale, t = counts.t;
  if (!(least > 0 && std::isfinite(bound.value) && bound.value > 0 && std::isfinite(v))) return ball;
  const bool hard = problem.hard_margin(), hinge = problem.loss == Loss::hinge;

  // P - D. Rounding may have moved v from the best scale, which costs D the square of that.
  const auto objective = [](double margin) { return 0.5 / margin / margin; };
  const double P = objective(margin.value), D = objective(bound.value);
  const double relative = bound.error / bound.value, moved = (hinge ? 0 : 2 * relative) + 8 * two_u;
  const double gap_error = (objective(least) - P) + (D - objective(bound.value + bound.error)) +
                           1.01 * moved * moved * D + 4 * two_u * (P + D);

  // Y. Another machine may find a scale that differs by `moved`, or by `stretched`, so these are a part of its error.
  const double scale = hard ? 1 / weights.low * (1 + two_u) : 1;
  const double stretched = hard ? (weights.smallest - weights.low) * scale + 2 * two_u : 0;
  const double counted = v * scale * weights.counted, shift = hard ? -v * t : hinge ? weights.loss / 2 : 0;
  const double Y = std::max(0.0, counted + shift);
  const double Y_error = v * scale * weights.counted_error + (stretched + moved) * std::abs(counted) +
                         (hinge ? weights.loss_error / 2 : 0) + (hard ? moved * v * t : 0) +
                         8 * two_u * (std::abs(counted) + std::abs(shift));
  ball.squared_radius = (std::max(0.0, P - D) + Y) / 2;
  ball.squared_error = (gap_error + Y_error) * 1.01;

  // The centre (W + v a)/2: what rounding has added to a, the scales again, and the roundings of the centre itself.
  // The length of v a is at most sqrt(2 D), which is 1 / bound.
  const std::size_t n_blocks = counts.bias.size();
  const double length = std::sqrt(weights.norm2) * scale;
  const double vanished = problem.rho > 0 ? 8 * static_cast<double>(n_blocks) * underflow / problem.rho : 0;
  ball.centre_error = (v * (counts.cancelled + std::sqrt(smallest_square)) + (moved + 4 * two_u) / bound.value +
                       (stretched + 4 * two_u) * length + vanished) *
                      0.51;
  ball.centre.resize(W.size());
  for (std::size_t j = 0; j < W.size(); ++j) ball.centre[j] = 0.5 * (scale * W[j] + v * counts.a[j]);
  for (std::size_t c = 0; c < n_blocks; ++c) {
    const double of_counts = v * (static_cast<double>(counts.bias[c]) * problem.rho) * problem.rho;
    ball.intercept.push_back(problem.rho > 0 ? 0.5 * (scale * b[c] + of_counts) : 0);
  }
  return ball;
}

// All that weights and counts prove together.
struct Proof {
  Bound margin, upper_bound;
  Ball ball;
};

}  // namespace dynmargin
