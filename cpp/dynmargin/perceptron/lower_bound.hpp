// The weights that are returned: the best combination of the state, an average of recent states, the bias, and the
// best so far.
//
// At each check the best combination is found by slack repair. (Without the best so far, Adult at C=10 takes 78 visits
// per row to a certified 1 % instead of 25.)
#pragma once

#include "dynmargin/order/snapshot.hpp"
#include "dynmargin/perceptron/best_weights.hpp"
#include "dynmargin/perceptron/state.hpp"

namespace dynmargin {

class LowerBound : public BestWeights<4, 2> {  // the state, the average, the bias and the best weights
 public:
  LowerBound(const PackedRows& packed, const Problem& problem)
      : BestWeights(packed, problem), problem_(problem), n_rows_(packed.n_rows), w_(packed.n_columns + 1) {}

  // Takes the state into the average, after `visits` more visits, once these have cost several times what this does.
  template <class Count>
  void remember(const BasicState<Count>& a, std::size_t visits) {
    visits_ += static_cast<double>(visits);
    if (visits_ * (row_length_ + 1) < 4 * static_cast<double>(a.w.size())) return;
    visits_ = 0;
    take_into_average(a, w_.size());
  }

  // Looks for better weights at this state; returns min_k a.y_k, a by-product.
  template <class P, class Count>
  double improve(const P& patterns, const BasicState<Count>& a) {
    const double scale = canonical_scale(a.totals);
    pair_up(a);
    for (const std::size_t i : {0, 1, 3}) scores_[i].resize(whole_lanes(members_.size()));
    const auto score_block = [&](std::size_t begin, std::size_t end) {
      double smallest = std::numeric_limits<double>::infinity();
      for (std::size_t i = begin; i < end; ++i) {
        const Member m = members_[i];
        const auto& y = a.patterns[m.row()];
        const Half score = patterns.dense_dots(both_, y, m.side());
        smallest = std::min(smallest, score[0] + static_cast<double>(y.count) * y.delta2);
        scores_[0][i] = scale * score[0];
        scores_[1][i] = score[1];
      }
      return smallest;
    };
    const double smallest = blocks().sum(problem_.n_threads, score_block,
                                         [](double& least, double next) { least = std::min(least, next); });
    problem_.hard_margin() ? combine_hard(scale) : combine(scale);
    return smallest;
  }

  // The counts that the best weights imply, by row and as shares: at the optimum they are in proportion to the
  // slacks, times Delta_k^-2. Empty if there are no such weights.
  std::vector<double> shares() const {
    if (!found_) return {};
    std::vector<double> shares(n_rows_);
    double sum = 0;
    for (std::size_t i = 0; i < members_.size(); ++i)
      sum += shares[members_[i].row()] = penalty(i) * std::max(0.0, 1 - scores_[3][i]);
    if (!(sum > 0 && std::isfinite(sum))) return {};
    for (double& share : shares) share /= sum;
    return shares;
  }

  // Memory for about one number per row, free for other uses between two checks.
  std::vector<double>& room() { return scores_[0]; }

  const std::vector<double>& w() const { return w_; }  // the bias last
  bool found() const { return found_; }                // whether w() is better than no weights

  // Weights found elsewhere, if they are better; `scores` are those of the members, up to whole lanes.
  void take_better(const std::vector<double>& w, const std::vector<double>& scores, double margin) {
    if (!(margin > margin_)) return;
    w_ = w;
    scores_[3] = scores;
    margin_ = margin;
    scale_ = 1;
    found_ = true;
  }

  // The scores of the best weights are part of the state; the others are computed anew at every check.
  template <class Snapshot>
  void snapshot(Snapshot& s) {
    BestWeights::snapshot(s, w_.size());
    s(visits_, found_);
    s.fixed(w_);
    s.fixed_or_empty(scores_[3], whole_lanes(members_.size()));
    require_intact(!found_ || !scores_[3].empty());
  }

 private:
  template <class Count>
  void pair_up(const BasicState<Count>& a) {
    const auto average = [&](std::size_t j) { return average_.empty() ? 0.0 : average_[j]; };
    both_.resize(w_.size());
    for (std::size_t j = 0; j < a.w.size(); ++j) both_[j] = Half{a.w[j], average(j)};
    both_.back() = Half{a.bias, average(a.w.size())};
  }

  // Products of the scaled state, the average, the bias direction and the best weights.
  Gram gram_at(double scale) const {
    struct Products {
      Half squares{}, with_w{};  // uu and vv, uw and vw
      double uv = 0, ww = 0;
      void add(Half uv_pair, double w_j) {
        squares += uv_pair * uv_pair;
        with_w += uv_pair * w_j;
        uv += uv_pair[0] * uv_pair[1];
        ww += w_j * w_j;
      }
    };
    Products even, odd;  // additions of one do not wait for those of the other
    const auto w_at = [&](std::size_t j) { return found_ ? w_[j] : 0.0; };
    std::size_t j = 0;
    for (; j + 2 <= both_.size(); j += 2) {
      even.add(both_[j], w_at(j));
      odd.add(both_[j + 1], w_at(j + 1));
    }
    if (j < both_.size()) even.add(both_[j], w_at(j));
    const Half squares = even.squares + odd.squares, with_w = even.with_w + odd.with_w;
    const double uu = squares[0], vv = squares[1], uw = with_w[0], vw = with_w[1];
    const double uv = even.uv + odd.uv, ww = even.ww + odd.ww;
    const double u = both_.back()[0], v = both_.back()[1], w = found_ ? w_.back() : 0;
    return {{{scale * (scale * uu), scale * uv, scale * u, scale * uw},
             {scale * uv, vv, v, vw},
             {scale * u, v, 1, w},
             {scale * uw, vw, w, ww}}};
  }

  void take(double scale, const Combined& c, double margin, double model_scale) {
    margin_ = margin;
    scale_ = model_scale;
    for (std::size_t j = 0; j < w_.size(); ++j)
      w_[j] = c[0] * scale * both_[j][0] + c[1] * both_[j][1] + (found_ ? c[3] * w_[j] : 0);
    w_.back() += c[2];
  }

  double score_of_bias(std::size_t i) const { return members_[i].side() * problem_.rho; }

  void combine(double scale) {
    const Gram gram = gram_at(scale);
    const Repair repair(scores_, penalties_, gram, problem_.n_threads, problem_.rho);
    auto found = repair.best(found_ ? Combined{0, 0, 0, 1} : start_);
    // Where slacks are expensive, descent from the best weights may end at once; from the last combination of others it
    // may go on.
    if (found_ && !(found.margin > (1 + 1e-6) * margin_)) {
      const auto other = repair.best(start_);
      start_ = {other.c[0], other.c[1], other.c[2], 0};
      if (other.margin > found.margin) found = other;
    }
    if (!(found.margin > margin_)) return;
    // Where no weights are better than none, the direction of the state is all there is.
    if (found.c == Combined{}) return take(scale, {1, 0, 0, 0}, found.margin, 0);
    take(scale, found.c, found.margin, 1);
    for (std::size_t i = 0; i < members_.size(); ++i)
      scores_[3][i] = found.c[0] * scores_[0][i] + found.c[1] * scores_[1][i] + found.c[2] * score_of_bias(i) +
                      found.c[3] * scores_[3][i];
    if (!found_) start_ = found.c;
    found_ = true;
  }

  // Without the best weights: once slacks are expensive there is little to gain by them (8.6 instead of 10 ms on 4,596
  // separable rows of 20 columns).
  void combine_hard(double scale) {
    const Gram gram = gram_at(scale);
    const auto best = [&]() -> Combined {
      SmallMatrix<3> of_three;
      for (std::size_t i = 0; i < 3; ++i) std::copy_n(gram[i].begin(), 3, of_three[i].begin());
      const SlackRepair<3, 2> repair{std::span(scores_).first<3>(), penalties_, of_three, problem_.n_threads,
                                     problem_.rho};
      const auto c = repair.best({start_[0], start_[1], start_[2]}).c;
      return {c[0], c[1], c[2], 0};
    };
    const auto norm2_of = [&](const Combined& c) {
      double norm2 = 0;
      for (std::size_t i = 0; i < c.size(); ++i)
        for (std::size_t j = 0; j < c.size(); ++j) norm2 += c[i] * gram[i][j] * c[j];
      return norm2;
    };
    const auto smallest_of = [&](const Combined& c) {
      double smallest = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < members_.size(); ++k)
        smallest = std::min(smallest, c[0] * scores_[0][k] + c[1] * scores_[1][k] + c[2] * score_of_bias(k));
      return smallest;
    };
    BestWeights::combine_hard(
        gram, best, norm2_of, smallest_of,
        [&](const Combined& c, double margin, double model_scale) { take(scale, c, margin, model_scale); });
  }

  const Problem& problem_;
  std::int64_t n_rows_;
  std::vector<Half> both_;  // the coordinates of the state and of the average, side by side
  double visits_ = 0;       // since the last state was taken in
  Repair::Scores scores_;   // of the state, the average and the best weights; those of the bias are not stored
  bool found_ = false;      // best weights, of which the scores are known
  std::vector<double> w_;
};

}  // namespace dynmargin
