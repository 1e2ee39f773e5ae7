// Encodings: program -> numbers that a cost model reads (feature/encoded.h). An Encoder is made for
// one task and space and holds scratch memory: one per thread. The table of feature/encodings.h
// lists them; a model names those that it wants (cost/model.h), as `features` or
// `features:option=value`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/table.h"
#include "feature/encoded.h"
#include "schedule/loop_tree.h"
#include "schedule/sketch.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::feature {

// What is the same for all programs of a task. All of it outlives the encoders.
struct EncodingContext {
  const Task* task = nullptr;
  const Machine* machine = nullptr;              // that measures
  const schedule::LoopTree* initial = nullptr;   // of the empty trace
  std::span<const schedule::Sketch> sketches{};  // of the space; none: programs come from elsewhere
};

// A program in each of its forms.
struct ProgramView {
  static constexpr uint16_t kNoSketch = UINT16_MAX;

  const schedule::LoopTree* tree = nullptr;  // complete: apply has made it
  const schedule::Trace* trace = nullptr;
  uint16_t sketch = kNoSketch;               // of EncodingContext::sketches
  const schedule::Genome* genome = nullptr;  // of that sketch; null: not known
};

class Encoder {
 public:
  virtual ~Encoder() = default;

  virtual size_t width() const = 0;
  // Raised whenever a number means something else.
  virtual int version() const = 0;
  // Numbers of programs of different tasks mean the same; otherwise those of one space do.
  virtual bool compares_across_tasks() const = 0;

  // Appends one program. False: it cannot be written in this encoding, and nothing was appended.
  bool append(const ProgramView& program, Encoded* out) {
    if (out->programs() == 0) out->width = width();
    return do_append(program, out);
  }

 private:
  virtual bool do_append(const ProgramView& program, Encoded* out) = 0;
};

using EncodingTable = Table<std::unique_ptr<Encoder>, EncodingContext>;
using EncodingRow = EncodingTable::Row;

}  // namespace tilewright::feature
