// Rows in canonical form, for packing and digesting whole matrices: columns strictly increasing, repetitions summed,
// zeros dropped.
//
// Most are stored like that, and are read in place. This is checked a stretch of rows at a time, and if rows are short,
// their entries are digested together: loops over entries are long then. (Packing Adult, whose rows have 14 entries,
// takes 1.1 ms instead of 1.55, Web 2.2 instead of 3.0; Covertype, whose values are not all 1, 21 instead of 19.)
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "dynmargin/data/default_arithmetic.hpp"
#include "dynmargin/data/digest.hpp"
#include "dynmargin/data/entry_sums.hpp"
#include "dynmargin/data/row_products.hpp"
#include "dynmargin/order/threads.hpp"

namespace dynmargin {

template <class Value>
struct CanonicalRow {
  const std::uint32_t* columns;
  const Value* values;
  std::size_t length;
  const std::uint64_t* words;  // what the entries add to the digest, where that is known already
};

template <class Value>
std::uint64_t digest_row(const CanonicalRow<Value>& row) {
  const std::uint64_t words = row.words == nullptr
                                  ? sums_of_entries(row.values, row.columns, row.length).words
                                  : std::accumulate(row.words, row.words + row.length, std::uint64_t{0});
  return RowDigest::of(words, row.length);
}

// A stretch of rows whose entries lie side by side.
template <class Value>
struct Stretch {
  std::int64_t first_row;
  std::vector<std::size_t> lengths;  // of the rows, as they are stored
  UnsetVector<std::uint32_t> columns;
  const Value* values;

  std::size_t size() const { return columns.size(); }

  // Where entries do not come in the order of their columns, or come twice.
  std::size_t n_out_of_order() const {
    std::uint32_t all = 0, between_rows = 0;
    for (std::size_t i = 1; i < columns.size(); ++i) all += columns[i - 1] >= columns[i];
    std::size_t begin = 0;
    for (const std::size_t length : lengths) {
      if (begin > 0 && length > 0) between_rows += columns[begin - 1] >= columns[begin];
      begin += length;
    }
    return all - between_rows;
  }

  // How many values are equal to this one, counted in numbers of the same size: several are compared at a time.
  std::size_t count(Value value) const {
    std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t> n = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) n += values[i] == value;
    return n;
  }

  // Whether every value survives the trip through float32.
  bool fits_float32() const {
    bool fits = true;
    for (std::size_t i = 0; i < columns.size(); ++i)
      fits &= std::abs(values[i]) <= std::numeric_limits<float>::max() &&
              static_cast<double>(static_cast<float>(values[i])) == values[i];
    return fits;
  }
};

// Reads stretches of a matrix that may change meanwhile (matrix_view.hpp): columns are copied, and checked then.
template <class View>
class Stretches {
 public:
  using Value = typename View::Value;

  static constexpr std::int64_t most_columns = std::numeric_limits<std::int32_t>::max();

  explicit Stretches(const View& view) : view_(view) {}

  // f(stretch) for all rows from `begin` to `end` - 1, until it returns false.
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, const F& f) {
    for (std::int64_t k = begin; k < end; k += std::ssize(stretch_.lengths)) {
      read(k, end);
      if (!f(stretch_)) break;
    }
  }

 private:
  // Of a stretch, so that it stays in the cache; a single row may have more.
  static constexpr std::int64_t most_entries = 256, most_rows = 256;

  void read(std::int64_t first, std::int64_t end) {
    stretch_.first_row = first;
    stretch_.lengths.clear();
    if constexpr (View::is_sparse)
      read_sparse(first, end);
    else
      read_dense(first, end);
  }

  void read_sparse(std::int64_t first, std::int64_t end) {
    const auto begin = view_.cells(first).begin;
    std::int64_t size = 0;
    for (std::int64_t k = first; k < end; ++k) {
      const auto cells = view_.cells(k);
      if (cells.begin != begin + size) throw_changed();
      if (k > first && (size + cells.size > most_entries || k - first == most_rows)) break;
      stretch_.lengths.push_back(cells.size);
      size += cells.size;
    }
    stretch_.values = view_.values + begin;
    stretch_.columns.resize(size);
    // What has been copied cannot change any more. There are fewer than 2**31 columns (`most_columns`), so the highest
    // bit of `wrong` is set if one is below 0 or beyond the last.
    const auto* const from = view_.columns + begin;
    std::uint32_t* const to = stretch_.columns.data();
    std::uint64_t high = 0;
    std::uint32_t wrong = 0;
    const auto last = static_cast<std::uint32_t>(view_.n_columns - 1);
    for (std::int64_t i = 0; i < size; ++i) to[i] = static_cast<std::uint32_t>(from[i]);
    if constexpr (sizeof *from > sizeof *to)
      for (std::int64_t i = 0; i < size; ++i) high |= static_cast<std::uint64_t>(from[i]);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler may not load them again
    for (std::int64_t i = 0; i < size; ++i) wrong |= to[i] | (last - to[i]);
    if (high >> 31 != 0 || wrong >> 31 != 0) throw_changed();
    const std::int64_t next = begin + size, ahead = std::min(most_entries, view_.n_stored - next);
    fetch(view_.columns + next, ahead);
    fetch(view_.values + next, ahead);
  }

  // Rows that are not stored one after the other are brought together; columns stay the same from stretch to stretch.
  void read_dense(std::int64_t first, std::int64_t end) {
    const std::int64_t columns = view_.n_columns, row_stride = view_.row_stride, column_stride = view_.column_stride;
    const std::int64_t rows =
        std::min(end - first, std::max<std::int64_t>(1, most_entries / std::max<std::int64_t>(1, columns)));
    stretch_.lengths.assign(rows, columns);
    if (std::ssize(stretch_.columns) != rows * columns) {
      stretch_.columns.resize(rows * columns);
      for (std::int64_t k = 0; k < rows; ++k)
        std::iota(stretch_.columns.begin() + k * columns, stretch_.columns.begin() + (k + 1) * columns, 0u);
    }
    const Value* const from = view_.values + first * row_stride;
    stretch_.values = from;
    if (column_stride == 1 && (row_stride == columns || rows == 1)) return;
    room_.resize(rows * columns);
    const auto copy = [&](std::int64_t k, std::int64_t j) {
      room_[k * columns + j] = from[k * row_stride + j * column_stride];
    };
    if (std::abs(column_stride) < std::abs(row_stride))
      for (std::int64_t k = 0; k < rows; ++k)
        for (std::int64_t j = 0; j < columns; ++j) copy(k, j);
    else
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t k = 0; k < rows; ++k) copy(k, j);
    stretch_.values = room_.data();
  }

  // The CPU itself does not see that the next stretch will be read while this one is being packed.
  template <class T>
  static void fetch(const T* begin, std::int64_t n) {
    prefetch_lines(begin, static_cast<std::size_t>(n) * sizeof(T));
  }

  const View& view_;
  Stretch<Value> stretch_;
  std::vector<Value> room_;
};

template <class View>
class CanonicalRows {
 public:
  using Value = typename View::Value;

  explicit CanonicalRows(const View& view) : view_(view), stretches_(view) {}

  // f(k, row) for all rows from `begin` to `end` - 1.
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, const F& f) {
    stretches_.for_each(begin, end, [&](const Stretch<Value>& stretch) {
      const bool sorted = stretch.n_out_of_order() == 0, in_place = sorted && stretch.count(0) == 0;
      const bool together = in_place && stretch.size() < long_row * stretch.lengths.size();
      if (together) {
        words_.resize(std::max(words_.size(), stretch.size()));
        digest_words(stretch.values, stretch.columns.data(), stretch.size(), words_.data());
      }
      std::size_t first = 0;
      for (std::size_t i = 0; i < stretch.lengths.size(); ++i) {
        const std::int64_t k = stretch.first_row + static_cast<std::int64_t>(i);
        const std::size_t length = stretch.lengths[i];
        const std::uint32_t* const columns = stretch.columns.data() + first;
        const Value* const values = stretch.values + first;
        if (in_place)
          f(k, CanonicalRow<Value>{columns, values, length, together ? words_.data() + first : nullptr});
        else if (sorted || increase(columns, length))
          f(k, without_zeros(columns, values, length));
        else
          f(k, read(k));
        first += length;
      }
      return true;
    });
  }

  // Whether a row had repetitions: their sum may be rounded.
  bool summed() const { return summed_; }

 private:
  static constexpr std::size_t long_row = 32;  // entries: worth a loop of its own

  static bool increase(const std::uint32_t* columns, std::size_t length) {
    return std::adjacent_find(columns, columns + length, std::greater_equal<>()) == columns + length;
  }

  // A row whose columns increase.
  CanonicalRow<Value> without_zeros(const std::uint32_t* columns, const Value* values, std::size_t length) {
    columns_.resize(std::max(columns_.size(), length));
    values_.resize(std::max(values_.size(), length));
    words_.resize(std::max(words_.size(), length));
    const bool is_short = length < long_row;
    std::size_t n = 0;
    for (std::size_t i = 0; i < length; ++i) {  // without a branch
      const Value value = values[i];
      columns_[n] = columns[i];
      values_[n] = value;
      if (is_short) words_[n] = RowDigest::word(value, columns[i]);
      n += value != 0;
    }
    return {columns_.data(), values_.data(), n, is_short ? words_.data() : nullptr};
  }

  // Any row.
  CanonicalRow<double> read(std::int64_t k) {
    const std::span<const Entry> entries = read_row(view_, k, room_, summed_);
    columns_.resize(std::max(columns_.size(), entries.size()));
    sums_.resize(std::max(sums_.size(), entries.size()));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      columns_[i] = static_cast<std::uint32_t>(entries[i].column);
      sums_[i] = entries[i].value;
    }
    return {columns_.data(), sums_.data(), entries.size(), nullptr};
  }

  const View& view_;
  Stretches<View> stretches_;
  std::vector<std::uint64_t> words_;
  std::vector<Entry> room_;
  std::vector<std::uint32_t> columns_;  // of a row that is not read in place, and its values
  std::vector<Value> values_;
  std::vector<double> sums_;
  bool summed_ = false;
};

template <class View>
std::vector<std::uint64_t> digest_rows(const View& view, unsigned n_threads = 1) {
  std::vector<std::uint64_t> digests(view.n_rows);
  const Blocks blocks = Blocks::of_rows(digests.size(), static_cast<double>(view.n_entries()));
  blocks.for_each(n_threads, [&](std::size_t /*block*/, std::size_t begin, std::size_t end) {
    const DefaultArithmetic arithmetic;
    const auto first = static_cast<std::int64_t>(begin), last = static_cast<std::int64_t>(end);
    if (view.n_columns <= Stretches<View>::most_columns) {
      CanonicalRows<View>(view).for_each(first, last,
                                         [&](std::int64_t k, const auto& row) { digests[k] = digest_row(row); });
      return;
    }
    std::vector<Entry> room;  // too many columns to be packed
    for (std::int64_t k = first; k < last; ++k) digests[k] = digest_row(read_row(view, k, room));
  });
  return digests;
}

}  // namespace dynmargin
