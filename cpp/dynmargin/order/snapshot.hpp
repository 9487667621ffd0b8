// The state of a run as bytes, so that another process can continue it bit for bit.
//
// Every class that has a part of the state names it once, for both directions:
//
//   template <class Snapshot> void snapshot(Snapshot& s) { s(w_, margin_, ...); }
//
// What follows from the data and the parameters is not part of it: a run is made as ever and then restored. A snapshot
// may be damaged or come from a stranger, so nothing that is used to find a place in memory is restored unchecked:
// lists whose length is known keep it, and members have to be rows that take part.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dynmargin/data/require.hpp"
#include "dynmargin/order/members.hpp"

namespace dynmargin {

inline void require_intact(bool holds) { require(holds, "the snapshot of the run is damaged, or of another run"); }

// Numbers, and structs that consist of numbers alone.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, Member>;

class SnapshotWriter {
 public:
  static constexpr bool reading = false;

  template <class... Parts>
  void operator()(Parts&... parts) {
    (write(parts), ...);
  }
  // A list of a length that follows from the problem.
  template <class T>
  void fixed(std::vector<T>& list) {
    write_all(list.data(), list.size());
  }
  // A list that is empty or has `length` items.
  template <class T>
  void fixed_or_empty(std::vector<T>& list, std::size_t /*length*/) {
    write(list);
  }

  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  template <class T>
  void write_all(const T* items, std::size_t count) {
    if (count == 0) return;
    const auto* from = reinterpret_cast<const std::uint8_t*>(items);
    bytes_.insert(bytes_.end(), from, from + count * sizeof(T));
  }
  void write_size(std::size_t size) {
    const std::uint64_t number = size;
    write_all(&number, 1);
  }

  template <class T>
  void write(T& part) {
    if constexpr (requires { part.snapshot(*this); })
      part.snapshot(*this);
    else
      write_all(&part, 1);
  }
  template <class T>
  void write(std::vector<T>& list) {
    write_size(list.size());
    if constexpr (std::is_trivially_copyable_v<T>)
      write_all(list.data(), list.size());
    else
      for (T& item : list) write(item);
  }
  template <class T>
  void write(std::deque<T>& list) {
    write_size(list.size());
    for (T& item : list) write(item);
  }
  template <class T, std::size_t N>
  void write(std::array<T, N>& items) {
    for (T& item : items) write(item);
  }
  template <class T>
  void write(std::optional<T>& part) {
    bool there = part.has_value();
    write(there);
    if (there) write(*part);
  }
  template <class... Ts>
  void write(std::variant<Ts...>& part) {
    write_size(part.index());
    std::visit([&](auto& chosen) { write(chosen); }, part);
  }

  std::vector<std::uint8_t> bytes_;
};

class SnapshotReader {
 public:
  static constexpr bool reading = true;

  // `members` are the patterns that take part, in the order of the rows.
  SnapshotReader(std::span<const std::uint8_t> bytes, const std::vector<Member>& members)
      : bytes_(bytes), members_(members) {}

  template <class... Parts>
  void operator()(Parts&... parts) {
    (read(parts), ...);
  }
  template <class T>
  void fixed(std::vector<T>& list) {
    read_all(list.data(), list.size());
  }
  template <class T>
  void fixed_or_empty(std::vector<T>& list, std::size_t length) {
    read(list);
    require_intact(list.empty() || list.size() == length);
  }

  void require_end() const { require_intact(bytes_.empty()); }

 private:
  template <class T>
  void read_all(T* items, std::size_t count) {
    if (count == 0) return;
    require_intact(count <= bytes_.size() / sizeof(T));
    std::memcpy(items, bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
  }
  // Of a list whose items take at least a byte each: no more memory is asked for than the snapshot has.
  std::size_t read_size() {
    std::uint64_t size = 0;
    read_all(&size, 1);
    require_intact(size <= bytes_.size());
    return size;
  }

  template <class T>
  void read(T& part) {
    if constexpr (requires { part.snapshot(*this); })
      part.snapshot(*this);
    else
      read_all(&part, 1);
  }
  void read(bool& part) {
    std::uint8_t byte = 0;
    read_all(&byte, 1);
    part = byte != 0;
  }
  void read(Member& part) {
    read_all(&part, 1);
    const auto by_row = [](const Member& a, const Member& b) { return a.row() < b.row(); };
    const auto place = std::lower_bound(members_.begin(), members_.end(), part, by_row);
    require_intact(place != members_.end() && place->row() == part.row() && place->negative() == part.negative());
  }
  template <class T>
  void read(std::vector<T>& list) {
    if constexpr (Plain<T>) {
      const std::size_t size = read_size();
      require_intact(size <= bytes_.size() / sizeof(T));
      list.resize(size);
      read_all(list.data(), size);
    } else {
      read_items(list, read_size());
    }
  }
  template <class T>
  void read(std::deque<T>& list) {
    read_items(list, read_size());
  }
  template <class List>
  void read_items(List& list, std::size_t size) {
    list.clear();
    for (std::size_t i = 0; i < size; ++i) {
      if constexpr (std::is_same_v<typename List::value_type, Member>)
        list.push_back(Member(0, false));
      else
        list.emplace_back();
      read(list.back());
    }
  }
  template <class T, std::size_t N>
  void read(std::array<T, N>& items) {
    for (T& item : items) read(item);
  }
  template <class T>
  void read(std::optional<T>& part) {
    bool there = false;
    read(there);
    part.reset();
    if (there) read(part.emplace());
  }
  template <class... Ts>
  void read(std::variant<Ts...>& part) {
    // A rule is refined, but never replaced by one of another kind.
    require_intact(read_size() == part.index());
    std::visit([&](auto& chosen) { read(chosen); }, part);
  }

  std::span<const std::uint8_t> bytes_;
  const std::vector<Member>& members_;
};

}  // namespace dynmargin
