// The patterns that take part, as lists hold them.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace dynmargin {

// A pattern: its row and, in the top bit, its side, so that neither has to be looked up.
class Member {
 public:
  Member(std::uint32_t row, bool negative) : bits_(row | std::uint32_t{negative} << 31) {}
  std::uint32_t row() const { return bits_ & 0x7fffffffu; }
  bool negative() const { return bits_ >> 31; }

  // +1 or -1, to multiply by: no branch to mispredict.
  double side() const {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) | std::uint64_t{bits_ & 0x80000000u} << 32);
  }

 private:
  std::uint32_t bits_;
};

// In the order of the rows. The joint problem has one member per row, and no sides.
template <class Problem>
std::vector<Member> members_of(const Problem& problem) {
  std::vector<Member> members;
  members.reserve(problem.n_members());
  for (std::size_t k = 0; k < problem.sides.size(); ++k)
    if (problem.sides[k] != 0) members.emplace_back(static_cast<std::uint32_t>(k), problem.sides[k] < 0);
  return members;
}

// A list that is filled during a pass over another one. Far more may be written than is kept, so memory is reserved
// once and never cleared (clearing it took 3 % of a fit on Adult).
class MemberList {
 public:
  explicit MemberList(std::vector<Member> members = {}) : room_(std::move(members)), size_(room_.size()) {}

  std::size_t size() const { return size_; }
  const Member* data() const { return room_.data(); }
  std::span<Member> items() { return {room_.data(), size_}; }
  void clear() { size_ = 0; }

  // A place to write `count` more, and one beyond; `keep_up_to` says where those end that belong here.
  Member* room_for(std::size_t count) {
    if (room_.size() < size_ + count + 1) room_.resize(size_ + count + 1, Member(0, false));
    return room_.data() + size_;
  }
  void keep_up_to(const Member* end) { size_ = end - room_.data(); }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    room_.resize(size_, Member(0, false));
    s(room_);
    size_ = room_.size();
  }

 private:
  std::vector<Member> room_;
  std::size_t size_;
};

}  // namespace dynmargin
