// ConstantPacker: packs the constants of a Program into one buffer, each in the layout that its
// kernel reads, aligned to 64 bytes. The same constant in the same layout is stored once. Internal
// to this folder.
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
  // Returns the offset for the `shape` elements of `constant` that start at byte `begin`, in
  // `layout`.
  int64_t place(const graph::Constant& constant, int64_t begin, const std::vector<int64_t>& shape,
                const layout::Layout& layout);
  // Packs all of them with `jobs` threads.
  runtime::AlignedBuffer pack(int jobs) const;

 private:
  struct PackedConstant {
    std::span<const std::byte> bytes;  // row-major
    std::vector<int64_t> shape;
    layout::Layout layout;
    int element_bytes = 1;
    int64_t offset = 0;
    graph::Constant owner;
  };

  std::vector<PackedConstant> constants_;
  // Offset by source and layout.
  std::map<std::pair<const std::byte*, std::string>, int64_t> known_;
  int64_t end_ = 0;
};

// True if no element is infinite or NaN. Always true for types other than floats.
bool is_finite(const graph::Constant& constant);

}  // namespace tilewright::deploy
