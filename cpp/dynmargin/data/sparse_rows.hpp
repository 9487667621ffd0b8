// Sparse rows, each one block [length | columns | values], so that a visit in random order touches one run of cache
// lines that can be prefetched.
#pragma once

#include <cstring>
#include <memory>

#include "dynmargin/data/matrix_view.hpp"
#include "dynmargin/data/row_products.hpp"

namespace dynmargin {

// The type of values that are all 1, as in one-hot and binary data: none is stored, and no product is needed.
struct Ones {};

template <class Value, class Column>
class SparseRows : public RowProducts<SparseRows<Value, Column>> {
 public:
  static constexpr bool all_ones = std::is_same_v<Value, Ones>;
  using Length = std::uint32_t;

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

  void append(std::span<const Entry> entries) {
    const auto length = static_cast<Length>(entries.size());
    if (used_ + block_size(length) > capacity_) throw_changed();
    std::byte* block = blocks_.get() + used_;
    starts_.push_back(used_);
    used_ += block_size(length);
    std::memcpy(block, &length, sizeof length);
    auto* columns = reinterpret_cast<Column*>(block + sizeof length);
    for (std::size_t i = 0; i < entries.size(); ++i) columns[i] = static_cast<Column>(entries[i].column);
    if constexpr (!all_ones) {
      auto* values = reinterpret_cast<Value*>(block + values_offset(length));
      for (std::size_t i = 0; i < entries.size(); ++i) values[i] = static_cast<Value>(entries[i].value);
    }
  }

  // H += sum factor [x, rho] [x, rho]^T over the rows, upper triangle; columns are increasing.
  void add_outers_to(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho) const {
    for (const auto& [start, factor] : rows) add_outer_to(H, stride, row(start), factor, rho);
  }

  void prefetch_row(std::uint64_t start) const { prefetch_lines(blocks_.get() + start, fetched); }

  std::size_t bytes() const { return capacity_ + starts_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::size_t value_size = all_ones ? 0 : sizeof(Value), alignment = all_ones ? 4 : sizeof(Value);
  static constexpr std::size_t fetched = 256;  // bytes of a row that are prefetched

  static void add_outer_to(double* H, std::size_t stride, const Row& row, double factor, double rho) {
    for (Length i = 0; i < row.length; ++i) {
      double* line = H + row.columns[i] * stride;
      const double scaled = row.times(i, factor);
      for (Length j = i; j < row.length; ++j) line[row.columns[j]] += row.times(j, scaled);
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
};

}  // namespace dynmargin
