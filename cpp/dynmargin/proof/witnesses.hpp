// What a run returns: its bounds, and the two witnesses that prove them.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace dynmargin {

// What the current weights and counts are worth.
struct Bounds {
  double margin;       // proven by the best weights seen, slacks repaired
  double upper_bound;  // ‖a‖ / t, now or before counts were renewed
  // min_k a.y_k / ‖a‖, no repair: the figure of the paper's tables. NaN if the bound is from before a renewal.
  double directional_margin;
};

// The witness of the upper bound: rows, or row * n_classes + wrong class, and their counts. Where the weights are not
// whole numbers, all rows are here.
struct Support {
  std::vector<std::int64_t> places;
  std::variant<std::vector<std::int64_t>, std::vector<double>> weights;
};

// The places below n whose count, count_of(place), is not 0, and these counts.
template <class CountOf>
Support nonzeros(std::size_t n, const CountOf& count_of) {
  std::size_t n_nonzeros = 0;
  for (std::size_t i = 0; i < n; ++i) n_nonzeros += count_of(i) != 0;
  std::vector<std::int64_t> places, counts;
  places.reserve(n_nonzeros);
  counts.reserve(n_nonzeros);
  for (std::size_t i = 0; i < n; ++i) {
    if (count_of(i) == 0) continue;
    places.push_back(static_cast<std::int64_t>(i));
    counts.push_back(count_of(i));
  }
  return {std::move(places), std::move(counts)};
}

inline Support all_weights(std::vector<double> weights) {
  std::vector<std::int64_t> rows(weights.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return {std::move(rows), std::move(weights)};
}

// Rows whose weight times a factor, rounded to the nearest whole number, is positive, and these numbers. At most 2^52,
// but for rounding. In one go, because fresh memory costs more than the arithmetic.
inline std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> rounded_counts(
    std::span<const std::int64_t> rows, std::span<const double> weights, double factor) {
  const auto round = [=](double weight) {
    constexpr double shift = 0x1p52;  // numbers above it are whole
    const double scaled = weight * factor;
    return scaled < shift / 2 ? (scaled + shift) - shift : std::nearbyint(scaled);
  };
  std::size_t n = 0;
  for (const double weight : weights) n += round(weight) > 0;
  std::vector<std::int64_t> kept, counts;
  kept.reserve(n);
  counts.reserve(n);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double count = round(weights[i]);
    if (!(count > 0)) continue;
    kept.push_back(rows[i]);
    counts.push_back(static_cast<std::int64_t>(count));
  }
  return {std::move(kept), std::move(counts)};
}

// The witness of the margin: the best weights found at a check, the augmented coordinate (or the bias) last, and the
// scale that is best for them.
struct Model {
  std::vector<double> weights;
  double scale;
  std::size_t n_vectors = 0;  // for several classes their weights follow each other; 0 for a single vector
};

}  // namespace dynmargin
