// What is learnt of a row while it is packed.
#pragma once

#include "dynmargin/data/digest.hpp"

namespace dynmargin {

struct RowFacts {
  std::size_t length;
  double squared_norm;
  std::uint64_t digest;
};

// Goes through a canonical row once: `put(i, entry)` packs an entry. (Packing Adult takes 2.4 ms, and 4.0 if every row
// is copied first and every fact has a loop of its own; 52,540 rows of 120 columns 16 and 23.)
template <bool all_ones, class Row, class Put>
RowFacts pack_row(const Row& entries, const Put& put) {
  const auto length = static_cast<std::size_t>(entries.size());
  RowDigest digest;
  double even = 0, odd = 0;  // two partial sums, which overlap
  const auto take = [&](std::size_t i, double& norm2) {
    const Entry e = entries[i];
    put(i, e);
    digest.append(e);
    if constexpr (!all_ones) norm2 += e.value * e.value;
  };
  std::size_t i = 0;
  for (; i + 2 <= length; i += 2) {
    take(i, even);
    take(i + 1, odd);
  }
  if (i < length) take(i, even);
  return {length, all_ones ? static_cast<double>(length) : even + odd, digest.of_length(length)};
}

}  // namespace dynmargin
