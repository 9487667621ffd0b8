// Newton's steps for the best weights of a stiff run.
//
// Where columns have very different scales, or slacks are expensive, PDM's gap falls only in proportion to the passes:
// patterns are tuned against each other one at a time. Conjugate gradients on the primal problem take all of them at
// once. So at a check a stiff run turns to its best weights and improves these by steps of Newton's method
// (newton.hpp), with a Hessian where that has no more entries than the rows, by conjugate gradients elsewhere. Where
// the counts that such weights imply prove more than those of the state, PDM continues from them. Any counts >= 0 are a
// state that a perceptron may begin with.
//
// What this may cost is in proportion to what PDM itself has spent, in counted work and never in seconds: at first as
// much, and up to four times as much the longer PDM takes. (By how much the gap falls meanwhile is no guide: conjugate
// gradients lower the upper bound at the very end.)
//
// Where slacks are expensive and few are needed, exact steps are tiny: they soon meet a row that changes sides. Steps
// that have cost as much as many passes show it. Then slacks cost less for a while, as in NewtonTrainer: near the
// solution of that problem they cost ten times as much, and so on. (842 x 420: 270 ms instead of 2,800; 2,346 x 165:
// 100 instead of 1,260; 4,739 x 401: 520 instead of 1,620; over 19 problems that took 30 passes or more, half the
// work.)
//
// (Milliseconds to a certified 1 %, of problems whose columns have scales over up to four decades, by a Hessian, by
// conjugate gradients, and without: 631 x 135 5, 69 and 390, 918 x 194 9, 13 and 158, 735 x 119 5, 105 and 1,301,
// 902 x 49 2, 7 and 110.)
#pragma once

#include <optional>

#include "dynmargin/order/snapshot.hpp"
#include "dynmargin/solve/newton.hpp"

namespace dynmargin {

class Polish {
 public:
  Polish(bool enabled, const PackedRows& packed, const Problem& problem, double epsilon)
      : enabled_(enabled && problem.loss == Loss::squared_hinge && !problem.hard_margin()), epsilon_(epsilon) {
    if (!enabled_) return;
    stiffness_ = stiffness(packed, problem);
    enabled_ = stiffness_ < largest_stiffness;
    n_members_ = static_cast<double>(problem.n_members());
    n_nonzeros_ = static_cast<double>(n_nonzeros(packed, problem));
    const double n = n_coordinates_ = static_cast<double>(packed.n_columns + 1);
    exact_ = packed.n_columns <= static_cast<std::int64_t>(Newton::largest_hessian) && n * n <= n_nonzeros_;
    if (!exact_) return;
    // The sum is counted in full, though it takes only a part of that time: to polish too early costs more than to
    // polish too late. (With half of it, three of 117 problems took up to 2.3 times as long.)
    const double solve = solve_work(packed.n_columns + 1, is_dense(packed));
    const double sum = n_nonzeros_ * (n_nonzeros_ / n_members_) / 2;
    const double typical = active_share * sum + solve;
    cheap_ = typical + work_beside_hessian() <= cheap_passes * work_of_pass();
    hessian_work_ = cheap_ ? typical : sum + solve;
  }

  bool under_way() const { return under_way_; }
  // Of all steps so far, in multiplications.
  double work() const { return polished_ + (under_way_ ? newton_->work() - began_ : 0); }

  // Whether another step can be afforded, after so many visits and full passes of PDM.
  bool affordable(std::int64_t visits, std::int64_t full_passes) const {
    return enabled_ && allowed(visits, full_passes) >= work_of_step();
  }

  // Begins at the weights `w`.
  void begin(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, std::vector<double> w,
             std::int64_t visits, std::int64_t full_passes) {
    const double all = work_of(visits) + polished_;
    const double allowance = std::min(allowed(visits, full_passes), std::max(all / 2, work_of_step()));
    under_way_ = true;
    if (!newton_)
      start(std::move(packed), std::move(problem), std::move(w));
    else if (!(price_ < 1))
      newton_->restart(std::move(w));
    if (exact_ && stiffness_ > stiff && !eased_ && polished_ > patience * work_of_pass()) {
      eased_ = true;
      set_price(soft / stiffness_);
    }
    began_ = newton_->work();
    allowance_ = began_ + allowance;
  }

  // A small part of the work; true when a step is complete.
  bool advance() {
    if (exact_)
      newton_->step();
    else if (!newton_->iterate())
      return false;
    if (newton_->true_upper_bound() < bound_) {
      bound_ = newton_->true_upper_bound();
      alpha_ = newton_->dual_weights();
    }
    return true;
  }

  // After a step whose weights have been taken over: near the solution at this price, slacks become more expensive.
  void proceed() {
    if (!(price_ < 1)) return;
    const bool close = newton_->margin() >= (1 - close_at_a_price) * newton_->upper_bound();
    if (close || ++steps_ >= most_steps_at_a_price) set_price(std::min(1.0, price_factor * price_));
  }

  // Of the weights now.
  const std::vector<double>& w() const { return newton_->w(); }
  const std::vector<double>& scores() const { return newton_->scores(); }
  double margin() const { return newton_->true_margin(); }

  // The best upper bound since the beginning, and the dual weights that prove it, one per member.
  double bound() const { return bound_; }
  const std::vector<double>& dual_weights() const { return alpha_; }

  // After a step, with what is proven by now: whether it is time for a check.
  bool over(double margin, double upper_bound) const {
    return newton_->work() >= allowance_ || 1 - margin / upper_bound <= close_enough * epsilon_;
  }

  // A Hessian is kept for the next time: few rows will have changed sides by then.
  void end() {
    polished_ += newton_->work() - began_;
    most_iterations_ = newton_->most_iterations();
    under_way_ = false;
    if (!exact_) newton_.reset();
    alpha_.clear();
    bound_ = std::numeric_limits<double>::infinity();
  }

  template <class Snapshot>
  void snapshot(Snapshot& s, const std::shared_ptr<const PackedRows>& packed,
                const std::shared_ptr<const Problem>& problem) {
    bool here = newton_.has_value();
    s(here, under_way_, polished_, most_iterations_, began_, allowance_, bound_, eased_, price_, steps_);
    require_intact((here || !under_way_) && price_ > 0 && price_ <= 1 && (here || price_ == 1));
    s.fixed_or_empty(alpha_, problem->n_members());
    if (Snapshot::reading) newton_.reset();
    if (Snapshot::reading && here) start(packed, problem, std::vector<double>(packed->n_columns + 1));
    if (here) newton_->snapshot(s);
  }

 private:
  // Steps are worth a try from so many passes on, divided by the stiffness. (Stiffness of 2e4 to 9e5 takes PDM hundreds
  // or thousands of passes to a certified 1 %; 1e3 to 7e3 takes 10 to 60, and conjugate gradients longer than these.)
  static constexpr double stiff_passes = 1e6, stiff_passes_exact = 1e4;
  static constexpr double first_share = 0.5, first_share_exact = 1, largest_share = 4;
  // Exact steps that cost no more than so many passes are always worth a try: PDM's weights are good after a pass or
  // two, and its counts take many. Of all rows, typically that share is active, and the Hessian is a sum over these.
  // (71,107 rows of 5 columns: 2 passes instead of 22; 13,753 of 25 columns: 6 instead of 33.)
  static constexpr double cheap_passes = 6, active_share = 0.5;
  static constexpr double largest_stiffness = 1e12;  // beyond, rounding decides which way a step goes
  static constexpr double close_enough = 0.98;       // counts have yet to be rounded
  // Above this stiffness, and after steps that have cost as much as so many passes, slacks begin at the price at which
  // the stiffness would be that, times `price_factor` whenever the gap is that small, or after so many steps.
  static constexpr double stiff = 3000, patience = 50, soft = 100, price_factor = 10, close_at_a_price = 0.1;
  static constexpr int most_steps_at_a_price = 60;
  static constexpr double visit = 60, entry = 2;  // of PDM, in multiplications of a pass over rows

  double work_of(std::int64_t visits) const { return static_cast<double>(visits) / n_members_ * work_of_pass(); }
  double work_of_pass() const { return visit * n_members_ + entry * n_nonzeros_; }
  // What may still be spent: nothing before a run is slow, unless steps are cheap.
  double allowed(std::int64_t visits, std::int64_t full_passes) const {
    double slow = static_cast<double>(full_passes) * stiffness_ / (exact_ ? stiff_passes_exact : stiff_passes);
    if (cheap_) slow = std::max(slow, 1.0);
    const double share = std::min((exact_ ? first_share_exact : first_share) * std::sqrt(slow), largest_share);
    return slow < 1 ? 0 : share * work_of(visits) * generosity() - polished_;
  }
  double work_of_step() const {
    return exact_ ? hessian_work_ + work_beside_hessian() : work_of_product() * most_iterations_;
  }
  double work_beside_hessian() const { return 4 * n_nonzeros_ + 20 * n_members_; }
  double work_over_rows() const { return 2 * n_nonzeros_ + Newton::find_row * n_members_; }
  double work_of_product() const { return work_over_rows() + Newton::per_coordinate * n_coordinates_; }
  // Conjugate gradients may make as many products where rows are short, and cost more to find than to multiply. (51,119
  // rows of 7 entries: 217 ms instead of 440.)
  double generosity() const { return exact_ ? 1 : work_over_rows() / (2 * n_nonzeros_); }

  void set_price(double price) {
    price_ = price;
    steps_ = 0;
    newton_->reprice(price);
  }

  void start(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, std::vector<double> w) {
    std::vector<std::uint32_t> rows;
    for (const Member m : members_of(*problem)) rows.push_back(m.row());
    newton_.emplace(std::move(packed), std::move(problem), std::move(rows), std::move(w), 1.0);
    newton_->set_most_iterations(most_iterations_);
  }

  bool enabled_, exact_ = false, cheap_ = false;  // exact: by a Hessian; cheap: and in a few passes
  double hessian_work_ = 0;
  double epsilon_, stiffness_ = 0, n_members_ = 0, n_nonzeros_ = 0, n_coordinates_ = 0;
  bool under_way_ = false;
  double polished_ = 0;               // the work of all steps
  double began_ = 0, allowance_ = 0;  // Newton's work at the beginning of those under way, and at their end
  int most_iterations_ = 20;
  bool eased_ = false;  // slacks have cost less
  double price_ = 1;    // of a slack, as a fraction of what it costs
  int steps_ = 0;       // at this price
  double bound_ = std::numeric_limits<double>::infinity();
  std::vector<double> alpha_;
  std::optional<Newton> newton_;
};

}  // namespace dynmargin
