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
// starts at 2 and is halved whenever it is met with all rows active; rows at zero that were optimal for more than two
// iterations in a row are put aside now and then (shrinking).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dynmargin/data/problem.hpp"
#include "dynmargin/dual/working_set.hpp"
#include "dynmargin/order/pacing.hpp"
#include "dynmargin/order/random.hpp"
#include "dynmargin/order/run.hpp"
#include "dynmargin/proof/witnesses.hpp"
#include "dynmargin/solve/slack_repair.hpp"

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
        alpha_(packed_->n_rows),
        score_(packed_->n_rows),
        delta2_(packed_->n_rows),
        optimal_for_(packed_->n_rows),
        w_(packed_->n_columns),
        change_(packed_->n_columns),
        best_w_(packed_->n_columns + 1),
        pacing_(epsilon, problem_->n_members(), problem_->hard_margin()) {
    for (std::size_t k = 0; k < problem_->sides.size(); ++k)
      if (problem_->sides[k] != 0) {
        members_.push_back(static_cast<std::uint32_t>(k));
        delta2_[k] = problem_->delta2(k);
      }
    active_ = members_;
    if (!problem_->hard_margin())
      for (const std::uint32_t k : members_) penalties_.push_back(problem_->penalty(k));
    penalties_.resize(whole_lanes(penalties_.size()));
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
    double dense2 = 0, extended = 0, t = 0;
    for (const double c : w_) dense2 += c * c;
    for (const std::uint32_t k : members_) {
      t += alpha_[k];
      extended += alpha_[k] * alpha_[k] * delta2_[k];
    }
    SlackRepair<2>::Scores scores;
    // The smallest l_k w.x_k of either side, and the same with the extension: the best bias is half-way between.
    constexpr double far = std::numeric_limits<double>::infinity();
    std::array<double, 2> smallest{far, far}, extended_smallest{far, far};
    std::visit(
        [&](const auto& rows) {
          for (const std::uint32_t k : members_) {
            const double l = side(k), score = l * rows.dot(rows.start(k), w_.data());
            scores[0].push_back(score);
            scores[1].push_back(l);
            smallest[l > 0] = std::min(smallest[l > 0], score);
            extended_smallest[l > 0] = std::min(extended_smallest[l > 0], score + alpha_[k] * delta2_[k]);
          }
        },
        packed_->rows);
    for (auto& s : scores) s.resize(whole_lanes(s.size()));
    if (problem_->hard_margin())
      take((smallest[0] + smallest[1]) / 2, dense2, (smallest[0] - smallest[1]) / 2);
    else
      combine(scores, dense2, (extended_smallest[0] - extended_smallest[1]) / 2);
    const double norm = std::sqrt(dense2 + extended);
    return {margin_, norm / t, (extended_smallest[0] + extended_smallest[1]) / 2 / norm};
  }

  // Only a check tells the upper bound: there is none to wait for.
  void checked(double gap, std::optional<double> /*enough*/) { pacing_.checked(visits_, full_passes(), gap); }
  void renew() {}
  double upper_bound() const { return std::numeric_limits<double>::infinity(); }

  void record_updates() { recording_ = true; }
  const std::vector<std::pair<std::int64_t, double>>& recorded_updates() const { return recorded_; }

  const std::vector<double>& dual_weights() const { return alpha_; }
  Support support() const { return all_weights(alpha_); }
  Model model() const { return {best_w_, best_scale_}; }  // the bias last
  std::int64_t updates() const { return iterations_; }
  std::int64_t visits() const { return visits_; }
  std::size_t n_active() const { return active_.size(); }

  // How often a row has been in a working set, on the average.
  std::int64_t full_passes() const {
    return iterations_ * static_cast<std::int64_t>(q) / static_cast<std::int64_t>(members_.size());
  }

 private:
  bool due() {
    return pacing_.due(visits_, full_passes(), upper_bound(), [] { return false; });
  }

  double side(std::uint32_t k) const { return problem_->sides[k]; }
  double gradient(std::uint32_t k) const { return 1 - side(k) * score_[k] - alpha_[k] * delta2_[k]; }

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
      if (can_rise(side(k), alpha_[k])) insert(found.highest, slope, k);
      if (can_fall(side(k), alpha_[k])) insert(found.lowest, -slope, k);
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
    set.alpha.push_back(alpha_[k]);
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
      set.Q[i * n + i] += delta2_[set.rows[i]];
      rows.add_to(change_.data(), rows.start(set.rows[i]), -1.0);  // x - x is zero, exactly
    }
  }

  template <class Rows>
  void apply(const Rows& rows, const WorkingSet& set) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      const double factor = set.side[i] * (set.alpha[i] - alpha_[set.rows[i]]);
      alpha_[set.rows[i]] = set.alpha[i];
      if (recording_) recorded_.emplace_back(set.rows[i], set.alpha[i]);
      rows.add_to(change_.data(), rows.start(set.rows[i]), factor);
      rows.add_to(w_.data(), rows.start(set.rows[i]), factor);
    }
    for (const std::uint32_t k : active_) score_[k] += rows.dot(rows.start(k), change_.data());
    std::fill(change_.begin(), change_.end(), 0.0);
    visits_ += static_cast<std::int64_t>(active_.size());
  }

  // A row at zero whose slope lies within the range of the others, or beyond it on the side it cannot go to, is optimal
  // for any bias in that range.
  void shrink(const Selection& found) {
    constexpr int patience = 2;
    const double high = found.highest.front().first, low = found.lowest.front().first;
    std::size_t ready = 0;
    for (const std::uint32_t k : active_) {
      const double slope = side(k) * gradient(k);
      const bool optimal = alpha_[k] == 0 && (side(k) > 0 ? slope < low : slope > high);
      optimal_for_[k] = optimal ? optimal_for_[k] + 1 : 0;
      ready += optimal_for_[k] > patience;
    }
    if (ready < std::max<std::size_t>({active_.size() / 10, members_.size() / 500, 100})) return;
    std::erase_if(active_, [&](std::uint32_t k) { return optimal_for_[k] > patience; });
  }

  // Everything counts again; scores from scratch, without the rounding errors that they have gathered.
  template <class Rows>
  void activate_all(const Rows& rows) {
    active_ = members_;
    for (const std::uint32_t k : active_) {
      score_[k] = rows.dot(rows.start(k), w_.data());
      optimal_for_[k] = 0;
    }
    visits_ += static_cast<std::int64_t>(active_.size());
  }

  void combine(const SlackRepair<2>::Scores& scores, double dense2, double bias) {
    SlackRepair<2>::Gram gram{};
    gram[0][0] = dense2;  // the bias costs nothing
    const auto found = SlackRepair<2>(scores, penalties_, gram).best({1.0, bias});
    if (!(found.margin > margin_)) return;
    margin_ = found.margin;
    // Where no weights are better than none, they are all zero: with a free bias that is a classifier like any other.
    best_scale_ = 1;
    for (std::size_t j = 0; j < w_.size(); ++j) best_w_[j] = found.c[0] * w_[j];
    best_w_.back() = found.c[1];
  }

  void take(double smallest, double dense2, double bias) {
    const double margin = smallest / std::sqrt(dense2);
    if (!(dense2 > 0) || !(margin > margin_)) return;
    margin_ = margin;
    std::copy(w_.begin(), w_.end(), best_w_.begin());
    best_w_.back() = bias;
    best_scale_ = smallest > 0 ? 1 / smallest : 0;
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  double tolerance_, accuracy_ = 2;
  Generator random_;
  std::vector<std::uint32_t> members_, active_;
  std::vector<double> alpha_, score_;  // score_: w.x_k, up to date for active rows
  std::vector<double> delta2_;
  std::vector<int> optimal_for_;    // iterations in a row, as far as they were looked at
  std::vector<double> w_, change_;  // sum_k alpha_k l_k x_k; room for its change
  std::vector<double> penalties_;
  std::vector<double> best_w_;
  double best_scale_ = 0, margin_ = -std::numeric_limits<double>::infinity();
  std::int64_t iterations_ = 0, visits_ = 0;
  Projection pacing_;
  bool recording_ = false;
  std::vector<std::pair<std::int64_t, double>> recorded_;  // row, dual weight
};

}  // namespace dynmargin
