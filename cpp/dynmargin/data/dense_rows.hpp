// Dense rows, one after the other.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "dynmargin/data/column_order.hpp"
#include "dynmargin/data/dense_products.hpp"
#include "dynmargin/data/outer_products.hpp"
#include "dynmargin/data/row_facts.hpp"
#include "dynmargin/data/row_products.hpp"

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

  double dot(std::uint64_t start, const double* w) const {
    return is_short() ? InPlace::dot(start, w) : dense_dot(values(start), w, n_columns_);
  }
  SizedSum sized_dot(std::uint64_t start, const double* w) const {
    return is_short() ? InPlace::sized_dot(start, w) : dense_sized_dot(values(start), w, n_columns_);
  }
  void add_to(double* w, std::uint64_t start, double factor) const {
    is_short() ? InPlace::add_to(w, start, factor) : add_dense_to(w, values(start), n_columns_, factor);
  }

  // H += sum factor [x, rho] [x, rho]^T over the rows, upper triangle, lines `first` to `last` - 1.
  void add_outers_to(double* H, std::size_t stride, std::span<const WeightedRow> rows, double rho, std::size_t first,
                     std::size_t last) const {
    add_outers_as_dense(H, stride, rows, rho, first, last,
                        [this](std::uint64_t start, double* x) { std::copy_n(values(start), n_columns_, x); });
  }

  void add_outer_work_to(double* work, std::uint64_t /*start*/) const {
    for (std::size_t i = 0; i <= n_columns_; ++i) work[i] += static_cast<double>(n_columns_ + 1 - i);
  }

  // What a row costs there, in multiplications of a pass over rows.
  double outer_work(std::uint64_t /*start*/, std::size_t /*n_columns*/) const {
    return outer_work_as_dense(n_columns_, true);
  }

  void prefetch_row(std::uint64_t start) const {
    prefetch_lines(values(start), std::min<std::size_t>(n_columns_ * sizeof(Value), 512));
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
  using InPlace = RowProducts<DenseRows>;

  // Too short to be worth the call of a function. (Eight problems of 21 to 30 columns: with calls PDM takes 1.04 times
  // as long, coordinate descent 1.08 times.)
  bool is_short() const { return n_columns_ < 32; }

  const Value* values(std::uint64_t start) const { return values_.get() + start; }

  std::size_t n_columns_, size_;
  std::shared_ptr<Value[]> values_;
};

}  // namespace dynmargin
