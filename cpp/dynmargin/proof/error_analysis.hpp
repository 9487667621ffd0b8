// Bounds that are true in real arithmetic, not only up to rounding: what the proofs for two classes and for the joint
// margin share.
//
// Every sum is followed by a bound on its own rounding error (Higham, Accuracy and Stability of Numerical Algorithms,
// chapters 3 and 4; u = 2^-53), and results are rounded outward. `error` is how far the value may be from the exact
// one; a bound is published three errors outward, so that another machine that sums in another order still confirms it.
#pragma once

#include <bit>
#include <cfloat>
#include <cstdint>

#include "dynmargin/data/problem.hpp"

namespace dynmargin {

static_assert(FLT_EVAL_METHOD == 0, "the error bounds need doubles to be computed as doubles");

// Twice the unit roundoff: bounds of the form n * two_u leave a factor 2 for the rounding of the bound itself.
inline constexpr double two_u = std::numeric_limits<double>::epsilon();

// What a product may lose at the lower end of the doubles.
inline constexpr double underflow = std::numeric_limits<double>::denorm_min();

// Outside this range squares may underflow or overflow; nothing is claimed there.
inline constexpr double smallest_square = 1e-250, largest_square = 1e250;

// A bound of the best margin, and how far rounding may have moved it: |value - exact| <= error.
//
// `lower` and `upper` are the only ways to make one, and they claim nothing unless both numbers are finite and the
// error is not negative. So whatever has overflowed or become NaN on the way to a bound fails closed.
class Bound {
 public:
  static Bound lower(double value, double error) { return {value, error, -infinity}; }
  static Bound upper(double value, double error) { return {value, error, infinity}; }
  static Bound no_margin() { return lower(-infinity, 0); }

  const double value, error;

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  static bool claims(double value, double error) { return std::isfinite(value) && std::isfinite(error) && error >= 0; }

  Bound(double found, double distance, double nothing)
      : value(claims(found, distance) ? found : nothing), error(claims(found, distance) ? distance : 0) {}
};

// A sum kept in twice the working precision (Ogita, Rump and Oishi 2005, Sum2): it is wrong by u of itself, and by
// (terms u)² of what was added. Sums over rows or columns are of this kind. If they were plain, no gap below the number
// of rows times u could be proven: 7e-10 on 581,012 rows.
struct CompensatedSum {
  double high = 0, low = 0;

  void add(double term, double term_low = 0) {
    const double sum = high + term, part = sum - high;
    low += ((high - (sum - part)) + (term - part)) + term_low;
    high = sum;
  }
  void add(const CompensatedSum& other) { add(other.high, other.low); }
  void add_product(double a, double b) {
    const double product = a * b;
    add(product, std::fma(a, b, -product));
  }
  // A float has 24 bits: times each of two parts of at most 27 it makes exact products, which costs less than fma does
  // where that is a call. `high` is the larger part, or zero.
  void add_product(double high_part, double low_part, float b) {
    const double higher = high_part * static_cast<double>(b), lower = low_part * static_cast<double>(b);
    const double product = higher + lower;
    add(product, (higher - product) + lower);
  }
  double value() const { return high + low; }
};

// The leading 26 bits of a number; what is left has at most 27.
inline double leading_part(double number) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) & ~((std::uint64_t{1} << 27) - 1));
}

// The relative error of a compensated sum of positive terms, each of which is rounded up to four times.
inline double sum_error(double terms) { return 3 * two_u + (terms * two_u) * (terms * two_u); }

// A sum of squares, and how many of them are not zero: only these are rounded.
struct SquaredNorm {
  double value = 0, terms = 0;
};

// Four at a time, so that the additions do not wait for each other.
inline SquaredNorm squared_norm(std::span<const double> v) {
  constexpr std::size_t n_sums = 4;
  double high[n_sums] = {}, low[n_sums] = {};  // of compensated sums, side by side for the CPU's vectors
  const std::size_t whole = v.size() / n_sums * n_sums;
  for (std::size_t i = 0; i < whole; i += n_sums)
    for (std::size_t lane = 0; lane < n_sums; ++lane) {
      const double term = v[i + lane] * v[i + lane], sum = high[lane] + term, part = sum - high[lane];
      low[lane] += (high[lane] - (sum - part)) + (term - part);
      high[lane] = sum;
    }
  CompensatedSum all{high[0], low[0]};
  for (std::size_t i = whole; i < v.size(); ++i) all.add(v[i] * v[i]);
  for (std::size_t lane = 1; lane < n_sums; ++lane) all.add(high[lane], low[lane]);
  const auto terms = std::count_if(v.begin(), v.end(), [](double c) { return c != 0; });
  return {all.value(), static_cast<double>(terms)};
}

// How far a sum of `terms` products may be off, whatever the order of summation; `size` is the sum of their absolute
// values.
inline double score_error(std::int64_t terms, double size) { return (terms + 4) * (two_u * size + underflow); }

// The same for a compensated sum of exact products, before it is rounded to one double.
inline double compensated_score_error(std::int64_t terms, double size) {
  const double roundings = static_cast<double>(terms + 4) * two_u;
  return roundings * roundings * size + static_cast<double>(terms + 4) * underflow;
}

// What a proof is made from: the matrix as it is given, or the rows as they are packed, if every value is as it is
// stored. Packed rows take less time, and have no columns that do not occur.
template <class F>
void with_view(const MatrixView& matrix, const F& f) {
  std::visit(f, matrix);
}
template <class F>
void with_view(const PackedRows& packed, const F& f) {
  require(!packed.summed, "rows with repetitions are proven from the matrix");
  std::visit(
      [&](const auto& rows) { f(PackedView<std::decay_t<decltype(rows)>>{rows, packed.squared_norms, packed.n_rows}); },
      packed.rows);
}
inline std::int64_t n_columns(const PackedRows& packed) { return packed.n_columns; }

// The entries of all rows, as they are stored.
inline double entries_of(const MatrixView& matrix) {
  return std::visit([](const auto& view) { return static_cast<double>(view.n_entries()); }, matrix);
}
inline double entries_of(const PackedRows& packed) { return static_cast<double>(packed.n_nonzeros); }

// How right a row is: its signed score, or its smallest margin over wrong classes.
struct RowScore {
  double value, low;          // low: as small as the exact one may be
  double error;               // |value - exact| <= error
  double slack, slack_error;  // 1 - score, negative where there is none; it may be known better than the score

  static RowScore plain(double value, double low, double error) {
    const double slack = 1 - value;
    return {value, low, error, slack, error + two_u * std::abs(slack)};
  }
};

// What the scores of weights prove, and what the ball around the optimum needs of them (proof/ball.hpp).
struct Weighed {
  Bound margin;
  double norm2;                           // of the weights
  double smallest = 0, low = 0;           // hard margin: the smallest score, and as small as it may be
  double loss = 0, loss_error = 0;        // soft margin: sum_k Delta_k^-2 max(0, 1 - s_k)², or 2 C_k max(0, 1 - s_k)
  double counted = 0, counted_error = 0;  // sum_k n_k times s_k (hard), s_k - 1 (hinge) or max(0, s_k - 1)
};

// A sum of n_k times something of row k.
class CountedScores {
 public:
  void add(double n, double value, double error) {
    sum_.add_product(n, value);
    gross_ += n * (std::abs(value) + error);
    error_ += n * error;
    ++terms_;
  }
  void add(const CountedScores& other) {
    sum_.add(other.sum_);
    gross_ += other.gross_;
    error_ += other.error_;
    terms_ += other.terms_;
  }
  double value() const { return sum_.value(); }
  // Whatever was added has been rounded once before.
  double error() const { return (error_ + sum_error(terms_) * gross_) * 1.01; }

 private:
  CompensatedSum sum_;
  double gross_ = 0, error_ = 0, terms_ = 0;
};

// What the scores of a block of rows add up to, or those of several.
struct ScoreSums {
  bool finite = true;
  CompensatedSum losses;  // soft margin
  double loss_error = 0, n_losses = 0;
  double smallest = std::numeric_limits<double>::infinity(), low = smallest;  // hard margin
  CountedScores counted;

  void add(const ScoreSums& next) {
    finite &= next.finite;
    losses.add(next.losses);
    loss_error += next.loss_error;
    n_losses += next.n_losses;
    smallest = std::min(smallest, next.smallest);
    low = std::min(low, next.low);
    counted.add(next.counted);
  }
};

// What weights with squared length `norm2`, a sum of `terms` squares, prove by a loss that is known to within an error.
inline Weighed weighed_by_loss(double norm2, double terms, double loss, double loss_error) {
  const double F = norm2 + loss;
  if (!(F > smallest_square && F < largest_square))  // a soft margin is never negative
    return {Bound::lower(0, 0), norm2};
  // d(F^-1/2) = -(1/2) F^-3/2 dF, with some room for what is not of first order. (Where `relative` is above 0.6, F may
  // be so much smaller that the margin is above value + error. That harms nobody: value - 3 error is negative then, and
  // 0 is published.)
  const double relative = (sum_error(terms) * norm2 + loss_error) / F, margin = 1 / std::sqrt(F);
  const double error = ((relative < 0.01 ? 0.51 : 1) * relative + 2 * two_u) * margin;
  return {Bound::lower(margin, error), norm2, 0, 0, loss, loss_error};
}

// The same for the hard margin: by the smallest score, which may be as small as `low`.
inline Weighed weighed_by_smallest(double norm2, double terms, double smallest, double low) {
  if (!(norm2 > smallest_square)) return {Bound::no_margin(), norm2};
  const double norm = std::sqrt(norm2), margin = smallest / norm;
  const double error = (smallest - low) / norm + (sum_error(terms) + 3 * two_u) * std::abs(margin) + 16 * underflow;
  return {Bound::lower(margin, error), norm2, smallest, low};
}

// The margin of weights with squared length `norm2`, a sum of `terms` squares. scorer_from(k) scores the rows from k
// on, in their order: its score(view, k) is the score of row k, and count(k, score, counted) adds what belongs to the
// counts of that row. The margin is 1 / sqrt(F) with F = norm2 + sum_k Delta_k^-2 max(0, 1 - s_k)², twice LinearSVC's
// objective; the same with 2 C_k max(0, ...) for the hinge; for the hard margin min_k s_k / sqrt(norm2).
template <class Data, class AnyProblem, class ScorerFrom>
Weighed margin_of_scores(const Data& data, const AnyProblem& problem, double norm2, double terms, unsigned n_threads,
                         const ScorerFrom& scorer_from) {
  const bool hard = problem.hard_margin(), hinge = problem.loss == Loss::hinge;
  const auto sums_of = [&](const auto& view, std::size_t begin, std::size_t end) {
    auto scorer = scorer_from(static_cast<std::int64_t>(begin));
    ScoreSums sums;
    for (auto k = static_cast<std::int64_t>(begin); k < static_cast<std::int64_t>(end); ++k) {
      if (problem.sides[k] == 0) continue;
      const RowScore score = scorer.score(view, k);
      sums.finite &= std::isfinite(score.value);
      if (hard) {
        sums.smallest = std::min(sums.smallest, score.value);
        sums.low = std::min(sums.low, score.low);
      } else if (score.slack + score.slack_error > 0) {
        const double penalty = problem.penalty(k), kept = std::max(score.slack, 0.0);
        sums.losses.add(hinge ? penalty * kept : penalty * kept * kept);
        sums.loss_error +=
            hinge ? penalty * score.slack_error : penalty * (2 * kept + score.slack_error) * score.slack_error;
        ++sums.n_losses;
      }
      scorer.count(k, score, sums.counted);
    }
    return sums;
  };
  ScoreSums sums;
  with_view(data, [&](const auto& view) {
    sums = Blocks::of_rows(static_cast<std::size_t>(view.n_rows), entries_of(data))
               .sum(
                   n_threads, [&](std::size_t begin, std::size_t end) { return sums_of(view, begin, end); },
                   [](ScoreSums& all, const ScoreSums& next) { all.add(next); });
  });

  if (!(sums.finite && std::isfinite(norm2))) return {Bound::no_margin(), norm2};
  const double loss = sums.losses.value();
  Weighed found = hard ? weighed_by_smallest(norm2, terms, sums.smallest, sums.low)
                       : weighed_by_loss(norm2, terms, loss, sums.loss_error * 1.01 + sum_error(sums.n_losses) * loss);
  found.counted = sums.counted.value();
  found.counted_error = sums.counted.error();
  return found;
}

// ‖a‖ / t, where norm2 is ‖a‖² up to a relative error. `cancelled` bounds the length of what rounding has added to a.
// Squares that have vanished leave a length far below sqrt(smallest_square), however many they are.
inline Bound norm_by_t(double norm2, double t, double relative, double cancelled) {
  const double value = std::sqrt(norm2) / t, vanished = std::sqrt(smallest_square);
  return Bound::upper(value, (relative + 2 * two_u) * value + (cancelled + vanished) / t);
}

// Where the length of a row is known, the sum of its absolute values is at most sqrt(terms) times that: a chain of
// additions less, in a term that hardly counts.
template <class View>
inline constexpr bool knows_lengths = requires(const View& view) { view.length(0); };

// A vector of sums kept in twice the working precision.
class CompensatedVector {
 public:
  explicit CompensatedVector(std::size_t size) : sums_(size) {}

  void add(std::size_t j, double factor, double value) { sums_[j].add_product(factor, value); }

  void add(std::size_t j, double high_factor, double low_factor, float value) {
    sums_[j].add_product(high_factor, low_factor, value);
  }

  void add(const CompensatedVector& other) {
    for (std::size_t j = 0; j < sums_.size(); ++j) sums_[j].add(other.sums_[j]);
  }

  void prefetch(std::size_t j) const { dynmargin::prefetch(&sums_[j]); }
  bool is_large() const { return sums_.size() * sizeof(CompensatedSum) > std::size_t{1} << 18; }  // for the cache

  // The sums, each rounded to one double, after each other.
  void append_to(std::vector<double>& all) const {
    for (const CompensatedSum& sum : sums_) all.push_back(sum.value());
  }

 private:
  std::vector<CompensatedSum> sums_;
};

// What counts prove, and the vector that they add up to, which the ball around the optimum needs (proof/ball.hpp).
struct Counted {
  Bound bound;                     // ‖a‖ / t; for the hinge 1 / sqrt(2 D)
  double t, scale;                 // u = scale a is the dual point
  std::vector<double> a;           // the dense part of a, one block after the other
  std::vector<std::int64_t> bias;  // of each block, sum +-n_k, exact
  double cancelled;                // how much rounding may have added to the length of a
};

// Makes u = t/‖a‖² a: the best scale.
inline Counted at_best_scale(const Bound& bound, double t, std::vector<double> a, std::vector<std::int64_t> bias,
                             double cancelled) {
  return {bound, t, 1 / (bound.value * bound.value * t), std::move(a), std::move(bias), cancelled};
}

// The sum of all counts, which has to be exact.
class Total {
 public:
  void add(std::int64_t n) {
    require(n >= 0 && n <= (std::int64_t{1} << 53) - t_, "counts must be non-negative and add up to at most 2**53");
    t_ += n;
  }
  double value() const { return static_cast<double>(t_); }

 private:
  std::int64_t t_ = 0;
};

// a = sum n_k y_k from counts and data alone, in one block of coordinates or one per class.
class CountedSum {
 public:
  CountedSum(std::int64_t n_columns, std::size_t n_blocks) : n_columns_(n_columns), bias_(n_blocks) {
    blocks_.reserve(n_blocks);  // made in place: filling the list with copies would take the memory of one more
    for (std::size_t c = 0; c < n_blocks; ++c) blocks_.emplace_back(n_columns_);
  }

  // Adds the sum of the rows of another block: one more addition to every coordinate.
  void add(const CountedSum& other) {
    for (std::size_t c = 0; c < blocks_.size(); ++c) {
      blocks_[c].add(other.blocks_[c]);
      bias_[c] += other.bias_[c];
    }
    extended_.add(other.extended_);
    n_extended_ += other.n_extended_;
    gross_ += other.gross_;
    additions_ += other.additions_ + 1;
  }

  // Fetches the sums that a row will be added to: an addition takes so many instructions that the CPU looks only a few
  // of them ahead. (77,567 texts of 915,863 words: 14 ms instead of 31.)
  template <class View>
  void prefetch(const View& view, std::int64_t row, std::size_t block) const {
    if (blocks_[block].is_large())
      view.for_each_entry(row, [&](std::int64_t column, double) { blocks_[block].prefetch(column); });
  }

  // Adds `times` times a row, with its augmentation, to a block.
  template <class View>
  void add(const View& view, std::int64_t row, std::size_t block, std::int64_t times) {
    const auto factor = static_cast<double>(times);
    const double high_factor = std::trunc(factor * 0x1p-27) * 0x1p27, low_factor = factor - high_factor;
    CompensatedVector& sums = blocks_[block];
    double size = 0;
    std::int64_t terms = 0, last = -1;
    bool repeats = false;
    view.for_each_entry(row, [&](std::int64_t column, double value) {
      if constexpr (View::is_float32)
        sums.add(column, high_factor, low_factor, static_cast<float>(value));
      else
        sums.add(column, factor, value);
      if constexpr (!knows_lengths<View>) {
        size += std::abs(value);
        repeats |= column <= last;
        last = column;
      }
      ++terms;
    });
    if constexpr (knows_lengths<View>) size = std::sqrt(static_cast<double>(terms)) * view.length(row) * 1.01;
    additions_ += repeats ? static_cast<double>(terms) : 1;
    gross_ += std::abs(factor) * size;
    bias_[block] += times;
  }

  // A row's own coordinate, n Delta_k.
  void extend(std::int64_t n, double penalty) {
    extended_.add(static_cast<double>(n) * static_cast<double>(n) / penalty);
    ++n_extended_;
  }

  std::int64_t bias(std::size_t block) const { return bias_[block]; }

  // ‖a‖ / t, which without counts is 0 / 0 and claims nothing. (Coordinates that are zero do not count as terms:
  // whether columns that do not occur are there must not matter to whoever proves it again.)
  Counted counted(double rho, double t) const {
    std::vector<double> a;
    a.reserve(blocks_.size() * n_columns_);
    for (const CompensatedVector& block : blocks_) block.append_to(a);
    const SquaredNorm dense = squared_norm(a);
    CompensatedSum norm2 = extended_;
    norm2.add(dense.value);
    for (const std::int64_t bias : bias_)
      norm2.add((static_cast<double>(bias) * rho) * (static_cast<double>(bias) * rho));
    // No coordinate is a sum of more terms than there were additions; this is lost despite the compensation.
    const double lost = (additions_ + 4) * two_u, cancelled = lost * lost * gross_ * 1.01;
    const double relative = sum_error(dense.terms + n_extended_ + static_cast<double>(bias_.size()));
    return at_best_scale(norm_by_t(norm2.value(), t, relative, cancelled), t, std::move(a), bias_, cancelled);
  }

 private:
  std::vector<CompensatedVector> blocks_;
  std::size_t n_columns_;
  std::vector<std::int64_t> bias_;  // whole numbers, exact
  CompensatedSum extended_;
  double n_extended_ = 0, gross_ = 0;  // gross: sum |n_k| |x_kj|, which bounds what cancels in the blocks
  double additions_ = 0;               // the most that any coordinate can have had
};

}  // namespace dynmargin
