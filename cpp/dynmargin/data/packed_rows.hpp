// The rows x_k, packed one after the other: the only copy of the data that is made, shared by all classes.
//
// The layout follows from the values, not from the container they came in, so dense and CSR input with the same
// values give the same result bit for bit. Values are kept as float32 when that loses nothing, columns as 16 bits when
// there are few: memory traffic is the cost of a visit.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "dynmargin/data/column_order.hpp"
#include "dynmargin/data/default_arithmetic.hpp"
#include "dynmargin/data/dense_rows.hpp"
#include "dynmargin/data/digest.hpp"
#include "dynmargin/data/memory.hpp"
#include "dynmargin/data/sparse_rows.hpp"

namespace dynmargin {

using AnyRows =
    std::variant<SparseRows<Ones, std::uint16_t>, SparseRows<Ones, std::uint32_t>, SparseRows<float, std::uint16_t>,
                 SparseRows<float, std::uint32_t>, SparseRows<double, std::uint16_t>, SparseRows<double, std::uint32_t>,
                 DenseRows<float>, DenseRows<double>>;

// What packing needs to know beforehand to choose the layout.
struct Survey {
  std::int64_t n_stored = 0;     // non-zeros (with repetitions)
  bool float32_is_exact = true;  // every value survives the trip through float32
  bool all_ones = true;          // every non-zero is 1, and no row stores a column twice (two ones make a two) or in
                                 // falling order, where repetitions would take longer to find
};

template <class View>
Survey survey(const View& view) {
  Survey found;
  for (std::int64_t k = 0; k < view.n_rows; ++k) {
    std::int64_t cells = 0, nonzeros = 0, ones = 0, falls = 0, inexact = 0, last = -1;
    view.for_each_stored(view.cells(k), [&](std::int64_t column, double value) {  // counted without a branch
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
    if constexpr (View::is_sparse)  // the number of values is known, so there is no more to learn
      if (!found.all_ones && (View::is_float32 || !found.float32_is_exact)) {
        found.n_stored = view.n_entries();
        break;
      }
  }
  return found;
}

struct PackedRows {
  AnyRows rows;
  std::int64_t n_rows, n_columns;      // the columns that are packed
  std::int64_t n_matrix_columns;       // the columns of the matrix
  std::vector<std::uint32_t> columns;  // what the packed ones are in the matrix; empty if they are the same
  std::vector<double> squared_norms;   // ‖x_k‖²
  std::vector<std::uint64_t> digests;
  std::int64_t n_nonzeros = 0;
  bool summed = false;  // whether a row had repetitions, whose sums may be rounded

  std::uint64_t start(std::size_t k) const {
    return std::visit([&](const auto& packed) { return packed.start(k); }, rows);
  }
};

// The rows as a view of a matrix whose columns are the packed ones.
template <class Rows>
struct PackedView {
  static constexpr bool is_float32 = !std::is_same_v<typename Rows::Stored, double>;
  const Rows& rows;
  const std::vector<double>& squared_norms;
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

// Packs as `Rows`, made from the number of rows and from `extent`: columns, or entries.
template <class Rows, class View>
PackedRows pack_as(const View& view, std::int64_t extent, double bytes) {
  const double order_bytes = 4.0 * view.n_columns;
  ColumnOrder order = allocating("packing the rows", bytes + order_bytes,
                                 [&] { return ColumnOrder(view.n_columns, !Rows::has_zeros); });
  PackedRows packed = allocating("packing the rows", bytes + 16.0 * view.n_rows, [&] {
    PackedRows empty{Rows(view.n_rows, extent), view.n_rows, view.n_columns, view.n_columns, {}, {}, {}};
    empty.squared_norms.reserve(view.n_rows);
    empty.digests.reserve(view.n_rows);
    return empty;
  });
  std::vector<Entry> room;
  Rows& target = std::get<Rows>(packed.rows);
  for (std::int64_t k = 0; k < view.n_rows; ++k) {
    const RowFacts row =
        with_row(view, k, room, packed.summed, [&](const auto& entries) { return target.append(entries, order); });
    if (!std::isfinite(row.squared_norm))
      throw std::invalid_argument("the squared length of row " + std::to_string(k) +
                                  " is not a finite number; scale the features");
    packed.squared_norms.push_back(row.squared_norm);
    packed.digests.push_back(row.digest);
    packed.n_nonzeros += static_cast<std::int64_t>(row.length);
  }
  packed.n_columns = order.n_packed();
  packed.columns = order.take();
  return packed;
}

template <class View>
std::int64_t count_nonzeros(const View& view) {
  std::int64_t count = 0;
  std::vector<Entry> room;
  bool summed = false;
  const auto size = [](const auto& row) { return static_cast<std::int64_t>(row.size()); };
  for (std::int64_t k = 0; k < view.n_rows; ++k) count += with_row(view, k, room, summed, size);
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
  // Repetitions and stored zeros must not decide the layout.
  if (dense_bytes <= sparse_bytes(found.n_stored) &&
      (!View::is_sparse || dense_bytes <= sparse_bytes(count_nonzeros(view))))
    return pack_as<DenseRows<Cell>>(view, view.n_columns, dense_bytes);
  const double bytes = sparse_bytes(found.n_stored);
  if (short_columns) return pack_as<SparseRows<Value, std::uint16_t>>(view, found.n_stored, bytes);
  return pack_as<SparseRows<Value, std::uint32_t>>(view, found.n_stored, bytes);
}

inline PackedRows pack(const MatrixView& matrix) {
  const DefaultArithmetic arithmetic;  // without it the smallest values might be packed as zeros
  return std::visit(
      [](const auto& view) {
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        require(view.n_rows <= most && view.n_columns <= most, "at most 2**31 - 1 rows and columns can be packed");
        const Survey found = survey(view);
        if (found.all_ones) return pack_values_as<Ones>(found, view);
        return found.float32_is_exact ? pack_values_as<float>(found, view) : pack_values_as<double>(found, view);
      },
      matrix);
}

}  // namespace dynmargin
