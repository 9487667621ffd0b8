// Newton's method on the primal problem (not in the paper): the passes over the rows that it consists of.
//
//   minimise  P(w) = ½‖w‖² + ½ sum_k c_k max(0, 1 - s_k)²,      s_k = w.ybar_k,  c_k = 1 / Delta_k²
//
// which is LinearSVC's objective, convex and piecewise quadratic. With alpha_k = c_k max(0, 1 - s_k) and I = {k : s_k <
// 1}
//
//   gradient  g = w - sum_k alpha_k ybar_k,      Hessian  H = 1 + sum_I c_k ybar_k ybar_k^T
//
// The alpha_k are dual weights: they prove the upper bound ‖sum alpha_k y_k‖ / sum alpha_k, whose dense part is w - g.
// Vectors have one more coordinate than there are columns, the last for the augmentation.
#pragma once

#include "dynmargin/data/problem.hpp"
#include "dynmargin/solve/cholesky.hpp"
#include "dynmargin/solve/slack_repair.hpp"

namespace dynmargin {

class Newton {
 public:
  // Up to this many features the Hessian is formed and solved with; conjugate gradients beyond.
  static constexpr std::size_t largest_hessian = 2000;

  // `scale` multiplies the penalties: on a subset of the rows it makes up for those that are not there.
  Newton(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem,
         std::vector<std::uint32_t> members, std::vector<double> w, double scale)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        members_(std::move(members)),
        w_(std::move(w)),
        penalties_(whole_lanes(members_.size())),
        scores_{std::vector<double>(penalties_.size()), std::vector<double>(penalties_.size())},
        active_(members_.size(), 0) {
    for (std::size_t i = 0; i < members_.size(); ++i) penalties_[i] = scale * problem_->penalty(members_[i]);
    multiply(w_, scores_[0]);
    evaluate();
  }

  const std::vector<double>& w() const { return w_; }
  double margin() const { return 1 / std::sqrt(norm2_ + loss_); }
  double upper_bound() const { return std::sqrt(combination2_ + loss_) / total_; }

  // The dual weights alpha_k, one per member.
  std::vector<double> dual_weights() const {
    std::vector<double> alpha(members_.size());
    for (std::size_t i = 0; i < alpha.size(); ++i) alpha[i] = penalties_[i] * std::max(0.0, 1 - scores_[0][i]);
    return alpha;
  }

  // One step: to the lowest point in the plane of w and Newton's direction. Where the direction leaves the doubles, w
  // stays as it is.
  void step() {
    const std::vector<double> direction =
        w_.size() <= largest_hessian + 1 ? exact_direction() : approximate_direction();
    multiply(direction, scores_[1]);
    if (!(std::isfinite(squared(direction)) && std::isfinite(squared(scores_[1])))) return;
    SlackRepair<2>::Gram gram{};
    for (std::size_t j = 0; j < w_.size(); ++j) {
      gram[0][0] += w_[j] * w_[j];
      gram[0][1] += w_[j] * direction[j];
      gram[1][1] += direction[j] * direction[j];
    }
    gram[1][0] = gram[0][1];
    // To the last digit: a step may hardly raise the margin, which is flat at the optimum, and still lower the upper
    // bound a lot.
    const auto [along_w, along_direction] = SlackRepair<2>(scores_, penalties_, gram).best({1, 1}, 0).c;
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = along_w * w_[j] + along_direction * direction[j];
    for (std::size_t i = 0; i < members_.size(); ++i)
      scores_[0][i] = along_w * scores_[0][i] + along_direction * scores_[1][i];
    evaluate();
  }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s.fixed(w_);
    s.fixed(gradient_);
    s.fixed(scores_[0]);
    s.fixed(active_);
    s.fixed_or_empty(upper_, w_.size() * w_.size());
    s(norm2_, combination2_, loss_, total_);
  }

 private:
  // f(i, rows, start) for every member: its place, and where its row is.
  template <class F>
  void for_each_member(const F& f) const {
    std::visit(
        [&](const auto& rows) {
          for (std::size_t i = 0; i < members_.size(); ++i) f(i, rows, rows.start(members_[i]));
        },
        packed_->rows);
  }

  // out_i = v.ybar_k
  void multiply(const std::vector<double>& v, std::vector<double>& out) const {
    const double bias = problem_->rho * v.back();
    for_each_member([&](std::size_t i, const auto& rows, std::uint64_t start) {
      const double score = rows.dot(start, v.data()) + bias;
      out[i] = problem_->sides[members_[i]] > 0 ? score : -score;
    });
  }

  // -H^-1 g. The Hessian is kept: only rows that have become active or inactive since the last step are added or taken
  // away.
  std::vector<double> exact_direction() {
    const std::size_t n = w_.size();
    upper_.resize(n * n);
    std::vector<WeightedRow> changed;
    for_each_member([&](std::size_t i, const auto& /*rows*/, std::uint64_t start) {
      const char now = scores_[0][i] < 1;
      if (now == active_[i]) return;
      active_[i] = now;
      changed.push_back({start, now ? penalties_[i] : -penalties_[i]});
    });
    std::visit([&](const auto& rows) { rows.add_outers_to(upper_.data(), n, changed, problem_->rho); }, packed_->rows);
    std::vector<double> hessian(upper_), direction(n);
    for (std::size_t i = 0; i < n; ++i) {
      hessian[i * n + i] += 1;
      direction[i] = -gradient_[i];
    }
    return solve_positive_definite(hessian, direction) && std::isfinite(squared(direction)) ? direction
                                                                                            : approximate_direction();
  }

  // -H^-1 g up to a tenth of the gradient, by conjugate gradients: one pass over the active rows an iteration, no
  // Hessian. The gradient is divided by a power of two, which changes no digit and keeps products of three large
  // factors finite.
  std::vector<double> approximate_direction() const {
    const std::size_t n = w_.size();
    std::vector<double> solution(n), residual(n), search(n);
    double largest = 0;
    for (const double c : gradient_) largest = std::max(largest, std::abs(c));
    int exponent = 0;
    std::frexp(largest, &exponent);
    for (std::size_t j = 0; j < n; ++j) search[j] = residual[j] = -std::ldexp(gradient_[j], -exponent);
    double norm2 = squared(residual);
    const double target = 0.01 * norm2;
    for (std::size_t i = 0; i < n && norm2 > target; ++i) {
      const std::vector<double> product = hessian_times(search);
      double curvature = 0;
      for (std::size_t j = 0; j < n; ++j) curvature += search[j] * product[j];
      const double length = norm2 / curvature, previous = norm2;
      for (std::size_t j = 0; j < n; ++j) {
        solution[j] += length * search[j];
        residual[j] -= length * product[j];
      }
      norm2 = squared(residual);
      for (std::size_t j = 0; j < n; ++j) search[j] = residual[j] + norm2 / previous * search[j];
    }
    for (double& c : solution) c = std::ldexp(c, exponent);
    return solution;
  }

  std::vector<double> hessian_times(const std::vector<double>& v) const {
    std::vector<double> product(v);
    const double v_bias = problem_->rho * v.back();
    double bias = 0;
    for_each_member([&](std::size_t i, const auto& rows, std::uint64_t start) {
      if (!(scores_[0][i] < 1)) return;
      const double factor = penalties_[i] * (rows.dot(start, v.data()) + v_bias);
      rows.add_to(product.data(), start, factor);
      bias += factor;
    });
    product.back() += problem_->rho * bias;
    return product;
  }

  static double squared(const std::vector<double>& v) {
    double sum = 0;
    for (double c : v) sum += c * c;
    return sum;
  }

  void evaluate() {
    std::vector<double> combination(w_.size());
    double bias = 0;
    loss_ = total_ = 0;
    for_each_member([&](std::size_t i, const auto& rows, std::uint64_t start) {
      const double slack = 1 - scores_[0][i];
      if (!(slack > 0)) return;
      const double alpha = penalties_[i] * slack;
      loss_ += alpha * slack;  // also alpha² Delta², the extension's share of ‖a‖²
      total_ += alpha;
      const double factor = problem_->sides[members_[i]] > 0 ? alpha : -alpha;
      rows.add_to(combination.data(), start, factor);
      bias += factor;
    });
    combination.back() += problem_->rho * bias;
    norm2_ = squared(w_);
    combination2_ = squared(combination);
    gradient_.resize(w_.size());
    for (std::size_t j = 0; j < w_.size(); ++j) gradient_[j] = w_[j] - combination[j];
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  std::vector<std::uint32_t> members_;
  std::vector<double> w_, gradient_;
  std::vector<double> penalties_;  // c_k, and zeros up to whole lanes
  SlackRepair<2>::Scores scores_;  // s_k, and its change along the current direction
  std::vector<char> active_;       // which rows are in upper_
  std::vector<double> upper_;      // sum over them of c_k ybar_k ybar_k^T, upper triangle
  double norm2_ = 0, combination2_ = 0, loss_ = 0, total_ = 0;
};

}  // namespace dynmargin
