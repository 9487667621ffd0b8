// The two bounds of a certificate, proven from the data and a witness each.
//
//   weights (w, b)  ->  a margin that they have:          lower bound of the best margin gamma_d
//   counts n_k      ->  ‖sum n_k y_k‖ / sum n_k:           upper bound of gamma_d, whatever made the counts
//   both            ->  a ball that contains the optimum:  which predictions are settled
#pragma once

#include <optional>

#include "dynmargin/proof/ball.hpp"

namespace dynmargin {

// Counts by row, for a pass over all rows in order.
class CountsInOrder {
 public:
  CountsInOrder(std::span<const std::int64_t> rows, std::span<const std::int64_t> counts)
      : rows_(rows), counts_(counts) {}

  // For rows from k on.
  CountsInOrder from(std::int64_t k) const {
    const auto first = static_cast<std::size_t>(std::lower_bound(rows_.begin(), rows_.end(), k) - rows_.begin());
    return {rows_.subspan(first), counts_.subspan(first)};
  }

  // The count of row k; rows must be asked for in increasing order.
  double of(std::int64_t k) {
    while (next_ < rows_.size() && rows_[next_] < k) ++next_;
    return next_ < rows_.size() && rows_[next_] == k ? static_cast<double>(counts_[next_]) : 0;
  }

 private:
  std::span<const std::int64_t> rows_, counts_;
  std::size_t next_ = 0;
};

// How scores are computed. Plain sums are wrong by as many roundings as a row has entries: 1e-14 or so, which only
// matters to a gap that is almost as small. (Compensated scores take three times as long.)
enum class Scores { plain, compensated };

// The score w.x_k + b of a row, not signed yet.
template <class View>
RowScore compensated_score(const View& view, std::int64_t k, std::span<const double> w, double b, double side) {
  CompensatedSum score;
  score.add(b);
  double size = std::abs(b);
  std::int64_t terms = 1;
  view.for_each_cell(k, [&](std::int64_t column, double value) {
    if constexpr (View::is_float32) {
      const double high = leading_part(w[column]);
      score.add_product(high, w[column] - high, static_cast<float>(value));
    } else {
      score.add_product(w[column], value);
    }
    size += std::abs(w[column] * value);
    terms += value != 0;
  });
  const double high = side * score.high, low = side * score.low, value = high + low, slack = (1 - high) - low;
  const double lost = compensated_score_error(terms, size), error = lost + two_u * std::abs(value);
  return {value, value - error, error, slack, lost + 2 * two_u * std::abs(slack)};
}

template <class View>
RowScore plain_score(const View& view, std::int64_t k, std::span<const double> w, double b, double side) {
  double score = b, size = std::abs(b);
  std::int64_t terms = 1;
  if constexpr (requires { view.sized_dot(k, w.data()); }) {
    const SizedSum sum = view.sized_dot(k, w.data());
    score += sum.value;
    size += sum.size;
    terms += sum.terms;
  } else {
    view.for_each_cell(k, [&](std::int64_t column, double value) {
      const double product = w[column] * value;
      score += product;
      size += std::abs(product);
      terms += value != 0;
    });
  }
  if (side < 0) score = -score;
  const double error = score_error(terms, size);
  return RowScore::plain(score, score - error, error);
}

// Scores rows one after the other, and adds up what belongs to their counts.
template <class ScoreOf>
class RowScorer {
 public:
  RowScorer(const Problem& problem, const ScoreOf& score_of, CountsInOrder counts)
      : problem_(problem), score_of_(score_of), counts_(counts) {}

  template <class View>
  RowScore score(const View& view, std::int64_t k) const {
    return score_of_(view, k, problem_.sides[k]);
  }

  void count(std::int64_t k, const RowScore& score, CountedScores& counted) {
    const double n = counts_.of(k);
    if (n == 0) return;
    const bool hinge = problem_.loss == Loss::hinge;
    if (problem_.hard_margin())
      counted.add(n, score.value, score.error);
    else if (hinge || score.slack < score.slack_error)
      counted.add(n, hinge ? -score.slack : std::max(0.0, -score.slack), score.slack_error);
  }

 private:
  const Problem& problem_;
  const ScoreOf& score_of_;
  CountsInOrder counts_;
};

// The margin of the weights (w, b), with ‖w‖² + (b/rho)² as their squared length, and what the counts of the rows add
// up to with their scores. `data` is a matrix, or packed rows, and w has the columns of that.
template <class Data>
Weighed weigh(const Data& data, const Problem& problem, std::span<const double> w, double b, CountsInOrder counts,
              Scores scores, unsigned n_threads) {
  const DefaultArithmetic arithmetic;
  // Without an augmentation there can be no intercept, unless it is free: then margins are geometric. Where no row
  // takes part, nothing else would notice one that is not a number.
  if (!std::isfinite(b) || (problem.rho == 0 && b != 0 && !problem.free_bias)) return {Bound::no_margin(), 0};
  const SquaredNorm of_weights = squared_norm(w);
  double norm2 = of_weights.value;
  if (problem.rho != 0) norm2 += (b / problem.rho) * (b / problem.rho);
  const auto with = [&](const auto& score_of) {
    return margin_of_scores(data, problem, norm2, of_weights.terms, n_threads,
                            [&](std::int64_t k) { return RowScorer(problem, score_of, counts.from(k)); });
  };
  if (scores == Scores::compensated)
    return with([&](const auto& view, std::int64_t k, double side) { return compensated_score(view, k, w, b, side); });
  return with([&](const auto& view, std::int64_t k, double side) { return plain_score(view, k, w, b, side); });
}

template <class Data>
Bound margin_of_weights(const Data& data, const Problem& problem, std::span<const double> w, double b) {
  return weigh(data, problem, w, b, {{}, {}}, Scores::plain, problem.n_threads).margin;
}

// For the hinge: counts n_k prove a dual value D, and no objective lies below it. With dual weights alpha_k = s n_k,
// D = s t - s² ‖a‖²/2; s is the best scale t / ‖a‖² or, if that is too large, the largest with s n_k <= C_k for all k,
// which is `largest_scale`. The bound is 1 / sqrt(2 D), what a margin is for the squared hinge.
inline Counted bounded_by_hinge(Counted counted, double largest_scale) {
  constexpr double inward = 1 - 8 * two_u;  // keeps s n_k <= C_k true in real arithmetic
  const Bound norm_by_t = counted.bound;
  const double t = counted.t;
  const auto scale = [&](double norm) { return std::min(t / norm / norm, largest_scale) * inward; };
  // What the bound is if ‖a‖ is `norm`; `otherwise` where D is out of range.
  const auto bound = [&](double norm, double otherwise) {
    const double s = scale(norm);
    const double D = s * t - (s * norm) * (s * norm) / 2;  // at least s t / 2: nothing cancels
    return D > smallest_square && D < largest_square ? 1 / std::sqrt(2 * D) : otherwise;
  };
  const double longest = (norm_by_t.value + norm_by_t.error) * t;
  const double high = bound(longest, std::numeric_limits<double>::infinity());
  const double low = bound(std::max(0.0, norm_by_t.value - norm_by_t.error) * t, 0);
  return {Bound::upper(high, (high - low) + 16 * two_u * high),
          t,
          scale(longest),
          std::move(counted.a),
          std::move(counted.bias),
          counted.cancelled};
}

// Blocks of rows with counts, whose vectors are summed.
inline Blocks blocks_of_counts(std::size_t n_counts, double entries, std::int64_t n_rows, std::int64_t width) {
  const double share = static_cast<double>(n_counts) / static_cast<double>(std::max<std::int64_t>(1, n_rows));
  return Blocks::of_sums(n_counts, share * entries, static_cast<std::size_t>(std::max<std::int64_t>(1, width)));
}

// What counts add up to without a look at the values of the rows.
struct CountedRows {
  CompensatedSum extended;  // sum n_k² Delta_k²
  double gross = 0;         // sum n_k ‖x_k‖
  std::int64_t t = 0, bias = 0;
};

// Nothing where something is wrong with the counts: the slow way says what.
inline std::optional<CountedRows> counted_rows(const PackedRows& packed, const Problem& problem,
                                               std::span<const std::int64_t> rows,
                                               std::span<const std::int64_t> counts) {
  CountedRows found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t k = rows[i], n = counts[i];
    if (!problem.has_row(k) || (i > 0 && k <= rows[i - 1]) || n < 0 || n > (std::int64_t{1} << 53) - found.t)
      return std::nullopt;
    const auto times = static_cast<double>(n);
    found.gross += times * std::sqrt(packed.squared_norms[k]);
    found.extended.add(times * times / problem.penalty(k));
    found.bias += problem.sides[k] > 0 ? n : -n;
    found.t += n;
  }
  return found;
}

// Plain sums of some rows at a time, which are added up in twice the working precision: then rounding does not grow
// with the number of rows. So many that this takes little time.
inline std::size_t rows_per_part(std::int64_t n_columns, std::size_t n_rows, double entries) {
  constexpr double fewest = 32;
  const double rows_per_sum = static_cast<double>(n_columns) * static_cast<double>(n_rows) / std::max(1.0, entries);
  return static_cast<std::size_t>(fewest * std::max(1.0, rows_per_sum));
}

// The dense part of a = sum n_k y_k in the working precision, or nearly so, which takes a third of the time of
// compensated sums. (639 texts of 534 words: 0.35 ms instead of 1.2.)
class PlainSum {
 public:
  PlainSum(const PackedRows& packed, const Problem& problem, std::span<const std::int64_t> rows,
           std::span<const std::int64_t> counts)
      : packed_(packed), problem_(problem), rows_(rows), counts_(counts) {
    // Rows that are left out have no say in the order of the sums.
    const std::size_t n_rows = problem.n_members();
    const auto entries = static_cast<double>(n_nonzeros(packed, problem));
    part_ = rows_per_part(packed.n_columns, n_rows, entries);
    blocks_ = blocks_of_counts(rows.size(), entries, static_cast<std::int64_t>(n_rows), packed.n_columns);
  }

  // How much rounding adds at most to its length: every coordinate is one of at most as many products as a part has
  // rows, whose sizes add up to at most sum n_k ‖x_k‖ = gross; parts lose a rounding or two, blocks one each.
  double cancelled(double gross) const {
    const auto roundings = static_cast<double>(std::min(part_, rows_.size()) + blocks_.count());
    return (roundings + 8) * two_u * gross * 1.01;
  }

  // Whether threads can share it. Vectors that are long beside the rows are added up in one go.
  bool can_be_shared() const { return blocks_.count() > 1; }
  std::int64_t n_columns() const { return packed_.n_columns; }

  std::vector<double> operator()() const {
    return blocks_.sum(
        problem_.n_threads, [&](std::size_t begin, std::size_t end) { return sum_of_block(begin, end); },
        [](std::vector<double>& all, const std::vector<double>& next) {
          for (std::size_t j = 0; j < all.size(); ++j) all[j] += next[j];
        });
  }

 private:
  std::vector<double> sum_of_block(std::size_t begin, std::size_t end) const {
    std::vector<double> part(packed_.n_columns);
    if (end - begin <= part_) {
      add_rows(part, begin, end);
      return part;
    }
    std::vector<CompensatedSum> sums(part.size());
    for (; begin < end; begin += part_) {
      add_rows(part, begin, std::min(end, begin + part_));
      for (std::size_t j = 0; j < part.size(); ++j) sums[j].add(std::exchange(part[j], 0.0));
    }
    for (std::size_t j = 0; j < part.size(); ++j) part[j] = sums[j].value();
    return part;
  }

  void add_rows(std::vector<double>& a, std::size_t begin, std::size_t end) const {
    std::visit(
        [&](const auto& packed_rows) {
          for (std::size_t i = begin; i < end; ++i) {
            if (i + 8 < end) packed_rows.prefetch_row(packed_rows.start(rows_[i + 8]));
            const auto times = static_cast<double>(counts_[i]);
            packed_rows.add_to(a.data(), packed_rows.start(rows_[i]), problem_.sides[rows_[i]] > 0 ? times : -times);
          }
        },
        packed_.rows);
  }

  const PackedRows& packed_;
  const Problem& problem_;
  std::span<const std::int64_t> rows_, counts_;
  std::size_t part_ = 0;
  Blocks blocks_{0};
};

// How far rounding may move a bound: by this part of the distance between the two, or by this part of the gap that was
// asked for, times the margin. (Where Newton's method has all but closed the gap, only rounding is left of it.)
inline constexpr double negligible_error = 1e-5, invisible_error = 1e-8;

// Whether what rounding has added to a is negligible for a gap of the usual size.
inline bool is_negligible(double cancelled, double margin, double t) {
  constexpr double usual_gap = 0.01;
  return cancelled <= negligible_error * usual_gap * margin * t;
}

// What counts that add up to (a, bias) prove, for the squared hinge and the hard margin. Of their squared slacks, a
// compensated sum of `n_counts` terms, `extended_error` is unknown for other reasons.
inline Counted counted_by_sums(std::vector<double> a, std::int64_t bias, CompensatedSum extended, double n_counts,
                               double rho, double t, double cancelled, double extended_error = 0) {
  const SquaredNorm dense = squared_norm(a);
  const double augmented = static_cast<double>(bias) * rho;
  extended.add(dense.value);
  extended.add(augmented * augmented);
  const double norm2 = extended.value(), unknown = extended_error == 0 ? 0 : extended_error / norm2;
  const Bound bound = norm_by_t(norm2, t, sum_error(dense.terms + n_counts) + unknown, cancelled);
  return at_best_scale(bound, t, std::move(a), {bias}, cancelled);
}

// ‖a‖ / t from plain sums, if the error that this leaves is negligible.
class QuickBound {
 public:
  QuickBound(const PackedRows& packed, const Problem& problem, std::span<const std::int64_t> rows,
             std::span<const std::int64_t> counts)
      : rho_(problem.rho), n_counts_(static_cast<double>(rows.size())), entries_(entries_of(packed)) {
    if (packed.summed || problem.loss == Loss::hinge || problem.free_bias) return;
    const DefaultArithmetic arithmetic;
    found_ = counted_rows(packed, problem, rows, counts);
    if (found_) sum_.emplace(packed, problem, rows, counts);
  }

  // Whether it is best that one of the threads adds up while the others score the rows: threads cannot share the sum,
  // it is long enough, and the rows do not take much longer. (With T threads, sums S and scores W take the longer of S
  // and W / (T - 1) side by side, and S + W / T one after the other.)
  bool is_for_one_thread(unsigned n_threads, double n_rows) const {
    constexpr double worthwhile = 1 << 16, per_column = 4;
    if (n_threads < 2 || !sum_ || sum_->can_be_shared() || !(n_columns() > worthwhile)) return false;
    const double sum = n_counts_ / n_rows * entries_ + per_column * n_columns();
    return entries_ < n_threads * (n_threads - 1.0) * sum;
  }

  // The bound is known after this, if not yet whether it is good enough.
  void add_up() {
    const DefaultArithmetic arithmetic;
    counted_.emplace(counted_by_sums((*sum_)(), found_->bias, found_->extended, n_counts_, rho_, t(), cancelled()));
  }

  // Nothing if the error is neither negligible nor at most `tolerated`.
  std::optional<Counted> bound(double margin, double tolerated) {
    if (!sum_ || !is_negligible(cancelled(), margin, t())) return std::nullopt;
    if (!counted_) add_up();
    Counted& counted = *counted_;
    if (!(counted.bound.error <= std::max(negligible_error * (counted.bound.value - margin), tolerated)))
      return std::nullopt;
    return std::move(counted);
  }

 private:
  double t() const { return static_cast<double>(found_->t); }
  double cancelled() const { return sum_->cancelled(found_->gross); }
  double n_columns() const { return static_cast<double>(sum_->n_columns()); }

  double rho_, n_counts_, entries_;
  std::optional<CountedRows> found_;
  std::optional<PlainSum> sum_;
  std::optional<Counted> counted_;
};

// ‖a‖ / t for a = sum n_k y_k, from the counts and the data alone.
template <class Data>
Counted bound_of_counts(const Data& data, const Problem& problem, std::span<const std::int64_t> rows,
                        std::span<const std::int64_t> counts) {
  const DefaultArithmetic arithmetic;
  Total t;
  double largest_scale = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t k = rows[i], n = counts[i];
    require(i == 0 || k > rows[i - 1], "the rows of counts must increase");
    t.add(n);
    if (n == 0) continue;
    require(problem.has_row(k), "a count belongs to no row of this data");
    if (problem.loss == Loss::hinge)
      largest_scale = std::min(largest_scale, problem.penalty(k) / 2 / static_cast<double>(n));
  }
  CountedSum a(0, 1);
  with_view(data, [&](const auto& view) {
    const auto sum_of = [&](std::size_t begin, std::size_t end) {
      CountedSum sum(n_columns(data), 1);
      for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t k = rows[i], n = counts[i];
        if (n == 0) continue;
        if (i + 1 < end && counts[i + 1] != 0) sum.prefetch(view, rows[i + 1], 0);
        sum.add(view, k, 0, problem.sides[k] > 0 ? n : -n);
        if (problem.loss != Loss::hinge) sum.extend(n, problem.penalty(k));
      }
      return sum;
    };
    a = blocks_of_counts(rows.size(), entries_of(data), view.n_rows, n_columns(data))
            .sum(problem.n_threads, sum_of, [](CountedSum& all, const CountedSum& next) { all.add(next); });
  });
  // u.a = sum n_k (l_k (u.x_k + b)) for any b only if the two sides have the same sum.
  require(!problem.free_bias || a.bias(0) == 0, "with a free bias the counts of the two sides must have the same sum");
  Counted found = a.counted(problem.rho, t.value());
  if (problem.loss == Loss::hinge) return bounded_by_hinge(std::move(found), largest_scale);
  return found;
}

// As it is best for packed rows: quickly, if the bound is far enough from a margin for rounding not to matter.
inline Counted bound_of_counts(const PackedRows& packed, const Problem& problem, std::span<const std::int64_t> rows,
                               std::span<const std::int64_t> counts, double margin) {
  std::optional<Counted> quick = QuickBound(packed, problem, rows, counts).bound(margin, 0);
  if (quick) return std::move(*quick);
  return bound_of_counts(packed, problem, rows, counts);
}

// Proves all that weights and counts prove. Where it is to be published, sums are plain unless their error shows in the
// gap: in the one that there is, or in one far below the one that was asked for. Whoever confirms it always
// compensates, so that no decision of this kind has to be made alike.
template <class Data>
Proof prove(const Data& data, const Problem& problem, std::span<const double> w, double b,
            std::span<const std::int64_t> rows, std::span<const std::int64_t> counts, bool confirming,
            double epsilon = 0) {
  constexpr double visible = 1e-3;  // of the gap
  const DefaultArithmetic arithmetic;
  const CountsInOrder in_order(rows, counts);
  const auto with = [&](Scores scores, unsigned n_threads) {
    return weigh(data, problem, w, b, in_order, scores, n_threads);
  };
  const Scores first = confirming ? Scores::compensated : Scores::plain;
  const auto tolerated_at = [&](double margin) { return invisible_error * epsilon * std::max(0.0, margin); };
  const auto [weights, counted] = [&] {
    if constexpr (std::is_same_v<Data, PackedRows>) {
      QuickBound quick(data, problem, rows, counts);
      std::optional<Weighed> weights;
      if (quick.is_for_one_thread(problem.n_threads, static_cast<double>(problem.n_members())))
        in_threads(2, 2, [&](std::size_t task) {
          if (task == 0)
            quick.add_up();
          else
            weights.emplace(with(first, problem.n_threads - 1));
        });
      else
        weights.emplace(with(first, problem.n_threads));
      const double margin = weights->margin.value;
      std::optional<Counted> bound = quick.bound(margin, tolerated_at(margin));
      return std::pair{*weights, bound ? std::move(*bound) : bound_of_counts(data, problem, rows, counts)};
    } else {
      return std::pair{with(first, problem.n_threads), bound_of_counts(data, problem, rows, counts)};
    }
  }();
  const double margin = weights.margin.value, tolerated = tolerated_at(margin);
  if (!confirming && weights.margin.error > std::max(visible * (counted.bound.value - margin), tolerated)) {
    const Weighed again = with(Scores::compensated, problem.n_threads);
    return {again.margin, counted.bound, problem.free_bias ? Ball() : ball_of(problem, w, {&b, 1}, again, counted)};
  }
  return {weights.margin, counted.bound, problem.free_bias ? Ball() : ball_of(problem, w, {&b, 1}, weights, counted)};
}

}  // namespace dynmargin
