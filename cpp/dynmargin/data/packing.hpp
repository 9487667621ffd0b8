// From a borrowed matrix to packed rows, in parts that threads pack side by side.
//
// What is packed does not depend on the parts: rows keep their order, and columns are numbered as they are first seen,
// part after part.
#pragma once

#include <bit>

#include "dynmargin/data/canonical_rows.hpp"
#include "dynmargin/data/column_order.hpp"
#include "dynmargin/data/memory.hpp"
#include "dynmargin/data/packed_rows.hpp"
#include "dynmargin/data/patience.hpp"
#include "dynmargin/order/threads.hpp"

namespace dynmargin {

// Rows begin to end - 1.
struct RowPart {
  std::int64_t begin, end;
  std::int64_t between_checks;  // of the patience, in rows; one less than a power of two
  Patience* patience;
  std::int64_t n_stored = 0;  // non-zeros (with repetitions)

  // Called at every row, or at a stretch of them; the first few are packed in any case.
  void check_at(std::int64_t first, std::int64_t last) const {
    const std::int64_t due = last & ~between_checks;
    if (due >= first && due > begin) patience->check();
  }
  void check_at(std::int64_t k) const { check_at(k, k); }
};

// A few parts per thread, so that one which is slow does not keep the others waiting, of an entry count that is worth a
// thread. Where columns are renumbered, a part has an order of its own, four bytes per column, which is merged with the
// others afterwards: then a thread has one part, and no more parts than there are entries per column.
template <class View>
std::vector<RowPart> cut_into_parts(const View& view, unsigned n_threads, Patience& patience) {
  constexpr std::int64_t parts_per_thread = 4, worthwhile = 1 << 14;
  const std::size_t rows_per_block = Blocks::of_rows(view.n_rows, static_cast<double>(view.n_entries())).begin(1);
  const auto between_checks = static_cast<std::int64_t>(std::bit_floor(rows_per_block)) - 1;
  const bool renumbers = view.n_columns >= ColumnOrder::many;
  const std::int64_t worth_it = renumbers ? std::max(worthwhile, view.n_columns) : worthwhile;
  const std::int64_t most = std::min(view.n_entries() / worth_it, view.n_rows);
  const std::int64_t wanted = n_threads * (n_threads > 1 && !renumbers ? parts_per_thread : 1);
  const auto n = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, most));
  std::vector<RowPart> parts;
  for (std::int64_t i = 0; i < n; ++i)
    parts.push_back({view.n_rows * i / n, view.n_rows * (i + 1) / n, between_checks, &patience});
  return parts;
}

// What packing needs to know beforehand to choose the layout.
struct Survey {
  std::int64_t n_stored = 0;     // non-zeros (with repetitions)
  bool float32_is_exact = true;  // every value survives the trip through float32
  bool all_ones = true;          // every non-zero is 1, and no row stores a column twice (two ones make a two) or in
                                 // falling order, where repetitions would take longer to find
};

template <class View>
Survey survey(const View& view, const RowPart& part) {
  Survey found;
  Stretches<View>(view).for_each(part.begin, part.end, [&](const auto& stretch) {
    part.check_at(stretch.first_row, stretch.first_row + std::ssize(stretch.lengths) - 1);
    const std::size_t nonzeros = stretch.size() - stretch.count(0);
    if constexpr (!View::is_sparse) found.n_stored += static_cast<std::int64_t>(nonzeros);
    found.all_ones = found.all_ones && stretch.count(1) == nonzeros && stretch.n_out_of_order() == 0;
    if constexpr (!View::is_float32) found.float32_is_exact = found.float32_is_exact && stretch.fits_float32();
    return !View::is_sparse || found.all_ones || (!View::is_float32 && found.float32_is_exact);
  });
  if constexpr (View::is_sparse)  // the number of values is known, whether or not there is more to learn from them
    if (part.begin < part.end) {
      const auto last = view.cells(part.end - 1);
      found.n_stored = last.begin + last.size - view.cells(part.begin).begin;
      if (found.n_stored < 0) throw_changed();
    }
  return found;
}

template <class View>
Survey survey(const View& view, std::vector<RowPart>& parts, unsigned n_threads) {
  std::vector<Survey> found(parts.size());
  in_threads(n_threads, parts.size(), [&](std::size_t i) { found[i] = survey(view, parts[i]); });
  Survey all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].n_stored = found[i].n_stored;
    all.n_stored += found[i].n_stored;
    all.float32_is_exact &= found[i].float32_is_exact;
    all.all_ones &= found[i].all_ones;
  }
  return all;
}

// What is learnt of a part while it is packed, beside the facts of its rows.
struct PartFacts {
  std::int64_t n_nonzeros = 0;
  bool summed = false;
};

// Packs the rows of a part; `number` gives columns their places.
template <class View, class Writer, class Number>
PartFacts pack_part(const View& view, const RowPart& part, Writer writer, const Number& number, PackedRows& packed) {
  const DefaultArithmetic arithmetic;  // without it the smallest values might be packed as zeros
  CanonicalRows<View> rows(view);
  PartFacts facts;
  rows.for_each(part.begin, part.end, [&](std::int64_t k, const auto& row) {
    part.check_at(k);
    const RowFacts found = writer.append(k, row, number);
    if (!std::isfinite(found.squared_norm))
      throw std::invalid_argument("the squared length of row " + std::to_string(k) +
                                  " (counting from 0) is not a finite number; scale the features");
    packed.squared_norms[k] = found.squared_norm;
    packed.digests[k] = found.digest;
    facts.n_nonzeros += static_cast<std::int64_t>(found.length);
  });
  facts.summed = rows.summed();
  return facts;
}

// Gives the columns of all parts but the first the places that they have in the order of all rows. (Packing with two
// threads, compared with one: 0.85 of the time on 20 Newsgroups and 0.74 on rcv1-like:300000. Where every part only
// noted which columns it has, and got all places afterwards, 1.28 and 1.1.)
template <class Rows>
void merge_orders(Rows& target, const std::vector<RowPart>& parts, std::vector<ColumnOrder>& orders,
                  unsigned n_threads) {
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const std::vector<std::uint32_t> place = orders[0].append(orders[p]);
    const auto n_rows = static_cast<std::size_t>(parts[p].end - parts[p].begin);
    const Blocks blocks(n_rows, static_cast<std::size_t>(parts[p].between_checks) + 1);
    blocks.for_each(n_threads, [&](std::size_t /*block*/, std::size_t begin, std::size_t end) {
      parts[p].patience->check();
      for (std::size_t i = begin; i < end; ++i)
        target.renumber(parts[p].begin + static_cast<std::int64_t>(i), [&](auto column) { return place[column]; });
    });
  }
}

// Packs as `Rows`, made from the number of rows and from `extent`: columns, or entries.
template <class Rows, class View>
PackedRows pack_as(const View& view, const std::vector<RowPart>& parts, unsigned n_threads, std::int64_t extent,
                   double bytes) {
  const bool renumbers = !Rows::has_zeros && view.n_columns >= ColumnOrder::many;
  const double all_bytes = bytes + 16.0 * view.n_rows + (renumbers ? 4.0 * view.n_columns * parts.size() : 0);
  const auto new_order = [&] {
    return allocating("packing the rows", all_bytes, [&] { return ColumnOrder(view.n_columns, renumbers); });
  };
  std::vector<ColumnOrder> orders(renumbers ? parts.size() : 1, ColumnOrder(view.n_columns, false));
  if (renumbers) orders[0] = new_order();  // before all rows: what has no room at all is refused at once
  PackedRows packed = allocating("packing the rows", all_bytes, [&] {
    PackedRows empty{Rows(view.n_rows, extent), view.n_rows, view.n_columns, view.n_columns, {}, {}, {}};
    empty.squared_norms.resize(view.n_rows);
    empty.digests.resize(view.n_rows);
    return empty;
  });
  Rows& target = std::get<Rows>(packed.rows);
  std::vector<std::int64_t> stored_before{0};
  for (const RowPart& part : parts) stored_before.push_back(stored_before.back() + part.n_stored);
  std::vector<PartFacts> facts(parts.size());
  in_threads(n_threads, parts.size(), [&](std::size_t i) {
    const auto with = [&](const auto& number) {
      const auto writer = target.writer(parts[i].begin, stored_before[i], parts[i].end, stored_before[i + 1]);
      facts[i] = pack_part(view, parts[i], writer, number, packed);
    };
    if (!renumbers) return with(AsTheyStand());
    ColumnOrder own = i == 0 ? std::move(orders[0]) : new_order();
    with([&](const auto& columns, auto* places) { own(columns, places); });
    orders[i] = std::move(own);
  });
  for (const PartFacts& part : facts) {
    packed.n_nonzeros += part.n_nonzeros;
    packed.summed |= part.summed;
  }
  if constexpr (!Rows::has_zeros) {
    if (renumbers) target.set_renumbered();
    if (renumbers) merge_orders(target, parts, orders, n_threads);
  }
  packed.n_columns = orders[0].n_packed();
  packed.columns = orders[0].take();
  return packed;
}

template <class View>
std::int64_t count_nonzeros(const View& view, const std::vector<RowPart>& parts, unsigned n_threads) {
  std::vector<std::int64_t> counts(parts.size());
  in_threads(n_threads, parts.size(), [&](std::size_t i) {
    std::int64_t count = 0;
    CanonicalRows<View>(view).for_each(parts[i].begin, parts[i].end, [&](std::int64_t k, const auto& row) {
      parts[i].check_at(k);
      count += static_cast<std::int64_t>(row.length);
    });
    counts[i] = count;
  });
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

template <class Value, class View>
PackedRows pack_values_as(const Survey& found, const View& view, const std::vector<RowPart>& parts,
                          unsigned n_threads) {
  const bool short_columns = view.n_columns <= std::numeric_limits<std::uint16_t>::max();
  const double column_bytes = short_columns ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  const double value_bytes = std::is_same_v<Value, Ones> ? 0 : sizeof(Value);
  const auto sparse_bytes = [&](std::int64_t n) { return n * (value_bytes + column_bytes) + view.n_rows * 12.0; };
  using Cell = std::conditional_t<std::is_same_v<Value, double>, double, float>;
  const double dense_bytes = static_cast<double>(view.n_rows) * view.n_columns * sizeof(Cell);
  // Repetitions and stored zeros must not decide the layout.
  if (dense_bytes <= sparse_bytes(found.n_stored) &&
      (!View::is_sparse || dense_bytes <= sparse_bytes(count_nonzeros(view, parts, n_threads))))
    return pack_as<DenseRows<Cell>>(view, parts, n_threads, view.n_columns, dense_bytes);
  const double bytes = sparse_bytes(found.n_stored);
  if (short_columns) return pack_as<SparseRows<Value, std::uint16_t>>(view, parts, n_threads, found.n_stored, bytes);
  return pack_as<SparseRows<Value, std::uint32_t>>(view, parts, n_threads, found.n_stored, bytes);
}

inline PackedRows pack(const MatrixView& matrix, unsigned n_threads, Patience& patience) {
  const DefaultArithmetic arithmetic;
  return std::visit(
      [&](const auto& view) {
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        require(view.n_rows <= most && view.n_columns <= most, "at most 2**31 - 1 rows and columns can be packed");
        std::vector<RowPart> parts = cut_into_parts(view, n_threads, patience);
        const Survey found = survey(view, parts, n_threads);
        if (found.all_ones) return pack_values_as<Ones>(found, view, parts, n_threads);
        return found.float32_is_exact ? pack_values_as<float>(found, view, parts, n_threads)
                                      : pack_values_as<double>(found, view, parts, n_threads);
      },
      matrix);
}

}  // namespace dynmargin
