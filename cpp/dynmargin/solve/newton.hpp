// Newton's method on the primal problem (not in the paper): the passes over the rows that it consists of.
//
//   minimise  P(w) = ½‖w‖² + ½ sum_k c_k max(0, 1 - s_k)²,      s_k = w.ybar_k,  c_k = 1 / Delta_k²
//
// which is LinearSVC's objective, convex and piecewise quadratic. With alpha_k = c_k max(0, 1 - s_k) and
// I = {k : s_k < 1}
//
//   gradient  g = w - sum_k alpha_k ybar_k,      Hessian  H = 1 + sum_I c_k ybar_k ybar_k^T
//
// The alpha_k are dual weights: they prove the upper bound ‖sum alpha_k y_k‖ / sum alpha_k, whose dense part is w - g.
// Vectors have one more coordinate than there are columns, the last for the augmentation.
#pragma once

#include "dynmargin/data/problem.hpp"
#include "dynmargin/order/snapshot.hpp"
#include "dynmargin/order/threads.hpp"
#include "dynmargin/solve/cholesky.hpp"
#include "dynmargin/solve/conjugate_gradients.hpp"
#include "dynmargin/solve/slack_repair.hpp"

namespace dynmargin {

class Newton {
 public:
  // Up to this many features the Hessian is formed and solved with; conjugate gradients beyond.
  static constexpr std::size_t largest_hessian = 2000;
  static constexpr int fewest_iterations = 5;
  static constexpr double find_row = 40;  // for a product, in multiplications
  // Multiplications per coordinate, for the vectors of a step or an iteration. Where columns are many and few rows are
  // active, they take longer than the rows. (PDM with a polish, on 2,544 rows of 114,167 columns: 11 ms instead of 17;
  // on 3,194 of 81,263: 33 instead of 48.)
  static constexpr double per_coordinate = 6;
  // Whether a Hessian that costs so much in all is worth it, when a product costs so much and conjugate gradients have
  // spent so much. It is formed at once where it is cheap, or costs as much as few products.
  static bool hessian_pays(double hessian, double product, double iterated) {
    constexpr double cheap = 2e7, few_products = 80;
    return hessian <= std::max({cheap, iterated, few_products * product});
  }
  // Of a Hessian, which is summed over rows at this cost, and solved with a few times.
  static double hessian_work(double summed, std::size_t n, bool dense) {
    constexpr double typical_steps = 5;
    return summed + typical_steps * solve_work(n, dense);
  }

  // `scale` multiplies the penalties: on a subset of the rows it makes up for those that are not there.
  Newton(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem,
         std::vector<std::uint32_t> members, std::vector<double> w, double scale);

  // Changes the price of slacks; the Hessian's sum over active rows is that of before, scaled.
  void reprice(double price);

  // Of all steps so far, in multiplications: passes over rows, rows added to the Hessian, systems solved.
  double work() const { return work_; }

  const std::vector<double>& w() const { return w_; }
  const std::vector<double>& scores() const { return scores_[0]; }  // one per member, and zeros up to whole lanes
  // Of the problem with these penalties, and of the one whose penalties are those of the rows: its slacks cost
  // loss / price_, and alpha_k² Delta_k² adds up to price_ loss.
  double margin() const { return 1 / std::sqrt(norm2_ + loss_); }
  double upper_bound() const { return std::sqrt(combination2_ + loss_) / total_; }
  double true_margin() const { return 1 / std::sqrt(norm2_ + loss_ / price_); }
  double true_upper_bound() const { return std::sqrt(combination2_ + price_ * loss_) / total_; }

  // The dual weights alpha_k, one per member.
  std::vector<double> dual_weights() const;

  // Continues from other weights; the Hessian's sum over active rows is brought up to date by the next step.
  void restart(std::vector<double> w);

  // One step, by the exact solution of Newton's system or, where the Hessian would be too large, by an approximate one.
  // A Hessian that is expensive is formed only when conjugate gradients have spent as much without it. (Milliseconds to
  // a certified 1 %, with that and with a Hessian at once: 818 x 862 18 and more than 6,000, 875 x 1,083 4 and 586,
  // 2,033 x 739 25 and 68.)
  void step();

  // A part of a step without a Hessian, one iteration of conjugate gradients; true when it completes the step.
  //
  // A direction is worth a few iterations only where rows change sides soon, and many where they do not. So there may
  // be twice as many when a step that took all of them went most of the way, and half as many when it was cut short.
  // (Iterations to a certified 1 %, with that, with at most 20 per step, and without a limit: 728 x 274 2,400, 1,955
  // and 8,010; 735 x 119 1,601, 2,849 and 2,259; 631 x 135 1,049, more than 2,300 and 845.)
  bool iterate();
  // The parts of a step, for rows that are one shard of many: the sums of all shards decide where to go, and each goes
  // there.
  const std::vector<double>& gradient() const { return gradient_; }
  double loss() const { return loss_; }    // sum of alpha_k² Delta_k², or alpha_k times the slack
  double total() const { return total_; }  // sum of alpha_k
  double n_active() const { return n_active_; }
  // The sum of c_k ybar_k ybar_k^T over active rows, upper triangle. It is kept: only rows that have become active or
  // inactive since it was last asked for are added or taken away.
  const std::vector<double>& active_sum();
  // The same sum times v is added to a vector.
  void add_product_to(std::vector<double>& sum, const std::vector<double>& v) const;
  // Of the Hessian; ones where it is close to that, which saves a pass.
  std::vector<double> diagonal() const;
  // Scores a direction; whether all its numbers are finite.
  bool aim(const std::vector<double>& direction);
  // Goes along the direction that was aimed at.
  void go(double along_w, const std::vector<double>& direction, double along_direction);

  // Iterations in the next step.
  int most_iterations() const { return most_iterations_; }
  void set_most_iterations(int most) { most_iterations_ = most; }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s.fixed(w_);
    s.fixed(gradient_);
    s.fixed(scores_[0]);
    s.fixed(active_);
    s.fixed_or_empty(upper_, w_.size() * w_.size());
    double price = price_;
    s(price, norm2_, combination2_, loss_, total_, n_active_, work_, iterated_, most_iterations_);
    require_intact(price > 0 && price <= std::numeric_limits<double>::max());
    if (Snapshot::reading) set_price(price);
    gradients_.snapshot(s, w_.size());
  }

 private:
  void set_price(double price);

  // f(i, rows, start) for the members of a block: their places, and where their rows are.
  template <class F>
  void for_members(std::size_t begin, std::size_t end, const F& f) const;

  // out_i = v.ybar_k
  void multiply(const std::vector<double>& v, std::vector<double>& out) const;

  // Rows that have become active or inactive since the last time; those that have are weighted by c_k, others by -c_k.
  template <class Rows>
  UnsetVector<WeightedRow> changed_rows(const Rows& rows);

  // -H^-1 g
  std::vector<double> exact_direction();

  // Whether the next step is to be an exact one.
  bool hessian_pays() const;
  // With the Hessian, in multiplications.
  double work_of_product() const;

  // -H^-1 g up to a tenth of the gradient.
  std::vector<double> approximate_direction();

  void refine(ConjugateGradients& gradients);

  // Goes to the lowest point in the plane of w and a direction; returns how far that is along the latter, 1 being all
  // the way. Where the direction leaves the doubles, w stays as it is.
  double move_along(const std::vector<double>& direction);

  std::vector<double> hessian_times(const std::vector<double>& v) const;

  // All that follows from the scores; before(i) may change that of a member first.
  void evaluate();
  template <class Before>
  void evaluate(const Before& before);

  double squared_in_threads(const std::vector<double>& v) const;

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  std::vector<std::uint32_t> members_;
  std::vector<double> w_, gradient_;
  double price_ = 1;               // of a slack, as a fraction of what it costs
  std::vector<double> penalties_;  // c_k, and zeros up to whole lanes
  SlackRepair<2>::Scores scores_;  // s_k, and its change along the current direction
  std::vector<char> active_;       // which rows are in upper_
  std::vector<double> upper_;      // sum over them of c_k ybar_k ybar_k^T, upper triangle
  double norm2_ = 0, combination2_ = 0, loss_ = 0, total_ = 0;
  double n_nonzeros_, stiffness_, n_active_ = 0, work_ = 0;
  double iterated_ = 0;           // the work of steps by conjugate gradients, as long as there is no Hessian
  Blocks rows_{0}, sums_{0};      // of members: where each is for itself, and where vectors are summed
  ConjugateGradients gradients_;  // of a step that has begun
  int most_iterations_ = 20;
};

}  // namespace dynmargin
