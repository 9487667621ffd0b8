// Newton's method on the primal problem (not in the paper): the passes over the rows that it is made of.
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

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "cholesky.hpp"
#include "patterns.hpp"

namespace dynmargin {

class Newton {
 public:
  // Up to so many coordinates the Hessian is formed and solved with; conjugate gradients beyond.
  static constexpr std::size_t largest_hessian = 2000;

  // `scale` multiplies the penalties: on a subset of the rows it makes up for those that are not there.
  Newton(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem,
         std::vector<std::uint32_t> members, std::vector<double> w, double scale)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        members_(std::move(members)),
        scale_(scale),
        w_(std::move(w)),
        scores_(members_.size()),
        along_(members_.size()),
        active_(members_.size(), 0) {
    multiply(w_, scores_);
    evaluate();
  }

  const std::vector<double>& w() const { return w_; }
  double margin() const { return 1 / std::sqrt(norm2_ + loss_); }
  double upper_bound() const { return std::sqrt(combination2_ + loss_) / total_; }

  // The dual weights alpha_k, one a member.
  std::vector<double> dual_weights() const {
    std::vector<double> alpha(members_.size());
    for (std::size_t i = 0; i < alpha.size(); ++i) alpha[i] = penalty(i) * std::max(0.0, 1 - scores_[i]);
    return alpha;
  }

  // One step: to the lowest point on the line through w along Newton's direction.
  void step() {
    const std::vector<double> direction = w_.size() <= largest_hessian ? exact_direction() : approximate_direction();
    multiply(direction, along_);
    const double length = line_search(direction);
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += length * direction[j];
    for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] += length * along_[i];
    evaluate();
  }

 private:
  double penalty(std::size_t i) const { return scale_ * problem_->penalty(members_[i]); }

  // out_i = v.ybar_k
  void multiply(const std::vector<double>& v, std::vector<double>& out) const {
    const double bias = problem_->rho * v.back();
    std::visit(
        [&](const auto& rows) {
          for (std::size_t i = 0; i < members_.size(); ++i) {
            const double score = rows.dot(rows.start(members_[i]), v.data()) + bias;
            out[i] = problem_->sides[members_[i]] > 0 ? score : -score;
          }
        },
        packed_->rows);
  }

  // -H^-1 g. The Hessian is kept: only rows that have become active or inactive since the last step are added or taken
  // away.
  std::vector<double> exact_direction() {
    const std::size_t n = w_.size();
    upper_.resize(n * n);
    std::visit(
        [&](const auto& rows) {
          for (std::size_t i = 0; i < members_.size(); ++i) {
            const char now = scores_[i] < 1;
            if (now == active_[i]) continue;
            active_[i] = now;
            rows.add_outer_to(upper_.data(), n, rows.start(members_[i]), now ? penalty(i) : -penalty(i), problem_->rho);
          }
        },
        packed_->rows);
    std::vector<double> hessian(upper_), direction(n);
    for (std::size_t i = 0; i < n; ++i) {
      hessian[i * n + i] += 1;
      direction[i] = -gradient_[i];
    }
    return solve_positive_definite(hessian, direction) ? direction : approximate_direction();
  }

  // -H^-1 g up to a tenth of the gradient, by conjugate gradients: one pass over the active rows an iteration, no
  // Hessian.
  std::vector<double> approximate_direction() const {
    const std::size_t n = w_.size();
    std::vector<double> solution(n), residual(n), search(n);
    for (std::size_t j = 0; j < n; ++j) search[j] = residual[j] = -gradient_[j];
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
    return solution;
  }

  std::vector<double> hessian_times(const std::vector<double>& v) const {
    std::vector<double> product(v);
    const double v_bias = problem_->rho * v.back();
    double bias = 0;
    std::visit(
        [&](const auto& rows) {
          for (std::size_t i = 0; i < members_.size(); ++i) {
            if (!(scores_[i] < 1)) continue;
            const double factor = penalty(i) * (rows.dot(rows.start(members_[i]), v.data()) + v_bias);
            rows.add_to(product.data(), rows.start(members_[i]), factor);
            bias += factor;
          }
        },
        packed_->rows);
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
    std::visit(
        [&](const auto& rows) {
          for (std::size_t i = 0; i < members_.size(); ++i) {
            const double slack = 1 - scores_[i];
            if (!(slack > 0)) continue;
            const double alpha = penalty(i) * slack;
            loss_ += alpha * slack;  // also alpha² Delta², the extension's share of ‖a‖²
            total_ += alpha;
            const double factor = problem_->sides[members_[i]] > 0 ? alpha : -alpha;
            rows.add_to(combination.data(), rows.start(members_[i]), factor);
            bias += factor;
          }
        },
        packed_->rows);
    combination.back() += problem_->rho * bias;
    norm2_ = squared(w_);
    combination2_ = squared(combination);
    gradient_.resize(w_.size());
    for (std::size_t j = 0; j < w_.size(); ++j) gradient_[j] = w_[j] - combination[j];
  }

  // The derivative of P along the line is increasing and piecewise linear in the length; its root by Newton with a
  // bracket.
  double line_search(const std::vector<double>& direction) const {
    double slope0 = 0, curvature0 = 0;
    for (std::size_t j = 0; j < w_.size(); ++j) {
      slope0 += w_[j] * direction[j];
      curvature0 += direction[j] * direction[j];
    }
    double low = 0, high = std::numeric_limits<double>::infinity(), length = 1;
    for (int i = 0; i < 50; ++i) {
      double slope = slope0 + length * curvature0, curvature = curvature0;
      for (std::size_t k = 0; k < scores_.size(); ++k) {
        const double slack = 1 - scores_[k] - length * along_[k];
        if (!(slack > 0)) continue;
        const double weighted = penalty(k) * along_[k];
        slope -= weighted * slack;
        curvature += weighted * along_[k];
      }
      (slope < 0 ? low : high) = length;
      double next = length - slope / curvature;
      if (!(next > low && next < high)) next = std::isinf(high) ? 2 * length : (low + high) / 2;
      if (std::abs(next - length) <= 1e-6 * length) return next;
      length = next;
    }
    return length;
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  std::vector<std::uint32_t> members_;
  double scale_;
  std::vector<double> w_, gradient_;
  std::vector<double> scores_, along_;  // s_k, and its change along the direction in hand
  std::vector<char> active_;            // which rows are in upper_
  std::vector<double> upper_;           // sum over them of c_k ybar_k ybar_k^T, upper triangle
  double norm2_ = 0, combination2_ = 0, loss_ = 0, total_ = 0;
};

}  // namespace dynmargin
