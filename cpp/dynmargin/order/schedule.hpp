// In which order patterns are presented: permuted full passes and three nested active sets (paper, Section 4).
//
//   repeat   a pass over the full set, freshly permuted, gathers set 1; a full pass without an update ends the run
//     N1 x   a pass over set 1 gathers set 2
//       N2 x   a pass over set 2 gathers set 3
//         N3 x   a pass over set 3
//
// The patterns gathered for set i are those whose score is at most c_i times the threshold, tested before the pattern's
// own update. A round without an update ends its loop. All this is only an order of presentation, which the theory
// leaves open.
#pragma once

#include "dynmargin/order/members.hpp"
#include "dynmargin/order/shuffle.hpp"
#include "dynmargin/order/snapshot.hpp"

namespace dynmargin {

struct Schedule {
  std::array<int, 3> rounds;     // N1, N2, N3
  std::array<double, 2> widths;  // c1, c2; c3 is 1
  double first_width;            // c1 in the first full pass
  bool multiple_updates;         // a pattern is added as often as presenting it again and again would add it
  bool single_updates_first;     // no multiple updates in the first full pass
  bool shuffle_first;            // a fresh order for the first full pass, too; otherwise that of the rows
  bool shuffle_active_sets;      // a fresh order for the active sets too
  bool balanced;                 // the two sides evenly mixed in every fresh order
  double inner_passes;  // at most this many full passes' worth of visits to active sets between two full passes
  bool taking_back;     // in a full pass: what a pattern was added too often (dynamic_margin.hpp)
  bool mixing;          // after a full pass: continue from the best combination of states (mixture.hpp)
  bool renewal;         // after a check: continue from the counts that the weights imply (renewal.hpp)
  bool polish;          // after a check: Newton's steps for the best weights of a stiff run (polish.hpp)
};

class ActiveSets {
 public:
  struct Pass {
    MemberList members;
    std::size_t next = 0;
    int rounds_left = 0;
    bool updated = false;

    template <class Snapshot>
    void snapshot(Snapshot& s) {
      s(members, next, rounds_left, updated);
    }
  };

  ActiveSets(std::vector<Member> everything, const Schedule& schedule, std::uint64_t seed)
      : schedule_(schedule), order_(seed) {
    passes_[0].members = MemberList(std::move(everything));
    start_full_pass();
  }

  Pass& pass() { return passes_[level_]; }
  bool full() const { return level_ == 0; }
  bool first_full_pass() const { return full() && full_passes_begun_ == 1; }
  bool single_updates() const {
    return !schedule_.multiple_updates || (schedule_.single_updates_first && first_full_pass());
  }

  // Where the current pass puts the patterns it gathers, and how many times the threshold their score may be.
  MemberList& gathered() { return passes_[level_ + 1].members; }
  double width() const {
    if (level_ >= 2) return 1;
    return first_full_pass() ? schedule_.first_width : schedule_.widths[level_];
  }

  void start_full_pass() {
    level_ = 0;
    inner_visits_ = 0;
    ++full_passes_begun_;
    start_pass();
  }

  // Continues with an active set of these, as if a full pass had just gathered them; presents it at least once.
  void start_with(std::vector<Member> members) {
    level_ = 1;
    inner_visits_ = 0;
    pass().members = MemberList(std::move(members));
    pass().rounds_left = std::max(schedule_.rounds[0], 1) - 1;
    start_pass();
  }

  // The current pass is over: go inwards, round again, or outwards. A full pass without an update is followed by
  // another one.
  void proceed() {
    if (level_ > 0) inner_visits_ += pass().members.size();
    if (static_cast<double>(inner_visits_) >= schedule_.inner_passes * static_cast<double>(passes_[0].members.size()))
      return start_full_pass();
    if (pass().updated && level_ < 3) {
      ++level_;
      pass().rounds_left = schedule_.rounds[level_ - 1];
    } else if (!pass().updated) {
      pass().rounds_left = 0;
    }
    while (level_ > 0 && pass().rounds_left == 0) --level_;
    if (level_ == 0) return start_full_pass();
    --pass().rounds_left;
    start_pass();
  }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s(order_, passes_, level_, full_passes_begun_, inner_visits_);
    require_intact(level_ >= 0 && level_ <= 3 && pass().next <= pass().members.size());
  }

 private:
  void start_pass() {
    Pass& p = pass();
    p.next = 0;
    p.updated = false;
    gathered().clear();
    const bool in_order = first_full_pass() && !schedule_.shuffle_first;
    if ((full() && !in_order) || (!full() && schedule_.shuffle_active_sets))
      schedule_.balanced ? order_.shuffle_balanced(p.members.items(), gathered().room_for(p.members.size() + 1))
                         : order_.shuffle(p.members.items());
  }

  Schedule schedule_;
  Order order_;
  std::array<Pass, 5> passes_;  // the last holds what the innermost set gathers, and is never presented
  int level_ = 0;
  std::int64_t full_passes_begun_ = 0;
  std::size_t inner_visits_ = 0;  // since the last full pass
};

}  // namespace dynmargin
