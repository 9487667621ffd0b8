// Some rows of every block of a file, copied into one place, to be visited while the blocks are not in memory.
//
// Values are rounded to float32: they only steer the descent, and whatever is proven is computed from the blocks. More
// rows fit that way, which is what a pool is worth. (600,000 x 47,236 texts, passes over the disk to a gap of 1 %: 33
// with 3 % of the rows in the pool, 15 with 10 %, 9 with 17 %, 7 with 25 %.)
#pragma once

#include <algorithm>
#include <numeric>

#include "dynmargin/data/packed_rows.hpp"

namespace dynmargin {

class RowPool {
 public:
  enum class Layout { ones, sparse, dense };

  // What holds all blocks, given the layouts of their packed rows; rows of few blocks may be dense by chance.
  static Layout common(std::span<const std::uint64_t> layouts) {
    constexpr std::uint64_t first_with_values = 2, first_dense = 6;
    static_assert(
        std::is_same_v<std::variant_alternative_t<first_with_values, AnyRows>, SparseRows<float, std::uint16_t>> &&
        std::is_same_v<std::variant_alternative_t<first_dense, AnyRows>, DenseRows<float>>);
    const auto all = [&](const auto& are) { return std::all_of(layouts.begin(), layouts.end(), are); };
    if (all([](std::uint64_t layout) { return layout < first_with_values; })) return Layout::ones;
    return all([](std::uint64_t layout) { return layout >= first_dense; }) ? Layout::dense : Layout::sparse;
  }

  // The bytes of an entry; the entries of a dense row are all its cells.
  static std::size_t entry_bytes(Layout layout, std::int64_t n_columns) {
    const std::size_t column = is_short(n_columns) ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
    return (layout == Layout::ones ? 0 : sizeof(float)) + (layout == Layout::dense ? 0 : column);
  }

  RowPool(Layout layout, std::int64_t n_columns, std::int64_t most_rows, std::int64_t most_entries)
      : most_rows_(most_rows),
        most_entries_(most_entries),
        order_(n_columns, layout != Layout::dense),
        packed_(std::make_shared<PackedRows>(
            PackedRows{empty(layout, n_columns, most_rows, most_entries), 0, n_columns, n_columns, {}, {}, {}})) {
    packed_->squared_norms.reserve(most_rows);
  }

  // Copies the rows of a block that have gained most, a share of its rows and of their entries at most; returns which.
  std::vector<std::int64_t> take(const PackedRows& block, std::span<const double> gain, double share) {
    require(packed_ != nullptr, "the rows have left the pool");
    require(std::ssize(gain) == block.n_rows, "there must be one gain per row");
    require(block.n_matrix_columns == packed_->n_matrix_columns, "the rows have other columns than the pool");
    return std::visit(
        [&](const auto& rows) {
          std::vector<std::int64_t> chosen = most_gained(block, rows, gain, share);
          std::erase_if(chosen, [&](std::int64_t k) {
            double squared_norm = 0;
            columns_.clear();
            values_.clear();
            rows.for_each(rows.start(k), [&](auto column, double value) {
              const double rounded = static_cast<float>(value);
              if (rounded == 0) return;
              columns_.push_back(block.columns.empty() ? static_cast<std::uint32_t>(column) : block.columns[column]);
              values_.push_back(rounded);
              squared_norm += rounded * rounded;
            });
            // Rows may be as long as 1e100, and as short as 1e-100. What float32 cannot hold stays on the disk.
            const double off = std::abs(squared_norm - block.squared_norms[k]);
            if (!(off <= 1e-6 * block.squared_norms[k])) return true;
            append();
            return false;
          });
          return chosen;
        },
        block.rows);
  }

  // The rows, which leave the pool.
  std::shared_ptr<PackedRows> release() {
    require(packed_ != nullptr, "the rows have left the pool");
    packed_->n_columns = order_.n_packed();
    packed_->columns = order_.take();
    return std::move(packed_);
  }

 private:
  static bool is_short(std::int64_t n_columns) { return n_columns <= std::numeric_limits<std::uint16_t>::max(); }

  static AnyRows empty(Layout layout, std::int64_t n_columns, std::int64_t rows, std::int64_t entries) {
    if (layout == Layout::dense) return DenseRows<float>(rows, n_columns);
    const auto sparse = [&]<class Value>(Value) -> AnyRows {
      if (is_short(n_columns)) return SparseRows<Value, std::uint16_t>(rows, entries);
      return SparseRows<Value, std::uint32_t>(rows, entries);
    };
    return layout == Layout::ones ? sparse(Ones{}) : sparse(float{});
  }

  template <class Rows>
  std::vector<std::int64_t> most_gained(const PackedRows& block, const Rows& rows, std::span<const double> gain,
                                        double share) const {
    std::vector<std::int64_t> chosen;
    for (std::int64_t k = 0; k < block.n_rows; ++k)
      if (gain[k] > 0) chosen.push_back(k);
    const auto part = [=](std::int64_t n) { return static_cast<std::int64_t>(share * static_cast<double>(n)); };
    const std::int64_t most = std::min({part(block.n_rows), most_rows_ - packed_->n_rows, std::ssize(chosen)});
    std::partial_sort(chosen.begin(), chosen.begin() + most, chosen.end(),
                      [&](std::int64_t i, std::int64_t j) { return gain[i] != gain[j] ? gain[i] > gain[j] : i < j; });
    const std::int64_t cells = dense() ? block.n_rows * block.n_matrix_columns : block.n_nonzeros;
    std::int64_t left = std::min(part(cells), most_entries_ - n_entries_), n = 0;
    for (; n < most; ++n) {
      left -= dense() ? block.n_matrix_columns : static_cast<std::int64_t>(rows.row(rows.start(chosen[n])).length);
      if (left < 0) break;
    }
    chosen.resize(n);
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  bool dense() const { return std::holds_alternative<DenseRows<float>>(packed_->rows); }

  // What has been gathered of a row.
  void append() {
    PackedRows& all = *packed_;
    const CanonicalRow<double> row{columns_.data(), values_.data(), columns_.size(), nullptr};
    const RowFacts facts = std::visit(
        [&](auto& rows) {
          auto writer = rows.writer(all.n_rows, n_entries_, most_rows_, most_entries_);
          if (!order_.renumbers()) return writer.append(all.n_rows, row, AsTheyStand());
          return writer.append(all.n_rows, row, [&](const auto& columns, auto* places) { order_(columns, places); });
        },
        all.rows);
    all.squared_norms.push_back(facts.squared_norm);
    all.n_nonzeros += static_cast<std::int64_t>(facts.length);
    n_entries_ += dense() ? all.n_matrix_columns : static_cast<std::int64_t>(facts.length);
    ++all.n_rows;
  }

  std::int64_t most_rows_, most_entries_, n_entries_ = 0;
  ColumnOrder order_;
  std::shared_ptr<PackedRows> packed_;
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_;
};

}  // namespace dynmargin
