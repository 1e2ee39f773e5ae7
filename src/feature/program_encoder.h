// ProgramEncoder: programs of one task in several encodings at once, from their traces. Holds
// scratch memory: one per thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "feature/encoding.h"
#include "feature/encodings.h"

namespace tilewright::feature {

class ProgramEncoder {
 public:
  // Each of `names` is an encoding with its options, as a model names it.
  static Result<ProgramEncoder> make(const EncodingContext& context,
                                     std::span<const std::string> names,
                                     const EncodingTable& table = encodings());

  // Appends the program to each encoding of `inputs`. False: it is not legal, or there is an
  // encoding that it cannot be written in; nothing was appended.
  bool append(const schedule::Trace& trace, Inputs* inputs);
  // The same of a program whose tree has been made.
  bool append(const ProgramView& program, Inputs* inputs);

  // All encodings do.
  bool compares_across_tasks() const;

 private:
  ProgramEncoder() = default;
  const schedule::LoopTree* initial_ = nullptr;
  std::vector<std::unique_ptr<Encoder>> encoders_;
  schedule::LoopTree tree_;
};

}  // namespace tilewright::feature
