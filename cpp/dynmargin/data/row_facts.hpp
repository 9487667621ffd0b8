// What is learnt of a row while it is packed.
#pragma once

#include "dynmargin/data/canonical_rows.hpp"

namespace dynmargin {

struct RowFacts {
  std::size_t length;
  double squared_norm;
  std::uint64_t digest;
};

template <bool all_ones>
RowFacts row_facts(std::size_t length, std::uint64_t words, double squared_norm) {
  return {length, all_ones ? static_cast<double>(length) : squared_norm, RowDigest::of(words, length)};
}

// Packs a row: `put_all()` packs all its entries, several at a time, and `put(i)` one of them. A short row, whose words
// are known, is gone through only once; in a long one every loop is worth its beginning.
template <bool all_ones, class Value, class PutAll, class Put>
RowFacts pack_row(const CanonicalRow<Value>& row, const PutAll& put_all, const Put& put) {
  const std::size_t length = row.length;
  if (row.words == nullptr) {
    put_all();
    const EntrySums sums = sums_of_entries(row.values, row.columns, length);
    return row_facts<all_ones>(length, sums.words, sums.squares[0] + sums.squares[1]);
  }
  const Value* const values = row.values;
  const std::uint64_t* const given = row.words;
  std::uint64_t words = 0;
  double even = 0, odd = 0;  // as sums_of_entries adds them up
  const auto take = [&](std::size_t i, double& squares) {
    put(i);
    words += given[i];
    const auto value = static_cast<double>(values[i]);
    if constexpr (!all_ones) squares += value * value;
  };
  std::size_t i = 0;
  for (; i + 2 <= length; i += 2) {
    take(i, even);
    take(i + 1, odd);
  }
  if (i < length) take(i, even);
  return row_facts<all_ones>(length, words, even + odd);
}

}  // namespace dynmargin
