// ThreadAxis: the index of a GPU that runs the iterations of a loop: its block in the grid, its
// thread in the block, or a virtual thread, several of which one thread executes. Schedules bind
// loops to it (schedule/steps/bind.h), the loop IR keeps it (ir::For), and a target limits it
// (Target::max_extent).
//
//   block_x for i.0 < 32:
//     thread_x for i.1 < 128: ...      a kernel launch of 32 blocks of 128 threads
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

// Programs hash and encode the values: append only.
enum class ThreadAxis : uint8_t {
  None,
  BlockX,
  BlockY,
  BlockZ,
  ThreadX,
  ThreadY,
  ThreadZ,
  VirtualThread,
};
inline constexpr int kThreadAxisCount = static_cast<int>(ThreadAxis::VirtualThread) + 1;

inline bool is_block(ThreadAxis axis) {
  return axis >= ThreadAxis::BlockX && axis <= ThreadAxis::BlockZ;
}
inline bool is_thread(ThreadAxis axis) {
  return axis >= ThreadAxis::ThreadX && axis <= ThreadAxis::ThreadZ;
}
// 0, 1 or 2 for the x, y or z of a block or a thread.
inline int dimension_of(ThreadAxis axis) {
  return (static_cast<int>(axis) - static_cast<int>(ThreadAxis::BlockX)) % 3;
}

std::string_view word_of(ThreadAxis axis);  // `block_x`; `none`
std::string all_words(ThreadAxis);          // `none|block_x|...`
bool from_word(std::string_view word, ThreadAxis* axis);

}  // namespace tilewright
