// Encodings: program -> numbers that a cost model reads (feature/encoded.h). An Encoder is made for
// one task and space and holds scratch memory: one per thread. The table of feature/encodings.h
// lists them; a model names those that it reads (cost/model.h), as `features` or
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

// The input that all programs of a task share. All of it outlives the encoders.
struct EncodingContext {
  const Task* task = nullptr;
  const Machine* machine = nullptr;             // the machine that measures
  const schedule::LoopTree* initial = nullptr;  // of the empty trace
  // Sketches of the space; empty: programs are not from a space.
  std::span<const schedule::Sketch> sketches{};
};

// The forms of one program.
struct ProgramView {
  static constexpr uint16_t kNoSketch = UINT16_MAX;

  const schedule::LoopTree* tree = nullptr;  // complete: the result of apply
  const schedule::Trace* trace = nullptr;
  uint16_t sketch = kNoSketch;               // index in EncodingContext::sketches
  const schedule::Genome* genome = nullptr;  // for that sketch; null: unknown
};

// The input that determines the numbers of an encoding.
enum class EncodedFrom : uint8_t {
  Program,  // the LoopTree alone: all traces of one program have the same numbers
  Trace,    // the trace or the genome: two traces of one program may differ
};

class Encoder {
 public:
  virtual ~Encoder() = default;

  virtual size_t width() const = 0;
  // Raised whenever the meaning of a number changes.
  virtual int version() const = 0;
  // True if numbers are comparable across tasks; otherwise only within one space.
  virtual bool compares_across_tasks() const = 0;
  // Numbers that follow from the program are cached by program.
  virtual EncodedFrom encoded_from() const { return EncodedFrom::Trace; }

  // Appends one program, which gets at least one row. False: the encoding cannot represent it, and
  // nothing was appended. Such a program is no sample of a model that reads this encoding, and no
  // candidate while such a model guides the search; other models propose it and learn from it.
  bool append(const ProgramView& program, Encoded* out) {
    begin(out);
    return do_append(program, out);
  }
  // Appends a program without rows, in the place of one that the encoding cannot represent.
  void append_none(Encoded* out) {
    begin(out);
    out->begin.push_back(out->begin.back());
  }

 private:
  virtual bool do_append(const ProgramView& program, Encoded* out) = 0;

  void begin(Encoded* out) const {
    if (out->programs() > 0) return;
    out->width = width();
    out->version = version();
  }
};

using EncodingTable = Table<std::unique_ptr<Encoder>, EncodingContext>;
using EncodingRow = EncodingTable::Row;

}  // namespace tilewright::feature
