// Sparse rows, each one block [length | columns | values], so that a visit in random order touches one run of cache
// lines that can be prefetched.
#pragma once

#include <cstring>
#include <memory>

#include "dynmargin/data/column_order.hpp"
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

  SparseRows(std::int64_t n_rows, std::int64_t n_stored) {
    starts_.reserve(n_rows);
    capacity_ = n_rows * (sizeof(Length) + 2 * (alignment - 1)) + n_stored * (sizeof(Column) + value_size);
    blocks_ =
        std::make_unique_for_overwrite<std::byte[]>(capacity_ + fetched);  // the last row is prefetched that far too
  }

  std::uint64_t start(std::size_t k) const { return starts_[k]; }

  Row row(std::uint64_t start) const {
    const std::byte* begin = blocks_.get() + start;
    Length length;
    std::memcpy(&length, begin, sizeof length);
    return {reinterpret_cast<const Column*>(begin + sizeof length),
            reinterpret_cast<const Value*>(begin + values_offset(length)), length};
  }

  // `entries` is a canonical row.
  template <class Entries>
  RowFacts append(const Entries& entries, ColumnOrder& order) {
    const auto length = static_cast<Length>(entries.size());
    if (used_ + block_size(length) > capacity_) throw_changed();
    std::byte* block = blocks_.get() + used_;
    starts_.push_back(used_);
    used_ += block_size(length);
    std::memcpy(block, &length, sizeof length);
    auto* columns = reinterpret_cast<Column*>(block + sizeof length);
    auto* values = reinterpret_cast<Value*>(block + values_offset(length));
    const auto put_value = [=]([[maybe_unused]] std::size_t i, [[maybe_unused]] const Entry& e) {
      if constexpr (!all_ones) values[i] = static_cast<Value>(e.value);
    };
    if (!order.renumbers())
      return pack_row<all_ones>(entries, [=](std::size_t i, const Entry& e) {
        columns[i] = static_cast<Column>(e.column);
        put_value(i, e);
      });
    renumbered_ = true;
    // Places are looked up all over memory: in a loop that does nothing else the CPU looks many of them up at a time.
    for (Length i = 0; i < length; ++i) columns[i] = static_cast<Column>(order.place(entries[i].column));
    return pack_row<all_ones>(entries, put_value);
  }

  // H += sum factor [x, rho] [x, rho]^T over the rows, upper triangle.
  void add_outers_to(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho) const {
    for (const auto& [start, factor] : rows)
      renumbered_ ? add_outer_to<false>(H, stride, row(start), factor, rho)
                  : add_outer_to<true>(H, stride, row(start), factor, rho);
  }

  // What a row costs there, in multiplications of a pass over rows.
  double outer_work(std::uint64_t start) const {
    const double length = row(start).length;
    return length * length / 2;
  }

  void prefetch_row(std::uint64_t start) const { prefetch_lines(blocks_.get() + start, fetched); }

  std::size_t bytes() const { return capacity_ + starts_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::size_t value_size = all_ones ? 0 : sizeof(Value), alignment = all_ones ? 4 : sizeof(Value);
  static constexpr std::size_t fetched = 256;  // bytes of a row that are prefetched

  // `increasing`: the columns of a row are, as in the matrix. Places that were given as columns were first seen are
  // not.
  template <bool increasing>
  static void add_outer_to(double* H, std::size_t stride, const Row& row, double factor, double rho) {
    for (Length i = 0; i < row.length; ++i) {
      const std::size_t column = row.columns[i];
      double* line = H + column * stride;
      const double scaled = row.times(i, factor);
      for (Length j = i; j < row.length; ++j) {
        const std::size_t other = row.columns[j];
        double& sum = increasing || column <= other ? line[other] : H[other * stride + column];
        sum += row.times(j, scaled);
      }
      line[stride - 1] += scaled * rho;
    }
    H[stride * stride - 1] += factor * rho * rho;
  }

  // Blocks and values are aligned to the size of a value.
  static std::size_t align(std::size_t offset) { return (offset + alignment - 1) / alignment * alignment; }
  static std::size_t values_offset(std::size_t length) { return align(sizeof(Length) + length * sizeof(Column)); }
  static std::size_t block_size(std::size_t length) { return align(values_offset(length) + length * value_size); }

  std::vector<std::uint64_t> starts_;
  std::unique_ptr<std::byte[]> blocks_;
  std::size_t used_ = 0, capacity_;
  bool renumbered_ = false;
};

}  // namespace dynmargin
