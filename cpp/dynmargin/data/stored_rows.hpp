// Packed rows as bytes, for a file, and back: what is read is ready to be trained on.
//
//   eight words   what it is, the layout, rows, columns that are packed, columns of the matrix, whether columns are
//                 renumbered, the bytes of the rows, a checksum of all that follows
//   columns       what the packed ones are in the matrix, if they are renumbered, filled up to whole words
//   digests       one word per row
//   rows          as they lie in memory, filled up to whole words
//
// Bytes may come from anywhere. Whatever could be read or written outside of memory is checked, no column may occur
// twice, and the lengths of rows, which bounds on rounding errors rest on, are computed anew: whatever is proven is
// true of these rows. The checksum tells changed files from others. It is no defence against somebody who means harm:
// whoever verifies does not trust the stored digests of rows either and has them computed anew.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "dynmargin/data/packed_rows.hpp"

namespace dynmargin {

using Bytes = std::span<const std::byte>;
using Owner = std::shared_ptr<const void>;  // of bytes

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t stored_rows_mark = 0x0131776f72206d64u;  // "dm row1" and a version, in this byte order

inline std::size_t whole_words(std::size_t bytes) { return (bytes + word_bytes - 1) / word_bytes * word_bytes; }

// Every word changes one of four sums, whatever the words before it are; four, because a CPU computes them side by
// side.
inline std::uint64_t checksum(Bytes bytes) {
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  const auto take = [](std::uint64_t& lane, const std::byte* from) {
    std::uint64_t word;
    std::memcpy(&word, from, word_bytes);
    lane = (lane ^ word) * 0x9e3779b97f4a7c15u;
    lane ^= lane >> 32;
  };
  std::size_t place = 0;
  for (; place + 4 * word_bytes <= bytes.size(); place += 4 * word_bytes)
    for (std::size_t i = 0; i < 4; ++i) take(lanes[i], bytes.data() + place + i * word_bytes);
  for (; place < bytes.size(); place += word_bytes) {
    std::array<std::byte, word_bytes> rest{};
    std::copy_n(bytes.data() + place, std::min(word_bytes, bytes.size() - place), rest.data());
    take(lanes[0], rest.data());
  }
  std::uint64_t sum = bytes.size();
  for (const std::uint64_t lane : lanes) sum = mix64(sum ^ lane);
  return sum;
}

inline std::vector<std::byte> store_rows(const PackedRows& packed) {
  const std::size_t head = 8 * word_bytes;
  std::vector<std::byte> bytes(head);
  const auto fill_up = [&] { bytes.resize(whole_words(bytes.size())); };
  for (const Bytes part : {std::as_bytes(std::span(packed.columns)), std::as_bytes(std::span(packed.digests))}) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    fill_up();
  }
  const std::size_t begin = bytes.size();
  std::visit([&](const auto& rows) { rows.store(bytes); }, packed.rows);
  const std::size_t stored = bytes.size() - begin;
  fill_up();
  const std::array<std::uint64_t, 8> words{stored_rows_mark,
                                           packed.rows.index(),
                                           static_cast<std::uint64_t>(packed.n_rows),
                                           static_cast<std::uint64_t>(packed.n_columns),
                                           static_cast<std::uint64_t>(packed.n_matrix_columns),
                                           !packed.columns.empty(),
                                           stored,
                                           checksum(Bytes(bytes).subspan(head))};
  std::memcpy(bytes.data(), words.data(), head);
  return bytes;
}

namespace stored_rows {

// Of a row, in the order in which it was packed, so that it is the same to the last bit.
template <class Rows>
double squared_norm(const Rows& rows, std::uint64_t start, std::int64_t& n_nonzeros) {
  std::array<double, 2> sums{};
  std::size_t i = 0;
  rows.for_each(start, [&](auto /*column*/, double value) {
    if (value == 0) return;
    sums[i++ % 2] += value * value;
  });
  n_nonzeros += static_cast<std::int64_t>(i);
  return sums[0] + sums[1];
}

// Of a row, by the columns of the matrix, as when it was packed.
template <class Rows>
std::uint64_t digest(const Rows& rows, std::uint64_t start, std::span<const std::uint32_t> columns) {
  RowDigest digest;
  std::size_t length = 0;
  rows.for_each(start, [&](auto column, double value) {
    if (value == 0) return;
    digest.append({columns.empty() ? static_cast<std::int64_t>(column) : columns[column], value});
    ++length;
  });
  return digest.of_length(length);
}

template <class Rows>
PackedRows load_as(std::span<const std::uint64_t> words, Bytes columns, Bytes digests, Bytes blocks,
                   std::int64_t n_matrix_columns, bool trust_digests, const Owner& owner) {
  const auto n_rows = static_cast<std::int64_t>(words[2]), n_columns = static_cast<std::int64_t>(words[3]);
  const bool renumbered = words[5] == 1;
  PackedRows packed{Rows(n_rows, n_columns, renumbered && !Rows::has_zeros, blocks, owner),
                    n_rows,
                    n_columns,
                    n_matrix_columns,
                    std::vector<std::uint32_t>(columns.size() / sizeof(std::uint32_t)),
                    {},
                    UnsetVector<std::uint64_t>(n_rows)};
  if (!columns.empty()) std::memcpy(packed.columns.data(), columns.data(), columns.size());
  if (!digests.empty()) std::memcpy(packed.digests.data(), digests.data(), digests.size());
  std::vector<bool> seen(packed.columns.empty() ? 0 : n_matrix_columns);
  for (const std::uint32_t column : packed.columns) {
    require(column < n_matrix_columns, "the stored rows have a column that the data do not have");
    require(!seen[column], "the stored rows have a column twice");
    seen[column] = true;
  }
  // Rows that were packed when fewer columns had been seen have the first ones.
  if (!renumbered && n_columns < n_matrix_columns) {
    packed.columns.resize(n_columns);
    std::iota(packed.columns.begin(), packed.columns.end(), 0u);
  }
  packed.squared_norms.reserve(n_rows);
  const Rows& rows = std::get<Rows>(packed.rows);
  for (std::int64_t k = 0; k < n_rows; ++k) {
    packed.squared_norms.push_back(squared_norm(rows, rows.start(k), packed.n_nonzeros));
    require(std::isfinite(packed.squared_norms.back()), "the stored rows have a value that is not finite");
    if (!trust_digests) packed.digests[k] = digest(rows, rows.start(k), packed.columns);
  }
  return packed;
}

template <std::size_t layout = 0>
PackedRows load(std::span<const std::uint64_t> words, Bytes columns, Bytes digests, Bytes blocks,
                std::int64_t n_matrix_columns, bool trust_digests, const Owner& owner) {
  if constexpr (layout < std::variant_size_v<AnyRows>) {
    if (words[1] != layout)
      return load<layout + 1>(words, columns, digests, blocks, n_matrix_columns, trust_digests, owner);
    return load_as<std::variant_alternative_t<layout, AnyRows>>(words, columns, digests, blocks, n_matrix_columns,
                                                                trust_digests, owner);
  } else {
    throw std::invalid_argument("the stored rows have a layout that this version does not know");
  }
}

}  // namespace stored_rows

// The rows of a matrix that has that many columns in all, at least as many as when they were stored. If the bytes have
// an owner, who keeps them unchanged, the rows stay where they are; they begin at a whole word, counted from the first.
inline PackedRows load_rows(Bytes bytes, std::int64_t n_matrix_columns, bool trust_digests, const Owner& owner = {}) {
  const DefaultArithmetic arithmetic;
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  std::array<std::uint64_t, 8> words{};
  require(bytes.size() >= sizeof words && bytes.size() % word_bytes == 0, "this is not a file of stored rows");
  require(!owner || reinterpret_cast<std::uintptr_t>(bytes.data()) % word_bytes == 0, "the bytes are not aligned");
  std::memcpy(words.data(), bytes.data(), sizeof words);
  require(words[0] == stored_rows_mark, "this is not a file of stored rows");
  const Bytes rest = bytes.subspan(sizeof words);
  require(words[7] == checksum(rest), "the stored rows have changed: their checksum differs");
  require(words[2] <= most && words[3] <= most && words[4] <= most && words[5] <= 1 && words[6] <= rest.size(),
          "the stored rows are damaged");
  require(n_matrix_columns <= static_cast<std::int64_t>(most) &&
              words[4] <= static_cast<std::uint64_t>(n_matrix_columns) && words[3] <= words[4],
          "the stored rows have more columns than the data");
  const std::size_t column_bytes = words[5] == 1 ? words[3] * sizeof(std::uint32_t) : 0;
  const std::size_t digest_bytes = words[2] * word_bytes;
  require(whole_words(column_bytes) + digest_bytes + whole_words(words[6]) == rest.size(),
          "the stored rows are damaged");
  return stored_rows::load(words, rest.first(column_bytes), rest.subspan(whole_words(column_bytes), digest_bytes),
                           rest.subspan(whole_words(column_bytes) + digest_bytes, words[6]), n_matrix_columns,
                           trust_digests, owner);
}

}  // namespace dynmargin
