// Which columns are packed, and in which order: where there are many, those that occur, as they are first seen.
//
// What is kept per column (weights, averages, sums of a proof) is visited in the order of a row's columns. The frequent
// ones are seen first, so they come to lie side by side, and most visits find them in the cache; columns that no row
// has cost nothing at all.
#pragma once

#include <limits>

#include "dynmargin/data/matrix_view.hpp"

namespace dynmargin {

// Columns that are packed as they stand in the matrix.
struct AsTheyStand {
  std::uint32_t operator()(std::uint32_t column) const { return column; }
};

class ColumnOrder {
 public:
  // With fewer columns than this, whatever is kept per column fits into the cache in any order.
  static constexpr std::int64_t many = 1 << 15;

  // Rows that also hold zeros have a place for every column.
  ColumnOrder(std::int64_t n_columns, bool sparse)
      : n_columns_(n_columns), places_(sparse && n_columns >= many ? n_columns : 0, unseen) {}

  bool renumbers() const { return !places_.empty(); }

  // Where a column is packed, if they are renumbered.
  std::int64_t place(std::int64_t column) {
    const std::uint32_t place = places_[column];
    return place != unseen ? place : see(column);
  }

  // Takes over the columns of an order of the rows that follow; returns, for each of its places, the one here.
  std::vector<std::uint32_t> append(const ColumnOrder& later) {
    std::vector<std::uint32_t> here(later.columns_.size());
    for (std::size_t i = 0; i < here.size(); ++i) here[i] = static_cast<std::uint32_t>(place(later.columns_[i]));
    return here;
  }

  std::int64_t n_packed() const { return places_.empty() ? n_columns_ : std::ssize(columns_); }

  // The columns that are packed, in the order in which they are; none if all are, as they stand in the matrix.
  std::vector<std::uint32_t> take() { return std::move(columns_); }

 private:
  static constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();

  // A column that occurs for the first time.
  std::uint32_t see(std::int64_t column) {
    places_[column] = static_cast<std::uint32_t>(columns_.size());
    columns_.push_back(static_cast<std::uint32_t>(column));
    return places_[column];
  }

  std::int64_t n_columns_;
  std::vector<std::uint32_t> places_, columns_;
};

}  // namespace dynmargin
