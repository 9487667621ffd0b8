// Sparse rows, each one block [length | columns | values], so that a visit in random order touches one run of cache
// lines that can be prefetched.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "dynmargin/data/column_order.hpp"
#include "dynmargin/data/outer_products.hpp"
#include "dynmargin/data/row_facts.hpp"
#include "dynmargin/data/row_products.hpp"

namespace dynmargin {

// The type of values that are all 1, as in one-hot and binary data: none is stored, and no product is needed.
struct Ones {};

template <class Value, class Column>
class SparseRows : public RowProducts<SparseRows<Value, Column>> {
 public:
  static constexpr bool all_ones = std::is_same_v<Value, Ones>;
  using Length = std::uint32_t;
  static constexpr bool has_zeros = false;
  using Stored = Value;

  struct Row {
    const Column* columns;
    const Value* values;
    Length length;
    Column column(Length i) const { return columns[i]; }
    template <class Factor>
    Factor times(Length i, Factor factor) const {
      if constexpr (all_ones)
        return factor;
      else
        return factor * static_cast<double>(values[i]);
    }
  };

  SparseRows(std::int64_t n_rows, std::int64_t n_stored)
      : starts_(std::make_unique_for_overwrite<std::uint64_t[]>(n_rows)),
        n_rows_(n_rows),
        capacity_(place_after(n_rows, n_stored)),
        blocks_(new std::byte[capacity_ + most_fetched]) {  // the last row is prefetched too
  }

  std::uint64_t start(std::size_t k) const { return starts_[k]; }

  Row row(std::uint64_t start) const {
    const std::byte* begin = blocks_.get() + start;
    Length length;
    std::memcpy(&length, begin, sizeof length);
    return {reinterpret_cast<const Column*>(begin + sizeof length),
            reinterpret_cast<const Value*>(begin + values_offset(length)), length};
  }

  // Packs rows one after the other, into room that no other writer has.
  class Writer {
   public:
    Writer(SparseRows& rows, std::size_t begin, std::size_t end) : rows_(rows), used_(begin), end_(end) {}

    // `row` is row k, and number(columns, places) gives columns their places.
    template <class Given, class Number>
    RowFacts append(std::int64_t k, const CanonicalRow<Given>& row, const Number& number) {
      const auto length = static_cast<Length>(row.length);
      if (used_ + block_size(length) > end_) throw_changed();
      std::byte* block = rows_.blocks_.get() + used_;
      rows_.starts_[k] = used_;
      used_ += block_size(length);
      std::memcpy(block, &length, sizeof length);
      auto* __restrict columns = reinterpret_cast<Column*>(block + sizeof length);
      [[maybe_unused]] auto* __restrict values = reinterpret_cast<Value*>(block + values_offset(length));
      const std::span<const std::uint32_t> given(row.columns, length);
      const Given* __restrict from = row.values;
      const auto put_value = [=]([[maybe_unused]] std::size_t i) {
        if constexpr (!all_ones) values[i] = static_cast<Value>(from[i]);
      };
      const auto put_values = [=] {
        for (Length i = 0; i < length; ++i) put_value(i);
      };
      if constexpr (std::is_same_v<Number, AsTheyStand>) {
        return pack_row<all_ones>(
            row,
            [=] {
              number(given, columns);
              put_values();
            },
            [=](std::size_t i) {
              columns[i] = static_cast<Column>(given[i]);
              put_value(i);
            });
      } else {
        number(given, columns);
        return pack_row<all_ones>(row, put_values, put_value);
      }
    }

   private:
    SparseRows& rows_;
    std::size_t used_, end_;
  };

  // For rows from one up to another, before which so many entries are stored.
  Writer writer(std::int64_t row, std::int64_t stored, std::int64_t end_row, std::int64_t end_stored) {
    return Writer(*this, place_after(row, stored), std::min(place_after(end_row, end_stored), capacity_));
  }

  // Gives the columns of a row other places.
  template <class Number>
  void renumber(std::int64_t k, const Number& number) {
    const Row r = row(starts_[k]);
    auto* const columns = const_cast<Column*>(r.columns);
    for (Length i = 0; i < r.length; ++i) columns[i] = static_cast<Column>(number(columns[i]));
  }
  void set_renumbered() { renumbered_ = true; }

  // H += sum factor [x, rho] [x, rho]^T over the rows, upper triangle, lines `first` to `last` - 1.
  void add_outers_to(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho, std::size_t first,
                     std::size_t last) const {
    if (rows.empty()) return;
    if (typical_outer_work(rows) > outer_work_as_dense(stride - 1, false)) {
      add_outers_as_dense(H, stride, rows, rho, first, last, [&](std::uint64_t start, double* x) {
        std::fill_n(x, stride - 1, 0.0);
        const Row r = row(start);
        for (Length i = 0; i < r.length; ++i) x[r.columns[i]] = r.times(i, 1.0);
      });
      return;
    }
    for (const auto& [start, factor] : rows)
      renumbered_ ? add_outer_to<false>(H, stride, row(start), factor, rho, first, last)
                  : add_outer_to<true>(H, stride, row(start), factor, rho, first, last);
  }

  // What a row costs there, line by line and roughly; there is a little to do for an entry even in other lines.
  void add_outer_work_to(double* work, std::uint64_t start) const {
    const Row r = row(start);
    for (Length i = 0; i < r.length; ++i) work[r.columns[i]] += r.length - i + 1;
  }

  // What a row costs there, in multiplications of a pass over rows.
  double outer_work(std::uint64_t start, std::size_t n_columns) const {
    return std::min(outer_work_as_stored(start), outer_work_as_dense(n_columns, false));
  }

  void prefetch_row(std::uint64_t start) const { prefetch_lines(blocks_.get() + start, fetched_); }

  std::size_t bytes() const { return capacity_ + n_rows_ * sizeof(std::uint64_t); }

  // The blocks one after the other, for a file. In memory there may be room between them, and bytes that nobody has
  // set between columns and values: these are zero in a file.
  void store(std::vector<std::byte>& bytes) const {
    for (std::size_t k = 0; k < n_rows_; ++k) {
      const std::byte* const block = blocks_.get() + starts_[k];
      const std::size_t length = row(starts_[k]).length, begin = bytes.size(), offset = values_offset(length);
      bytes.resize(begin + block_size(length));
      std::memcpy(bytes.data() + begin, block, sizeof(Length) + length * sizeof(Column));
      if constexpr (!all_ones) std::memcpy(bytes.data() + begin + offset, block + offset, length * value_size);
    }
  }

  // Rows from stored blocks, which may come from anywhere: what does not fit is refused. `renumbered` columns are in
  // any order, others increase. The blocks are not copied if they have an owner, who keeps them.
  SparseRows(std::int64_t n_rows, std::int64_t n_columns, bool renumbered, std::span<const std::byte> stored,
             const std::shared_ptr<const void>& owner)
      : n_rows_(n_rows), capacity_(stored.size()), renumbered_(renumbered) {
    require_stored(n_rows_ <= stored.size() / sizeof(Length));
    starts_ = std::make_unique_for_overwrite<std::uint64_t[]>(n_rows_);
    if (owner) {
      blocks_ = std::shared_ptr<std::byte[]>(owner, const_cast<std::byte*>(stored.data()));
    } else {
      blocks_ = std::shared_ptr<std::byte[]>(new std::byte[capacity_ + most_fetched]);
      std::copy(stored.begin(), stored.end(), blocks_.get());
    }
    std::size_t place = 0;
    std::vector<std::uint32_t> last_seen(renumbered ? n_columns : 0);  // in which row, counted from 1
    for (std::int64_t k = 0; k < n_rows; ++k) {
      require_stored(place + sizeof(Length) <= capacity_);
      Length length;
      std::memcpy(&length, blocks_.get() + place, sizeof length);
      require_stored(block_size(length) <= capacity_ - place);
      const Column* const columns = row(place).columns;
      std::int64_t largest = -1;
      bool increasing = true;
      for (Length i = 0; i < length; ++i) {
        const std::int64_t column = columns[i];
        increasing &= column > largest;
        largest = std::max(largest, column);
      }
      require_stored(largest < n_columns && (increasing || renumbered));
      if (!increasing)  // bounds on rounding errors rest on rows that have a column once
        for (Length i = 0; i < length; ++i) {
          require_stored(last_seen[columns[i]] != k + 1);
          last_seen[columns[i]] = static_cast<std::uint32_t>(k + 1);
        }
      starts_[k] = place;
      place += block_size(length);
    }
    require_stored(place == capacity_);
  }

 private:
  static constexpr std::size_t value_size = all_ones ? 0 : sizeof(Value), alignment = all_ones ? 4 : sizeof(Value);
  static constexpr std::size_t most_fetched = 1024;  // bytes of a row

  // `increasing`: the columns of a row are, as in the matrix. Places that were given as columns were first seen are
  // not.
  template <bool increasing>
  static void add_outer_to(double* H, std::size_t stride, const Row& row, double factor, double rho, std::size_t first,
                           std::size_t last) {
    const auto is_ours = [=](std::size_t line) { return line >= first && line < last; };
    for (Length i = 0; i < row.length; ++i) {
      const std::size_t column = row.columns[i];
      if (increasing && column < first) continue;
      if (increasing && column >= last) break;
      double* line = H + column * stride;
      const double scaled = row.times(i, factor);
      for (Length j = i; j < row.length; ++j) {
        const std::size_t other = row.columns[j];
        if (increasing)
          line[other] += row.times(j, scaled);
        else if (is_ours(std::min(column, other)))
          H[std::min(column, other) * stride + std::max(column, other)] += row.times(j, scaled);
      }
      if (increasing || is_ours(column)) line[stride - 1] += scaled * rho;
    }
    if (is_ours(stride - 1)) H[stride * stride - 1] += factor * rho * rho;
  }

  // What a row costs there as it is stored, on average; a sample of the rows is enough.
  double typical_outer_work(std::span<const WeightedRow> rows) const {
    const std::size_t every = rows.size() / 64 + 1;
    double sum = 0, n = 0;
    for (std::size_t i = 0; i < rows.size(); i += every, ++n) sum += outer_work_as_stored(rows[i].start);
    return sum / n;
  }

  double outer_work_as_stored(std::uint64_t start) const {
    const double length = row(start).length;
    return length * length / 2;
  }

  static void require_stored(bool fits) { require(fits, "the stored rows are damaged"); }

  // Blocks and values are aligned to the size of a value.
  static std::size_t align(std::size_t offset) { return (offset + alignment - 1) / alignment * alignment; }
  static std::size_t values_offset(std::size_t length) { return align(sizeof(Length) + length * sizeof(Column)); }
  static std::size_t block_size(std::size_t length) { return align(values_offset(length) + length * value_size); }

  // Where a row begins at the latest, after so many rows with so many entries.
  static std::size_t place_after(std::int64_t n_rows, std::int64_t n_stored) {
    return align(n_rows * (sizeof(Length) + 2 * (alignment - 1)) + n_stored * (sizeof(Column) + value_size));
  }

  std::unique_ptr<std::uint64_t[]> starts_;
  std::size_t n_rows_, capacity_;
  // The size of a typical row, wherever in a line it begins: what is not fetched ahead is waited for, and what is
  // fetched in vain keeps others waiting. (Coordinate descent, compared with 256 bytes of every row: 0.9 times the time
  // on rows of 436 bytes that are not in the cache, 0.92 on rows of 44.)
  std::size_t fetched_ = std::min(most_fetched, capacity_ / std::max<std::size_t>(1, n_rows_) + 32);
  std::shared_ptr<std::byte[]> blocks_;
  bool renumbered_ = false;
};

}  // namespace dynmargin
