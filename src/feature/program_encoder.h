// ProgramEncoder: encodes programs of one task, given as traces, in several encodings at once.
// Holds scratch memory: one per thread.
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
  // Each of `names` is an encoding with its options, as in CostModel::encodings.
  static Result<ProgramEncoder> make(const EncodingContext& context,
                                     std::span<const std::string> names,
                                     const EncodingTable& table = encodings());

  // Appends the program to each encoding of `inputs`. False: the program is illegal, or an encoding
  // cannot represent it; nothing was appended.
  bool append(const schedule::Trace& trace, Inputs* inputs);
  // The same with what else is known of the program. Without a tree, the trace is applied. With a
  // genome, encodings are of that genome: others may have the same trace.
  bool append(const ProgramView& program, Inputs* inputs);
  // The same where only the first `required` encodings must be able to represent the program. It
  // has no rows in any other that cannot.
  bool append(const ProgramView& program, size_t required, Inputs* inputs);

  // True if all encodings do.
  bool compares_across_tasks() const;
  // Program: all encodings follow from the program alone.
  EncodedFrom encoded_from() const;
  std::vector<int> versions() const;  // of the encodings, in the order of their names
  Inputs empty_inputs() const;        // without programs; with the widths and versions

 private:
  ProgramEncoder() = default;
  const schedule::LoopTree* initial_ = nullptr;
  std::vector<std::unique_ptr<Encoder>> encoders_;
  schedule::LoopTree tree_;
};

}  // namespace tilewright::feature
