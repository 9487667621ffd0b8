// Dense rows, one after the other.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "dynmargin/data/column_order.hpp"
#include "dynmargin/data/row_facts.hpp"
#include "dynmargin/data/row_products.hpp"
#include "dynmargin/solve/four_rows.hpp"

namespace dynmargin {

template <class Value>
class DenseRows : public RowProducts<DenseRows<Value>> {
 public:
  static constexpr bool all_ones = false;
  static constexpr bool has_zeros = true;
  using Stored = Value;

  DenseRows(std::int64_t n_rows, std::int64_t n_columns)
      : n_columns_(n_columns), size_(n_rows * n_columns), values_(new Value[size_]) {}

  std::uint64_t start(std::size_t k) const { return k * n_columns_; }

  class Writer {
   public:
    explicit Writer(DenseRows& rows) : rows_(rows) {}

    template <class Given, class Number>
    RowFacts append(std::int64_t k, const CanonicalRow<Given>& row, const Number& /*number*/) {
      Value* __restrict values = rows_.values_.get() + rows_.start(k);
      const Given* __restrict from = row.values;
      if (row.length == rows_.n_columns_)
        return pack_row<false>(
            row, [=, n = row.length] { std::copy_n(from, n, values); },
            [=](std::size_t i) { values[i] = static_cast<Value>(from[i]); });
      std::fill_n(values, rows_.n_columns_, Value{});
      const std::uint32_t* const columns = row.columns;
      const auto put = [=](std::size_t i) { values[columns[i]] = static_cast<Value>(from[i]); };
      return pack_row<false>(
          row,
          [=, n = row.length] {
            for (std::size_t i = 0; i < n; ++i) put(i);
          },
          put);
    }

   private:
    DenseRows& rows_;
  };
  Writer writer(std::int64_t /*row*/, std::int64_t /*stored*/, std::int64_t /*end_row*/, std::int64_t /*end_stored*/) {
    return Writer(*this);
  }

  struct Row {
    const Value* values;
    std::size_t length;
    std::size_t column(std::size_t i) const { return i; }
    template <class Factor>
    Factor times(std::size_t i, Factor factor) const {
      return factor * static_cast<double>(values[i]);
    }
  };
  Row row(std::uint64_t start) const { return {values_.get() + start, n_columns_}; }

  // Four rows at a time, so that H, which may not fit into the cache, is read and written a quarter as often.
  void add_outers_to(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho, std::size_t first,
                     std::size_t last) const {
    constexpr std::size_t together = 4;
    std::vector<double> x(together * stride);  // rows [x, rho]; those missing at the end have factor 0
    for (std::size_t begin = 0; begin < rows.size(); begin += together) {
      std::array<double, together> factors{};
      for (std::size_t r = 0; r < together && begin + r < rows.size(); ++r) {
        factors[r] = rows[begin + r].factor;
        std::copy_n(values_.get() + rows[begin + r].start, n_columns_, x.data() + r * stride);
        x[r * stride + n_columns_] = rho;
      }
      const double *x0 = x.data(), *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
      for (std::size_t i = first; i < last; ++i) {
        add_four_rows(H + i * stride, {factors[0] * x0[i], factors[1] * x1[i], factors[2] * x2[i], factors[3] * x3[i]},
                      {x0, x1, x2, x3}, i, stride);
      }
    }
  }

  void add_outer_work_to(double* work, std::uint64_t /*start*/) const {
    for (std::size_t i = 0; i <= n_columns_; ++i) work[i] += static_cast<double>(n_columns_ + 1 - i);
  }

  // What a row costs there, in multiplications of a pass over rows: here three are made in the time of one there.
  double outer_work(std::uint64_t /*start*/) const {
    return static_cast<double>(n_columns_) * static_cast<double>(n_columns_) / 6;
  }

  void prefetch_row(std::uint64_t start) const {
    prefetch_lines(values_.get() + start, std::min<std::size_t>(n_columns_ * sizeof(Value), 512));
  }

  std::size_t bytes() const { return size_ * sizeof(Value); }

  // The values, for a file.
  void store(std::vector<std::byte>& bytes) const {
    const auto values = std::as_bytes(std::span<const Value>(values_.get(), size_));
    bytes.insert(bytes.end(), values.begin(), values.end());
  }

  // Rows from stored values, which are not copied if they have an owner, who keeps them.
  DenseRows(std::int64_t n_rows, std::int64_t n_columns, bool /*renumbered*/, std::span<const std::byte> stored,
            const std::shared_ptr<const void>& owner)
      : n_columns_(n_columns), size_(stored.size() / sizeof(Value)) {
    require(n_columns == 0 ? stored.empty()
                           : stored.size() % (n_columns * sizeof(Value)) == 0 &&
                                 stored.size() / (n_columns * sizeof(Value)) == static_cast<std::size_t>(n_rows),
            "the stored rows are damaged");
    if (owner) {
      auto* const values = reinterpret_cast<const Value*>(stored.data());
      values_ = std::shared_ptr<Value[]>(owner, const_cast<Value*>(values));
    } else {
      values_ = std::shared_ptr<Value[]>(new Value[size_]);
      if (!stored.empty()) std::memcpy(values_.get(), stored.data(), stored.size());
    }
  }

 private:
  std::size_t n_columns_, size_;
  std::shared_ptr<Value[]> values_;
};

}  // namespace dynmargin
