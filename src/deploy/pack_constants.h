// ConstantPacker: the constants of a Program in one buffer, each in the layout that its kernel
// reads, at a multiple of 64. What is asked for twice in one layout is there once. Internal to this
// folder.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/constant.h"
#include "layout/layout.h"
#include "runtime/host/buffer.h"

namespace tilewright::deploy {

class ConstantPacker {
 public:
  // The offset at which `shape` elements of `constant`, from byte `begin` on, will lie in `layout`.
  int64_t place(const graph::Constant& constant, int64_t begin, const std::vector<int64_t>& shape,
                const layout::Layout& layout);
  // All of them, packed by that many threads.
  runtime::AlignedBuffer pack(int jobs) const;

 private:
  struct Piece {
    std::span<const std::byte> bytes;  // row-major
    std::vector<int64_t> shape;
    layout::Layout layout;
    int element_bytes = 1;
    int64_t offset = 0;
    graph::Constant owner;
  };

  std::vector<Piece> pieces_;
  std::map<std::pair<const std::byte*, std::string>, int64_t> known_;  // offset by bytes and layout
  int64_t end_ = 0;
};

// Neither infinite nor NaN, all of it; so are numbers that are no floats.
bool is_finite(const graph::Constant& constant);

}  // namespace tilewright::deploy
