// A decomposition SVM after SVM-light (Joachims 1999; V6.02), linear kernel, unregularised bias: the geometric margin.
//
//   maximise  sum_k alpha_k - ‖a‖²/2,  a = sum_k alpha_k y_k,  y_k = l_k [x_k, Delta_k e_k],
//   over      alpha_k >= 0,  sum_k l_k alpha_k = 0            (the bias is free, so there is no augmentation)
//
// With the gradient g_k = 1 - a.y_k every iteration
//   - takes the q/2 largest and the q/2 smallest l_k g_k that may rise and fall: the steepest feasible direction with q
//     non-zeros; every 101st iteration takes rows at random,
//   - solves for these q weights (working_set.hpp), and brings the scores w.x_k of all active rows up to date.
// Optimal within eps: the largest of the first is at most 2 eps above the smallest of the second. As in SVM-light eps
// starts at 2 and is halved whenever it is met with all rows active; rows at zero that were optimal at more than two
// checks in a row are set aside now and then (shrinking).
#pragma once

#include <optional>

#include "dynmargin/data/patterns.hpp"
#include "dynmargin/dual/dual_bounds.hpp"
#include "dynmargin/dual/working_set.hpp"
#include "dynmargin/order/pacing.hpp"
#include "dynmargin/order/run.hpp"
#include "dynmargin/order/shuffle.hpp"
#include "dynmargin/order/snapshot.hpp"
#include "dynmargin/proof/witnesses.hpp"

namespace dynmargin {

class Decomposition {
 public:
  static constexpr std::size_t q = 10;

  Decomposition(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, double tolerance,
                double epsilon, std::uint64_t seed)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        tolerance_(tolerance),
        random_(seed),
        state_(empty_state<double>(*packed_, *problem_)),
        score_(packed_->n_rows),
        optimal_for_(packed_->n_rows),
        change_(packed_->n_columns),
        bounds_(*packed_, *problem_),
        pacing_(epsilon, problem_->n_members(), problem_->hard_margin()) {
    for (const Member m : bounds_.members()) members_.push_back(m.row());
    active_ = members_;
  }

  Event advance(double seconds, double max_updates) {
    using clock = std::chrono::steady_clock;
    constexpr std::int64_t often = 20;  // iterations after which a check may be due
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    return std::visit(
        [&](const auto& rows) {
          do {
            if (static_cast<double>(iterations_) >= max_updates) return Event::max_updates;
            if (!iterate(rows)) return Event::converged;
            if (iterations_ % often == 0 && due()) return Event::check_due;
          } while (clock::now() < end);
          return Event::slice_over;
        },
        packed_->rows);
  }

  // One read-only pass over all rows: the best scale of w and the best bias for it, slacks repaired.
  Bounds check() {
    return std::visit([&](const auto& rows) { return bounds_.check(Patterns(rows, 0), state_, 1); }, packed_->rows);
  }

  // The upper bound is known at a check only, so there is none to wait for.
  void checked(double gap, std::optional<double> /*enough*/) { pacing_.checked(visits_, full_passes(), gap); }
  void renew() {}
  double upper_bound() const { return std::numeric_limits<double>::infinity(); }

  void record_updates() { recording_ = true; }
  const std::vector<std::pair<std::int64_t, double>>& recorded_updates() const { return recorded_; }

  std::vector<double> dual_weights() const { return counts_of(state_); }
  Support support() const { return all_weights(dual_weights()); }
  Model model() const { return {bounds_.w(), bounds_.scale()}; }  // the bias last
  std::int64_t updates() const { return iterations_; }
  std::int64_t visits() const { return visits_; }
  std::size_t n_active() const { return active_.size(); }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s(accuracy_, random_, active_, state_, bounds_, iterations_, visits_, pacing_);
    s.fixed(score_);
    s.fixed(optimal_for_);
    require_intact(accuracy_ > 0 && accuracy_ <= 2 && !active_.empty());
    for (std::size_t i = 0; i < active_.size(); ++i)
      require_intact(problem_->has_row(active_[i]) && (i == 0 || active_[i] > active_[i - 1]));
  }

  // How often a row has been in a working set, on average.
  std::int64_t full_passes() const {
    return iterations_ * static_cast<std::int64_t>(q) / static_cast<std::int64_t>(members_.size());
  }

 private:
  bool due() {
    return pacing_.due(visits_, full_passes(), upper_bound(), [] { return false; });
  }

  double side(std::uint32_t k) const { return problem_->sides[k]; }
  double alpha(std::uint32_t k) const { return state_.patterns[k].count; }
  double gradient(std::uint32_t k) const { return 1 - side(k) * score_[k] - alpha(k) * state_.patterns[k].delta2; }

  // The extreme slopes l_k g_k: how far from optimal, and which rows to take.
  struct Selection {
    std::vector<std::pair<double, std::uint32_t>> highest, lowest;  // best first
    double violation() const {
      return highest.empty() || lowest.empty() ? 0 : highest.front().first - lowest.front().first;
    }
  };

  static void insert(std::vector<std::pair<double, std::uint32_t>>& best, double value, std::uint32_t k) {
    if (best.size() == q / 2 && !(value > best.back().first)) return;
    if (best.size() == q / 2) best.pop_back();
    auto place = best.end();
    while (place != best.begin() && value > std::prev(place)->first) --place;
    best.insert(place, {value, k});
  }

  Selection select() const {
    Selection found;
    for (const std::uint32_t k : active_) {
      const double slope = side(k) * gradient(k);
      if (can_rise(side(k), alpha(k))) insert(found.highest, slope, k);
      if (can_fall(side(k), alpha(k))) insert(found.lowest, -slope, k);
    }
    for (auto& [slope, k] : found.lowest) slope = -slope;
    return found;
  }

  // False when nothing is left to do.
  template <class Rows>
  bool iterate(const Rows& rows) {
    Selection found = select();
    while (!(found.violation() > 2 * accuracy_)) {
      if (active_.size() < members_.size()) {
        activate_all(rows);
      } else {
        if (accuracy_ <= tolerance_ || accuracy_ < 1e-15) return false;
        accuracy_ = std::max(accuracy_ / 2, tolerance_);
      }
      found = select();
    }
    ++iterations_;
    WorkingSet set;
    if (iterations_ % 101 == 0) {
      for (std::size_t i = 0; i < q; ++i) add(set, active_[random_() % active_.size()]);
    }
    for (const auto& [slope, k] : found.highest) add(set, k);
    for (const auto& [slope, k] : found.lowest) add(set, k);
    fill_products(rows, set);
    set.solve();
    apply(rows, set);
    if (iterations_ % 10 == 0) shrink(found);
    return true;
  }

  void add(WorkingSet& set, std::uint32_t k) const {
    if (set.size() == q || std::find(set.rows.begin(), set.rows.end(), k) != set.rows.end()) return;
    set.rows.push_back(k);
    set.side.push_back(side(k));
    set.alpha.push_back(alpha(k));
    set.gradient.push_back(gradient(k));
  }

  template <class Rows>
  void fill_products(const Rows& rows, WorkingSet& set) {
    const std::size_t n = set.size();
    set.Q.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      rows.add_to(change_.data(), rows.start(set.rows[i]), 1.0);
      for (std::size_t j = 0; j < n; ++j)
        set.Q[i * n + j] = set.side[i] * set.side[j] * rows.dot(rows.start(set.rows[j]), change_.data());
      set.Q[i * n + i] += state_.patterns[set.rows[i]].delta2;
      rows.add_to(change_.data(), rows.start(set.rows[i]), -1.0);  // x - x is zero, exactly
    }
  }

  template <class Rows>
  void apply(const Rows& rows, const WorkingSet& set) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      DualPattern& y = state_.patterns[set.rows[i]];
      const double factor = set.side[i] * (set.alpha[i] - y.count);
      y.count = set.alpha[i];
      if (recording_) recorded_.emplace_back(set.rows[i], set.alpha[i]);
      rows.add_to(change_.data(), y.start, factor);
      rows.add_to(state_.w.data(), y.start, factor);
    }
    for (const std::uint32_t k : active_) score_[k] += rows.dot(rows.start(k), change_.data());
    std::fill(change_.begin(), change_.end(), 0.0);
    visits_ += static_cast<std::int64_t>(active_.size());
  }

  // A row at zero whose slope is beyond the range of the others, on the side where it cannot move, is optimal for any
  // bias in that range.
  void shrink(const Selection& found) {
    constexpr int patience = 2;
    const double high = found.highest.front().first, low = found.lowest.front().first;
    std::size_t ready = 0;
    for (const std::uint32_t k : active_) {
      const double slope = side(k) * gradient(k);
      const bool optimal = alpha(k) == 0 && (side(k) > 0 ? slope < low : slope > high);
      optimal_for_[k] = optimal ? optimal_for_[k] + 1 : 0;
      ready += optimal_for_[k] > patience;
    }
    if (ready < std::max<std::size_t>({active_.size() / 10, members_.size() / 500, 100})) return;
    std::erase_if(active_, [&](std::uint32_t k) { return optimal_for_[k] > patience; });
  }

  // All rows are active again; scores from scratch, without the rounding errors that they have gathered.
  template <class Rows>
  void activate_all(const Rows& rows) {
    active_ = members_;
    for (const std::uint32_t k : active_) {
      score_[k] = rows.dot(rows.start(k), state_.w.data());
      optimal_for_[k] = 0;
    }
    visits_ += static_cast<std::int64_t>(active_.size());
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  double tolerance_, accuracy_ = 2;
  Generator random_;
  std::vector<std::uint32_t> members_, active_;
  DualState state_;
  std::vector<double> score_;     // w.x_k, up to date for active rows
  std::vector<int> optimal_for_;  // checks in a row
  std::vector<double> change_;    // room for that of w
  DualBounds bounds_;
  std::int64_t iterations_ = 0, visits_ = 0;
  Projection pacing_;
  bool recording_ = false;
  std::vector<std::pair<std::int64_t, double>> recorded_;  // row, dual weight
};

}  // namespace dynmargin
