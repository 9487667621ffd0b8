// Borrowed input: dense or CSR, float32 or float64, any strides, read-only, never copied whole.
//
// There are two ways to read a row: `for_each_entry` gives the entries as they are stored (duplicates of a column mean
// their sum, as the certificate's real arithmetic needs it), and `read_row` gives the canonical row (columns strictly
// increasing, duplicates summed, zeros dropped), which is packed and digested; canonical_rows.hpp gives many of these
// at a time. `for_each_cell` may also give zeros, for loops that need no branch to leave them out.
//
// Others may change the arrays while they are read: a thread, or whoever writes to a file that they are mapped from.
// Nobody can say then which values were read, but nothing outside the arrays is touched: whatever points to a place is
// loaded once and checked where it is used, or copied, and the copy checked.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "dynmargin/data/require.hpp"

namespace dynmargin {

struct Entry {
  std::int64_t column;
  double value;
};

// A value that may change meanwhile. The compiler must not load it again after it has been checked.
template <class T>
T load_once(const T* place) {
  return *static_cast<const volatile T*>(place);
}

// Whether 0 <= place < size.
inline bool is_below(std::int64_t place, std::int64_t size) {
  return static_cast<std::uint64_t>(place) < static_cast<std::uint64_t>(size);
}

[[noreturn]] inline void throw_changed() { throw std::runtime_error("the data changed while they were read"); }

template <class V>
struct DenseView {
  using Value = V;
  static constexpr bool is_float32 = std::is_same_v<Value, float>, is_sparse = false;
  const Value* values;
  std::int64_t n_rows, n_columns;
  std::int64_t row_stride, column_stride;  // in elements, so that Fortran order needs no copy

  struct Cells {
    std::int64_t row, size;
  };
  Cells cells(std::int64_t row) const { return {row, n_columns}; }

  std::int64_t n_entries() const { return n_rows * n_columns; }

  template <class F>
  void for_each_entry(std::int64_t row, F&& f) const {
    for_each_cell(row, [&](std::int64_t column, double value) {
      if (value != 0) f(column, value);
    });
  }

  template <class F>
  void for_each_cell(std::int64_t row, F&& f) const {
    for_each_stored(cells(row), f);
  }

  template <class F>
  void for_each_stored(Cells cells, F&& f) const {
    const Value* p = values + cells.row * row_stride;
    if (column_stride == 1)  // nearly always; several can be read at a time then
      for (std::int64_t j = 0; j < n_columns; ++j) f(j, static_cast<double>(p[j]));
    else
      for (std::int64_t j = 0; j < n_columns; ++j) f(j, static_cast<double>(p[j * column_stride]));
  }
};

template <class V, class Index>
struct CsrView {
  using Value = V;
  static constexpr bool is_float32 = std::is_same_v<Value, float>, is_sparse = true;
  const Value* values;
  const Index* columns;
  const Index* starts;  // n_rows + 1 of them
  std::int64_t n_rows, n_columns, n_stored;

  // Where the cells of a row are.
  struct Cells {
    std::int64_t begin, size;
  };
  Cells cells(std::int64_t row) const {
    const std::int64_t begin = load_once(starts + row), end = load_once(starts + row + 1);
    if (begin < 0 || end < begin || end > n_stored) throw_changed();
    return {begin, end - begin};
  }

  std::int64_t most_entries(std::int64_t row) const { return cells(row).size; }
  std::int64_t n_entries() const { return std::clamp<std::int64_t>(load_once(starts + n_rows), 0, n_stored); }

  template <class F>
  void for_each_entry(std::int64_t row, F&& f) const {
    for_each_cell(row, f);
  }

  template <class F>
  void for_each_cell(std::int64_t row, F&& f) const {
    for_each_stored(cells(row), [&f, n = n_columns](std::int64_t column, double value) {
      if (!is_below(column, n)) throw_changed();
      f(column, value);
    });
  }

  // Any column may come: for those who do not use it as a place, or check it themselves.
  template <class F>
  void for_each_stored(Cells cells, F&& f) const {
    for (std::int64_t i = cells.begin, end = i + cells.size; i < end; ++i)
      f(static_cast<std::int64_t>(load_once(columns + i)), static_cast<double>(values[i]));
  }

  // Says what is wrong with the structure while it can still be said.
  void require_valid() const {
    require(n_columns >= 0, "CSR matrix: the number of columns is negative");
    require(starts[0] == 0, "CSR matrix: indptr must start with 0");
    for (std::int64_t k = 0; k < n_rows; ++k)
      if (starts[k + 1] < starts[k])
        throw std::invalid_argument("CSR matrix: indptr decreases at row " + std::to_string(k) + " (counting from 0)");
    require(starts[n_rows] <= n_stored, "CSR matrix: indptr points beyond the stored values");
    // The highest bit of `wrong` is set if a column is below 0 or beyond the last.
    using Bits = std::make_unsigned_t<Index>;
    const std::int64_t n = n_entries();
    const auto last = static_cast<Bits>(std::min<std::int64_t>(n_columns - 1, std::numeric_limits<Index>::max()));
    Bits wrong = 0;
    for (std::int64_t i = 0; i < n; ++i)
      wrong |= static_cast<Bits>(columns[i]) | (last - static_cast<Bits>(columns[i]));
    if (static_cast<Index>(wrong) < 0) throw_bad_column();
  }

 private:
  [[noreturn]] void throw_bad_column() const {
    for (std::int64_t k = 0; k < n_rows; ++k) {
      const Cells row = cells(k);
      for (std::int64_t i = row.begin; i < row.begin + row.size; ++i)
        if (const std::int64_t column = load_once(columns + i); !is_below(column, n_columns))
          throw std::invalid_argument("CSR matrix: column index " + std::to_string(column) + " in row " +
                                      std::to_string(k) + " (both counting from 0) is out of range for " +
                                      std::to_string(n_columns) + " columns");
    }
    throw_changed();
  }
};

using MatrixView =
    std::variant<DenseView<float>, DenseView<double>, CsrView<float, std::int32_t>, CsrView<float, std::int64_t>,
                 CsrView<double, std::int32_t>, CsrView<double, std::int64_t>>;

inline std::int64_t n_rows(const MatrixView& view) {
  return std::visit([](const auto& v) { return v.n_rows; }, view);
}

inline std::int64_t n_columns(const MatrixView& view) {
  return std::visit([](const auto& v) { return v.n_columns; }, view);
}

// A stable sort, up to eight bits of the column at a time: text comes in any order, and for rows of a few hundred words
// this takes a fifth of the time of std::stable_sort. `other` has room for as many entries; the result is in one of the
// two.
inline std::span<Entry> sort_by_column(std::span<Entry> entries, std::span<Entry> other, std::int64_t n_columns) {
  if (entries.size() < 32) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.column < b.column; });
    return entries;
  }
  const int all = std::bit_width(static_cast<std::uint64_t>(n_columns - 1)), passes = std::max(1, (all + 7) / 8);
  const int bits = (all + passes - 1) / passes;
  for (int pass = 0; pass < passes; ++pass) {
    std::array<std::uint32_t, 256> place{};
    const auto digit = [&](const Entry& e) { return e.column >> pass * bits & ((1 << bits) - 1); };
    for (const Entry& e : entries) ++place[digit(e)];
    std::exclusive_scan(place.begin(), place.begin() + (1 << bits), place.begin(), 0u);
    for (const Entry& e : entries) other[place[digit(e)]++] = e;
    std::swap(entries, other);
  }
  return entries;
}

// The canonical form of a row, whatever the order and the repetitions it is stored with. It is in `room`, which grows
// as needed and is never cleared. `summed` becomes true if there are repetitions: their sum may be rounded.
template <class View>
std::span<const Entry> read_row(const View& view, std::int64_t row, std::vector<Entry>& room, bool& summed) {
  const auto cells = view.cells(row);
  room.resize(std::max<std::size_t>(room.size(), cells.size));
  Entry* end = room.data();
  bool increasing = true;
  std::int64_t last = -1;
  view.for_each_stored(cells, [&](std::int64_t column, double value) {
    increasing &= column > last;
    last = column;
    *end = {column, value};
    end += value != 0;
  });
  const std::size_t size = end - room.data();
  const auto is_inside = [&](const Entry& e) { return is_below(e.column, view.n_columns); };
  if (increasing ? last >= view.n_columns : !std::all_of(room.data(), end, is_inside)) throw_changed();
  if (increasing) return std::span(room).first(size);
  room.resize(std::max(room.size(), 2 * size));
  const std::span<Entry> entries =
      sort_by_column(std::span(room).first(size), std::span(room).subspan(size, size), view.n_columns);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size;) {
    Entry sum = entries[i];
    for (++i; i < size && entries[i].column == sum.column; ++i, summed = true) sum.value += entries[i].value;
    if (sum.value != 0) entries[kept++] = sum;
  }
  return entries.first(kept);
}

template <class View>
std::span<const Entry> read_row(const View& view, std::int64_t row, std::vector<Entry>& room) {
  bool summed = false;
  return read_row(view, row, room, summed);
}

}  // namespace dynmargin
