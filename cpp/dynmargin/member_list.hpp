// A list of patterns that is filled while another one is gone through.
//
// What may be written is far more than what is kept, so room is made once and never cleared (clearing it took 3 % of a
// fit on Adult).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "patterns.hpp"

namespace dynmargin {

class MemberList {
 public:
  explicit MemberList(std::vector<Member> members = {}) : room_(std::move(members)), size_(room_.size()) {}

  std::size_t size() const { return size_; }
  const Member* data() const { return room_.data(); }
  std::span<Member> items() { return {room_.data(), size_}; }
  void clear() { size_ = 0; }

  // A place to write so many more, and one beyond; `keep_up_to` says where the last one that belongs here ended.
  Member* room_for(std::size_t count) {
    if (room_.size() < size_ + count + 1) room_.resize(size_ + count + 1, Member(0, false));
    return room_.data() + size_;
  }
  void keep_up_to(const Member* end) { size_ = end - room_.data(); }

 private:
  std::vector<Member> room_;
  std::size_t size_;
};

}  // namespace dynmargin
