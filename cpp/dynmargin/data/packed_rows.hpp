// The rows x_k, packed one after the other: the only copy of the data that is made, shared by all classes.
//
// The layout follows from the values, not from the container they came in, so dense and CSR input with the same
// values give the same result bit for bit. Values are kept as float32 when that loses nothing, columns as 16 bits when
// there are few: memory traffic is the cost of a visit.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "dynmargin/data/dense_rows.hpp"
#include "dynmargin/data/sparse_rows.hpp"
#include "dynmargin/order/threads.hpp"

namespace dynmargin {

using AnyRows =
    std::variant<SparseRows<Ones, std::uint16_t>, SparseRows<Ones, std::uint32_t>, SparseRows<float, std::uint16_t>,
                 SparseRows<float, std::uint32_t>, SparseRows<double, std::uint16_t>, SparseRows<double, std::uint32_t>,
                 DenseRows<float>, DenseRows<double>>;

struct PackedRows {
  AnyRows rows;
  std::int64_t n_rows, n_columns;      // the columns that are packed
  std::int64_t n_matrix_columns;       // the columns of the matrix
  std::vector<std::uint32_t> columns;  // what the packed ones are in the matrix; empty if they are the same
  UnsetVector<double> squared_norms;   // ‖x_k‖²
  UnsetVector<std::uint64_t> digests;
  std::int64_t n_nonzeros = 0;
  bool summed = false;  // whether a row had repetitions, whose sums may be rounded

  std::uint64_t start(std::size_t k) const {
    return std::visit([&](const auto& packed) { return packed.start(k); }, rows);
  }
};

inline bool is_dense(const PackedRows& packed) {
  return std::visit([](const auto& rows) { return rows.has_zeros; }, packed.rows);
}

// The rows as a view of a matrix whose columns are the packed ones.
template <class Rows>
struct PackedView {
  static constexpr bool is_float32 = !std::is_same_v<typename Rows::Stored, double>;
  const Rows& rows;
  const UnsetVector<double>& squared_norms;
  std::int64_t n_rows;

  double length(std::int64_t row) const { return std::sqrt(squared_norms[row]); }
  SizedSum sized_dot(std::int64_t row, const double* w) const { return rows.sized_dot(rows.start(row), w); }

  template <class F>
  void for_each_cell(std::int64_t row, const F& f) const {
    rows.for_each(rows.start(row), f);
  }
  template <class F>
  void for_each_entry(std::int64_t row, const F& f) const {
    for_each_cell(row, [&](std::int64_t column, double value) {
      if (!Rows::has_zeros || value != 0) f(column, value);
    });
  }
};

}  // namespace dynmargin
