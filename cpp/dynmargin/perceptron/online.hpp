// PDM strictly online (paper, Section 2): a row is presented once, when it arrives, and is not kept.
//
// The state is a = sum n_k y_k as everywhere: w = sum n_k l_k x_k, t = sum n_k, ‖a‖². A row that arrives has no count
// yet, so nothing but w is needed to see whether it is misclassified; of the extension coordinates only their share of
// ‖a‖², sum n_k² Delta_k², is kept. The bound ‖a‖/t holds for all rows seen so far, whichever of them had a count
// (equation 4), and is published with the rounding errors of the running sums added to it.
//
// As in the paper's first full pass, updates are single. A row of weight m counts as m rows: it may be added up to m
// times (rounded up) while it is misclassified.
//
// The model is not the last w but the average of w over the rows presented: w swings, its average does not.
#pragma once

#include "dynmargin/data/digest.hpp"
#include "dynmargin/proof/error_analysis.hpp"
#include "dynmargin/rules/dynamic_margin.hpp"

namespace dynmargin {

// A row and its side in one word, by which it is recognised when it comes again. The weight is not part of it: counts
// prove a bound with any weights.
inline std::uint64_t row_key(std::uint64_t row_digest, std::int8_t side) {
  return mix64(row_digest + static_cast<std::uint64_t>(side + 2));
}

// All that is remembered of the stream, so that a copy continues as the original would.
struct OnlineSums {
  double rho = 0;
  std::vector<double> w;         // sum n_k l_k x_k
  std::vector<double> moment;    // the same, each update times the number of the row that made it
  double bias_moment = 0;        // the same for sum n_k l_k
  std::int64_t signed_t = 0;     // sum n_k l_k
  Totals totals;                 // t and the running ‖a‖²
  double extended = 0;           // sum n_k² Delta_k²
  double gross = 0;              // sum n_k ‖x_k‖_1, which bounds what has cancelled in w
  double additions = 0;          // no coordinate of w is a sum of more terms
  double rows_seen = 0;          // rows of zero weight do not count
  std::int64_t since_fresh = 0;  // updates since ‖a‖² was last computed from scratch
  bool keep_counts = true;
  std::vector<std::uint64_t> keys;   // of the rows with a count,
  std::vector<std::int64_t> counts;  // and the counts; the only part that grows

  // Refuses sums that no stream can have left: a stored state may be damaged.
  void require_valid() const {
    const auto finite = [](const std::vector<double>& v) {
      return std::all_of(v.begin(), v.end(), [](double c) { return std::isfinite(c); });
    };
    bool valid = w.size() == moment.size() && finite(w) && finite(moment) && keys.size() == counts.size() &&
                 (keep_counts || keys.empty()) && totals.t == std::floor(totals.t) && totals.t <= largest_count &&
                 std::abs(static_cast<double>(signed_t)) <= totals.t && since_fresh >= 0 && std::isfinite(bias_moment);
    for (const double number : {rho, totals.t, totals.norm2, extended, gross, additions, rows_seen})
      valid &= number >= 0 && std::isfinite(number);
    double counted = 0;
    for (const std::int64_t count : counts) {
      valid &= count > 0 && static_cast<double>(count) <= totals.t;
      counted += static_cast<double>(count);
    }
    if (!valid || counted > totals.t) throw std::invalid_argument("the state of the stream is damaged");
  }
};

class OnlineState {
 public:
  OnlineState(std::int64_t n_columns, double rho, bool keep_counts) {
    require(n_columns >= 0 && rho >= 0 && std::isfinite(rho), "n_columns and rho must not be negative or infinite");
    sums_.rho = rho;
    sums_.w.resize(n_columns);
    sums_.moment.resize(n_columns);
    sums_.keep_counts = keep_counts;
  }
  explicit OnlineState(OnlineSums sums) : sums_(std::move(sums)) { sums_.require_valid(); }

  const OnlineSums& sums() const { return sums_; }

  // Presents the rows in their order. `repeats` is how often each may be added; once if it is empty.
  void present(const MatrixView& matrix, const Problem& problem, std::span<const double> repeats, double eps) {
    std::visit(
        [&](const auto& view) {
          require_lengths(view);
          const DynamicMargin rule{eps};
          for (std::int64_t k = 0; k < view.n_rows; ++k)
            if (problem.sides[k] != 0) present_row(view, k, problem, repeats.empty() ? 1 : repeats[k], rule);
        },
        matrix);
  }

  // Begins with the counts of a finished fit, and with its model as the average of the states so far. `keys` are those
  // of all rows.
  void take_over(const MatrixView& matrix, const Problem& problem, std::span<const std::int64_t> rows,
                 std::span<const std::int64_t> counts, std::span<const std::uint64_t> keys,
                 std::span<const double> model) {
    std::visit(
        [&](const auto& view) {
          for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::int64_t k = rows[i];
            add(view, k, read_row(view, k, room_), problem, static_cast<double>(counts[i]));
            if (sums_.keep_counts) remember(keys[k], counts[i]);
          }
        },
        matrix);
    for (const std::int8_t side : problem.sides) sums_.rows_seen += side != 0;
    refresh();
    // The average is ((N + 1) w - moment) / N; here it is to be the model, at the length of a. Both have length
    // 1 / gamma_d at the optimum, once a is multiplied by t / ‖a‖².
    const double length = sums_.totals.t > 0 ? sums_.totals.norm2 / sums_.totals.t : 0, N = sums_.rows_seen;
    const auto seed = [&](double sum, double c) { return (N + 1) * sum - N * length * c; };
    for (std::size_t j = 0; j < sums_.w.size(); ++j) sums_.moment[j] = seed(sums_.w[j], model[j]);
    sums_.bias_moment = seed(static_cast<double>(sums_.signed_t), sums_.rho > 0 ? model.back() / sums_.rho : 0);
  }

  // ‖a‖ / t, and how far rounding may have moved it; nothing without updates. The sums of w are plain, so each is wrong
  // by at most its number of terms times u of what was added; the 1-norm of these errors bounds their length.
  Bound upper_bound() const {
    const DefaultArithmetic arithmetic;
    const double t = sums_.totals.t;
    const double cancelled = (sums_.additions + 4) * two_u * sums_.gross * 1.01;
    // Plain sums of positive terms: of the squares of w, and of the extension.
    const double norm2 = fresh_norm2(), of_extension = norm2 > 0 ? sums_.extended / norm2 : 0;
    const double relative =
        (static_cast<double>(sums_.w.size()) + 16) * two_u + (sums_.additions + 16) * two_u * of_extension;
    return norm_by_t(norm2, t, relative, cancelled);
  }

  // The average of w over the rows presented, the augmented coordinate last, at the length that w itself has when it is
  // scaled to the optimum's, t / ‖a‖².
  std::vector<double> model() const {
    const double N = sums_.rows_seen, bias = sums_.rho * static_cast<double>(sums_.signed_t);
    std::vector<double> average(sums_.w.size() + 1);
    if (sums_.totals.t == 0) return average;
    double norm2 = 0, average_norm2 = 0;
    const auto take = [&](std::size_t j, double sum, double moment) {
      average[j] = sum + (sum - moment) / N;
      norm2 += sum * sum;
      average_norm2 += average[j] * average[j];
    };
    for (std::size_t j = 0; j < sums_.w.size(); ++j) take(j, sums_.w[j], sums_.moment[j]);
    take(sums_.w.size(), bias, sums_.rho * sums_.bias_moment);
    const double scale = std::sqrt(norm2 / average_norm2) * sums_.totals.t / fresh_norm2();
    for (double& c : average) c = std::isfinite(scale) ? c * scale : 0;
    return average;
  }

 private:
  // Everything that could be refused is refused before anything is added: a block is taken as a whole or not at all.
  template <class View>
  void require_lengths(const View& view) const {
    constexpr double longest = 1e100;
    for (std::int64_t k = 0; k < view.n_rows; ++k) {
      double size = 0;
      view.for_each_entry(k, [&](std::int64_t, double value) { size += std::abs(value); });
      if (!(size <= longest))
        throw std::invalid_argument("the values of row " + std::to_string(k) +
                                    " (counting from 0) add up to more than 1e100; scale the features");
    }
  }

  template <class View>
  void present_row(const View& view, std::int64_t k, const Problem& problem, double repeats,
                   const DynamicMargin& rule) {
    const std::span<const Entry> entries = read_row(view, k, room_);
    ++sums_.rows_seen;
    const double rho = sums_.rho;
    double p = rho * (rho * static_cast<double>(sums_.signed_t)), q = rho * rho + problem.delta2(k);
    for (const Entry& e : entries) {
      p += sums_.w[e.column] * e.value;
      q += e.value * e.value;
    }
    if (problem.sides[k] < 0) p = -p;
    const Totals a = sums_.totals;
    if (!(rule.score(p, a) <= rule.threshold(a))) return;
    const double lambda = repeats <= 1 ? 1 : std::min(std::ceil(repeats), rule.multiplicity(p, q, a));
    if (lambda > largest_count - a.t) return;  // more than counts can hold
    add(view, k, entries, problem, lambda);
    if (sums_.keep_counts) remember(row_key(digest_row(entries), problem.sides[k]), static_cast<std::int64_t>(lambda));
    sums_.totals.norm2 += lambda * (2 * p + lambda * q);
    // The running ‖a‖² gathers rounding errors. How often it is refreshed depends on the stream only, not on its
    // blocks, and costs no more than the updates do.
    if (++sums_.since_fresh >= std::max<std::int64_t>(1000, static_cast<std::int64_t>(sums_.w.size()))) refresh();
  }

  // a += lambda y_k for a row and its canonical entries, ‖a‖² excepted.
  template <class View>
  void add(const View& view, std::int64_t k, std::span<const Entry> entries, const Problem& problem, double lambda) {
    const bool negative = problem.sides[k] < 0;
    const double factor = negative ? -lambda : lambda, n = sums_.rows_seen;
    double size = 0, terms = 1;
    for (const Entry& e : entries) {
      sums_.w[e.column] += factor * e.value;
      size += std::abs(e.value);
    }
    if (n > 0)
      for (const Entry& e : entries) sums_.moment[e.column] += n * (factor * e.value);
    if constexpr (View::is_sparse) {
      // Stored twice, a column is a rounded sum by itself.
      if (const std::int64_t stored = view.most_entries(k); stored != static_cast<std::int64_t>(entries.size())) {
        terms += static_cast<double>(stored);
        size = 0;
        view.for_each_entry(k, [&](std::int64_t, double value) { size += std::abs(value); });
      }
    }
    sums_.gross += lambda * size;
    sums_.additions += terms;
    sums_.signed_t += static_cast<std::int64_t>(factor);
    sums_.bias_moment += n * factor;
    sums_.totals.t += lambda;
    sums_.extended += lambda * lambda * problem.delta2(k);
  }

  void remember(std::uint64_t key, std::int64_t count) {
    sums_.keys.push_back(key);
    sums_.counts.push_back(count);
  }

  double fresh_norm2() const {
    const double bias = sums_.rho * static_cast<double>(sums_.signed_t);
    double sum = bias * bias;
    for (double c : sums_.w) sum += c * c;
    return sum + sums_.extended;
  }

  void refresh() {
    sums_.totals.norm2 = fresh_norm2();
    sums_.since_fresh = 0;
  }

  OnlineSums sums_;
  std::vector<Entry> room_;
};

}  // namespace dynmargin
