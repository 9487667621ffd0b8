// Which columns are packed, and in which order: where there are many, those that occur, as they are first seen.
//
// What is kept per column (weights, averages, sums of a proof) is visited in the order of a row's columns. The frequent
// ones are seen first, so they come to lie side by side, and most visits find them in the cache; columns that no row
// has cost nothing at all.
#pragma once

#include <limits>

#include "dynmargin/data/matrix_view.hpp"
#include "dynmargin/order/threads.hpp"

namespace dynmargin {

// Columns that are packed as they stand in the matrix.
struct AsTheyStand {};

// A bit per column.
class ColumnSet {
 public:
  explicit ColumnSet(std::int64_t n_columns) : words_((n_columns + 63) / 64) {}

  bool has(std::int64_t column) const { return (words_[column / 64] >> column % 64 & 1) != 0; }
  void add(std::int64_t column) { words_[column / 64] |= std::uint64_t{1} << column % 64; }
  void add(const ColumnSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<std::uint64_t> words_;
};

// The columns that occur in a part of the rows, as they are first seen there.
struct FirstSeen {
  explicit FirstSeen(std::int64_t n_columns = 0) : seen(n_columns) {}

  ColumnSet seen;
  std::vector<std::uint32_t> columns;

  std::int64_t note(std::int64_t column) {
    if (!seen.has(column)) {
      seen.add(column);
      columns.push_back(static_cast<std::uint32_t>(column));
    }
    return column;
  }
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

  // Gives places to all columns that parts of the rows have, in the order of the parts.
  void number(std::vector<FirstSeen>& parts, unsigned n_threads) {
    ColumnSet so_far(n_columns_);
    std::vector<ColumnSet> before;
    for (const FirstSeen& part : parts) {
      before.push_back(so_far);
      so_far.add(part.seen);
    }
    in_threads(n_threads, parts.size(), [&](std::size_t p) {
      std::erase_if(parts[p].columns, [&](std::uint32_t column) { return before[p].has(column); });
    });
    std::vector<std::size_t> first{0};
    for (const FirstSeen& part : parts) first.push_back(first.back() + part.columns.size());
    columns_.resize(first.back());
    in_threads(n_threads, parts.size(), [&](std::size_t p) {
      std::uint32_t place = static_cast<std::uint32_t>(first[p]);
      for (const std::uint32_t column : parts[p].columns) {
        columns_[place] = column;
        places_[column] = place++;
      }
    });
  }

  // Where a column is packed that has been given a place.
  std::uint32_t known(std::int64_t column) const { return places_[column]; }

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
