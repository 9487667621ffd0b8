// The rows x_k, packed one after the other: the only copy of the data that is made, shared by all classes.
//
// The layout follows from the values, not from the container they came in, so dense and CSR input with the same
// values give the same result bit for bit. Values are kept as float32 when that loses nothing, columns as 16 bits when
// there are few: memory traffic is the cost of a visit. A sparse row is one block [length | columns | values], so a
// visit in random order touches one run of cache lines that can be prefetched.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "dynmargin/data/digest.hpp"
#include "dynmargin/data/matrix_view.hpp"
#include "dynmargin/solve/lanes.hpp"

namespace dynmargin {

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// The first lines of a row; the CPU follows by itself. Too few cost a seventh of the time on 50,000 dense rows of 20
// columns, too many a tenth on rows of thousands.
inline void prefetch_lines(const void* begin, std::size_t bytes) {
  constexpr std::size_t line = 64;
  for (std::size_t offset = 0; offset < bytes; offset += line) prefetch(static_cast<const std::byte*>(begin) + offset);
}

struct WeightedRow {
  std::uint64_t start;
  double factor;
};

// Stands for the values when all are 1, as in one-hot and binary data: none is stored, and no product is needed.
struct Ones {};

template <class Value, class Column>
class SparseRows {
 public:
  static constexpr bool all_ones = std::is_same_v<Value, Ones>;

 private:
  static constexpr std::size_t value_size = all_ones ? 0 : sizeof(Value), alignment = all_ones ? 4 : sizeof(Value);

 public:
  SparseRows(std::int64_t n_rows, std::int64_t n_stored) {
    starts_.reserve(n_rows);
    capacity_ = n_rows * (sizeof(Length) + 2 * (alignment - 1)) + n_stored * (sizeof(Column) + value_size);
    blocks_ = std::make_unique_for_overwrite<std::byte[]>(capacity_ + fetched);  // the last row is fetched so far too
  }

  std::uint64_t start(std::size_t k) const { return starts_[k]; }

  void append(std::span<const Entry> entries) {
    const auto length = static_cast<Length>(entries.size());
    if (used_ + block_size(length) > capacity_) throw std::runtime_error("the data changed while they were read");
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

  // Four partial sums in a fixed order: the result is the same on every machine, and the additions overlap.
  double dot(std::uint64_t start, const double* w) const {
    const Block row = block(start);
    const auto product = [&](Length i) { return row.times(i, w[row.columns[i]]); };
    double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    Length i = 0;
    for (; i + 4 <= row.length; i += 4) {
      sum0 += product(i);
      sum1 += product(i + 1);
      sum2 += product(i + 2);
      sum3 += product(i + 3);
    }
    if (row.length & 2) sum0 += product(i), sum1 += product(i + 1), i += 2;
    if (row.length & 1) sum2 += product(i);
    return (sum0 + sum1) + (sum2 + sum3);
  }

  // Two dot products for little more than one: each column is looked up once for both.
  Half dot_both(std::uint64_t start, const Half* w) const {
    const Block row = block(start);
    Half even{}, odd{};
    Length i = 0;
    for (; i + 2 <= row.length; i += 2) {
      even += row.times(i, w[row.columns[i]]);
      odd += row.times(i + 1, w[row.columns[i + 1]]);
    }
    if (i < row.length) even += row.times(i, w[row.columns[i]]);
    return even + odd;
  }

  void add_to(double* w, std::uint64_t start, double factor) const {
    const Block row = block(start);
    for (Length i = 0; i < row.length; ++i) w[row.columns[i]] += row.times(i, factor);
  }

  // f(column, value) for every entry.
  template <class F>
  void for_each(std::uint64_t start, F&& f) const {
    const Block row = block(start);
    for (Length i = 0; i < row.length; ++i) f(row.columns[i], row.times(i, 1.0));
  }

  // H += sum factor [x, rho] [x, rho]^T over the rows, upper triangle; columns are increasing.
  void add_outers_to(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho) const {
    for (const auto& [start, factor] : rows) add_outer_to(H, stride, block(start), factor, rho);
  }

  void prefetch_row(std::uint64_t start) const { prefetch_lines(blocks_.get() + start, fetched); }

  std::size_t bytes() const { return capacity_ + starts_.capacity() * sizeof(std::uint64_t); }

 private:
  using Length = std::uint32_t;
  static constexpr std::size_t fetched = 256;  // bytes of a row, ahead of a visit

  struct Block {
    const Column* columns;
    const Value* values;
    Length length;
    template <class Factor>
    Factor times(Length i, Factor factor) const {
      if constexpr (all_ones)
        return factor;
      else
        return factor * static_cast<double>(values[i]);
    }
  };

  static void add_outer_to(double* H, std::size_t stride, const Block& row, double factor, double rho) {
    for (Length i = 0; i < row.length; ++i) {
      double* line = H + row.columns[i] * stride;
      const double scaled = row.times(i, factor);
      for (Length j = i; j < row.length; ++j) line[row.columns[j]] += row.times(j, scaled);
      line[stride - 1] += scaled * rho;
    }
    H[stride * stride - 1] += factor * rho * rho;
  }

  // Every block begins and every value stands at a multiple of the value's size.
  static std::size_t align(std::size_t offset) { return (offset + alignment - 1) / alignment * alignment; }
  static std::size_t values_offset(std::size_t length) { return align(sizeof(Length) + length * sizeof(Column)); }
  static std::size_t block_size(std::size_t length) { return align(values_offset(length) + length * value_size); }

  Block block(std::uint64_t start) const {
    const std::byte* begin = blocks_.get() + start;
    Length length;
    std::memcpy(&length, begin, sizeof length);
    return {reinterpret_cast<const Column*>(begin + sizeof length),
            reinterpret_cast<const Value*>(begin + values_offset(length)), length};
  }

  std::vector<std::uint64_t> starts_;
  std::unique_ptr<std::byte[]> blocks_;
  std::size_t used_ = 0, capacity_;
};

template <class Value>
class DenseRows {
 public:
  static constexpr bool all_ones = false;

  DenseRows(std::int64_t n_rows, std::int64_t n_columns) : n_columns_(n_columns) {
    values_.reserve(n_rows * n_columns);
  }

  std::uint64_t start(std::size_t k) const { return k * n_columns_; }

  void append(std::span<const Entry> entries) {
    const std::size_t start = values_.size();
    values_.resize(start + n_columns_);
    for (const Entry& e : entries) values_[start + e.column] = static_cast<Value>(e.value);
  }

  double dot(std::uint64_t start, const double* w) const {
    const Value* x = values_.data() + start;
    const auto product = [&](std::size_t j) { return w[j] * static_cast<double>(x[j]); };
    Half low{}, high{};
    std::size_t j = 0;
    for (; j + 4 <= n_columns_; j += 4) {
      low += Half{product(j), product(j + 1)};
      high += Half{product(j + 2), product(j + 3)};
    }
    if (n_columns_ & 2) low += Half{product(j), product(j + 1)}, j += 2;
    if (n_columns_ & 1) high += Half{product(j), 0};
    return (low[0] + low[1]) + (high[0] + high[1]);
  }

  Half dot_both(std::uint64_t start, const Half* w) const {
    const Value* x = values_.data() + start;
    Half even{}, odd{};
    std::size_t j = 0;
    for (; j + 2 <= n_columns_; j += 2) {
      even += w[j] * static_cast<double>(x[j]);
      odd += w[j + 1] * static_cast<double>(x[j + 1]);
    }
    if (j < n_columns_) even += w[j] * static_cast<double>(x[j]);
    return even + odd;
  }

  void add_to(double* w, std::uint64_t start, double factor) const {
    const Value* x = values_.data() + start;
    for (std::size_t j = 0; j < n_columns_; ++j) w[j] += factor * static_cast<double>(x[j]);
  }

  template <class F>
  void for_each(std::uint64_t start, F&& f) const {
    for (std::size_t j = 0; j < n_columns_; ++j) f(j, static_cast<double>(values_[start + j]));
  }

  // Four rows at a time, so that H, which may not fit into the cache, is gone through a quarter as often.
  void add_outers_to(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho) const {
    constexpr std::size_t together = 4;
    std::vector<double> x(together * stride);  // rows [x, rho]; those that are missing at the end have factor 0
    for (std::size_t begin = 0; begin < rows.size(); begin += together) {
      std::array<double, together> factors{};
      for (std::size_t r = 0; r < together && begin + r < rows.size(); ++r) {
        factors[r] = rows[begin + r].factor;
        std::copy_n(values_.data() + rows[begin + r].start, n_columns_, x.data() + r * stride);
        x[r * stride + n_columns_] = rho;
      }
      const double *x0 = x.data(), *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
      for (std::size_t i = 0; i < stride; ++i) {
        double* const line = H + i * stride;
        const double s0 = factors[0] * x0[i], s1 = factors[1] * x1[i], s2 = factors[2] * x2[i], s3 = factors[3] * x3[i];
        for (std::size_t j = i; j < stride; ++j) line[j] += (s0 * x0[j] + s1 * x1[j]) + (s2 * x2[j] + s3 * x3[j]);
      }
    }
  }

  void prefetch_row(std::uint64_t start) const {
    prefetch_lines(values_.data() + start, std::min<std::size_t>(n_columns_ * sizeof(Value), 512));
  }

  std::size_t bytes() const { return values_.capacity() * sizeof(Value); }

 private:
  std::size_t n_columns_;
  std::vector<Value> values_;
};

using AnyRows =
    std::variant<SparseRows<Ones, std::uint16_t>, SparseRows<Ones, std::uint32_t>, SparseRows<float, std::uint16_t>,
                 SparseRows<float, std::uint32_t>, SparseRows<double, std::uint16_t>, SparseRows<double, std::uint32_t>,
                 DenseRows<float>, DenseRows<double>>;

// What packing needs to know beforehand to choose the layout.
struct Survey {
  std::int64_t n_stored = 0;     // non-zeros (with repetitions)
  bool float32_is_exact = true;  // every value survives the trip through float32
  bool all_ones = true;          // every non-zero is 1, and no row stores a column twice (two ones make a two) or in
                                 // falling order, which is not looked into further
};

template <class View>
Survey survey(const View& view) {
  Survey found;
  for (std::int64_t k = 0; k < view.n_rows; ++k) {
    std::int64_t cells = 0, nonzeros = 0, ones = 0, falls = 0, inexact = 0, last = -1;
    view.for_each_cell(k, [&](std::int64_t column, double value) {  // counted without a branch
      ++cells;
      nonzeros += value != 0;
      ones += value == 1;
      falls += column <= last;
      last = column;
      if constexpr (!View::is_float32)
        inexact += !(std::abs(value) <= std::numeric_limits<float>::max() &&
                     static_cast<double>(static_cast<float>(value)) == value);
    });
    found.n_stored += View::is_sparse ? cells : nonzeros;
    found.all_ones &= ones == nonzeros && falls == 0;
    found.float32_is_exact &= inexact == 0;
    if constexpr (View::is_sparse)  // where the number of values is known, there is no more to learn
      if (!found.all_ones && (View::is_float32 || !found.float32_is_exact)) {
        found.n_stored = view.starts[view.n_rows];
        break;
      }
  }
  return found;
}

struct PackedRows {
  AnyRows rows;
  std::int64_t n_rows, n_columns;
  std::vector<double> squared_norms;  // ‖x_k‖²
  std::vector<std::uint64_t> digests;
  std::int64_t n_nonzeros = 0;

  std::uint64_t start(std::size_t k) const {
    return std::visit([&](const auto& packed) { return packed.start(k); }, rows);
  }
};

// Two partial sums, which overlap.
inline double squared_norm(std::span<const Entry> entries) {
  double even = 0, odd = 0;
  std::size_t i = 0;
  for (; i + 2 <= entries.size(); i += 2) {
    even += entries[i].value * entries[i].value;
    odd += entries[i + 1].value * entries[i + 1].value;
  }
  if (i < entries.size()) even += entries[i].value * entries[i].value;
  return even + odd;
}

template <class Rows, class View>
PackedRows pack_as(Rows rows, const View& view) {
  PackedRows packed{std::move(rows), view.n_rows, view.n_columns, {}, {}, 0};
  packed.squared_norms.reserve(view.n_rows);
  packed.digests.reserve(view.n_rows);
  std::vector<Entry> room;
  Rows& target = std::get<Rows>(packed.rows);
  for (std::int64_t k = 0; k < view.n_rows; ++k) {
    const std::span<const Entry> entries = read_row(view, k, room);
    target.append(entries);
    const double norm2 = Rows::all_ones ? static_cast<double>(entries.size()) : squared_norm(entries);
    if (!std::isfinite(norm2))
      throw std::invalid_argument("the squared length of row " + std::to_string(k) +
                                  " is not a finite number; scale the features");
    packed.squared_norms.push_back(norm2);
    packed.digests.push_back(digest_row(entries));
    packed.n_nonzeros += static_cast<std::int64_t>(entries.size());
  }
  return packed;
}

template <class View>
std::int64_t count_nonzeros(const View& view) {
  std::int64_t count = 0;
  std::vector<Entry> room;
  for (std::int64_t k = 0; k < view.n_rows; ++k) count += static_cast<std::int64_t>(read_row(view, k, room).size());
  return count;
}

template <class Value, class View>
PackedRows pack_values_as(const Survey& found, const View& view) {
  const bool short_columns = view.n_columns <= std::numeric_limits<std::uint16_t>::max();
  const double column_bytes = short_columns ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  const double value_bytes = std::is_same_v<Value, Ones> ? 0 : sizeof(Value);
  const auto sparse_bytes = [&](std::int64_t n) { return n * (value_bytes + column_bytes) + view.n_rows * 12.0; };
  using Cell = std::conditional_t<std::is_same_v<Value, double>, double, float>;
  const double dense_bytes = static_cast<double>(view.n_rows) * view.n_columns * sizeof(Cell);
  // Repetitions and stored zeros must not decide.
  if (dense_bytes <= sparse_bytes(found.n_stored) &&
      (!View::is_sparse || dense_bytes <= sparse_bytes(count_nonzeros(view))))
    return pack_as(DenseRows<Cell>(view.n_rows, view.n_columns), view);
  if (short_columns) return pack_as(SparseRows<Value, std::uint16_t>(view.n_rows, found.n_stored), view);
  return pack_as(SparseRows<Value, std::uint32_t>(view.n_rows, found.n_stored), view);
}

inline PackedRows pack(const MatrixView& matrix) {
  return std::visit(
      [](const auto& view) {
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        if (view.n_rows > most || view.n_columns > most)
          throw std::invalid_argument("at most 2**31 - 1 rows and columns can be packed");
        const Survey found = survey(view);
        if (found.all_ones) return pack_values_as<Ones>(found, view);
        return found.float32_is_exact ? pack_values_as<float>(found, view) : pack_values_as<double>(found, view);
      },
      matrix);
}

}  // namespace dynmargin
