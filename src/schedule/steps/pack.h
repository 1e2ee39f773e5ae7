// pack: stores a buffer in the order in which the loops of one reader traverse it, so that the
// reader streams through memory. A constant becomes a packed argument, packed at compile time. An
// allocated buffer (a cache_read, an intermediate) is written in that layout.
//
//   pack B C            with C's loops j.0, k, i, j.1 (32)
//   B[k, j]        ->   B[j / 32, k, j mod 32]
//
// Each dimension is read by one axis of the reader. Dimensions of a constant for which this does
// not hold (taps of a transposed convolution) stay whole and are outermost.
#pragma once

#include "schedule/fields.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {

struct Pack {
  StageName stage;   // owner of the buffer
  StageName reader;  // its loops determine the layout

  static constexpr std::string_view kTag = "pack";
  static constexpr auto fields() {
    return std::tuple(required("stage", &Pack::stage), required("reader", &Pack::reader));
  }
  bool operator==(const Pack&) const = default;
};

Illegal apply_step(TreeEditor& editor, const Pack& step);

}  // namespace tilewright::schedule
