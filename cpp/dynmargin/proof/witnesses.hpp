// What a run returns: its bounds, and the two witnesses that prove them.
#pragma once

#include <cstdint>
#include <numeric>
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

inline Support nonzeros(const std::vector<std::int64_t>& all) {
  std::vector<std::int64_t> places, counts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0) continue;
    places.push_back(static_cast<std::int64_t>(i));
    counts.push_back(all[i]);
  }
  return {std::move(places), std::move(counts)};
}

inline Support all_weights(std::vector<double> weights) {
  std::vector<std::int64_t> rows(weights.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  return {std::move(rows), std::move(weights)};
}

// The witness of the margin: the best weights found at a check, the augmented coordinate (or the bias) last, and the
// scale that is best for them.
struct Model {
  std::vector<double> weights;
  double scale;
  std::size_t n_vectors = 0;  // for several classes their weights follow each other; 0 for a single vector
};

}  // namespace dynmargin
