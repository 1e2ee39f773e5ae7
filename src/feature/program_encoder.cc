#include "feature/program_encoder.h"

#include <algorithm>

#include "schedule/apply.h"

namespace tilewright::feature {
namespace {

// Removes the last program.
void drop_last(Encoded* encoded) {
  encoded->begin.pop_back();
  encoded->values.resize(encoded->rows() * encoded->width);
}

}  // namespace

Result<ProgramEncoder> ProgramEncoder::make(const EncodingContext& context,
                                            std::span<const std::string> names,
                                            const EncodingTable& table) {
  ProgramEncoder encoder;
  encoder.initial_ = context.initial;
  for (const std::string& name : names) {
    encoder.encoders_.push_back(TRY(table.make(TRY(table.parse(name)), context)));
  }
  return encoder;
}

bool ProgramEncoder::append(const ProgramView& program, Inputs* inputs) {
  return append(program, encoders_.size(), inputs);
}

bool ProgramEncoder::append(const ProgramView& program, size_t required, Inputs* inputs) {
  if (program.tree == nullptr) {
    if (schedule::apply(*initial_, *program.trace, &tree_)) return false;
    ProgramView applied = program;
    applied.tree = &tree_;
    return append(applied, required, inputs);
  }
  if (inputs->empty()) inputs->resize(encoders_.size());
  CHECK(inputs->size() == encoders_.size(), "{} encodings for {}", encoders_.size(),
        inputs->size());
  for (size_t k = 0; k < encoders_.size(); ++k) {
    Encoded& encoded = (*inputs)[k];
    if (encoders_[k]->append(program, &encoded)) {
      CHECK(encoded.has_rows(encoded.programs() - 1), "encoding {} of a program has no rows", k);
      continue;
    }
    if (k >= required) {
      encoders_[k]->append_none(&encoded);
      continue;
    }
    while (k-- > 0) drop_last(&(*inputs)[k]);
    return false;
  }
  return true;
}

bool ProgramEncoder::append(const schedule::Trace& trace, Inputs* inputs) {
  return append({.trace = &trace}, inputs);
}

bool ProgramEncoder::compares_across_tasks() const {
  return std::ranges::all_of(encoders_,
                             [](const auto& one) { return one->compares_across_tasks(); });
}

EncodedFrom ProgramEncoder::encoded_from() const {
  const bool of_program = std::ranges::all_of(
      encoders_, [](const auto& one) { return one->encoded_from() == EncodedFrom::Program; });
  return of_program ? EncodedFrom::Program : EncodedFrom::Trace;
}

std::vector<int> ProgramEncoder::versions() const {
  std::vector<int> versions;
  versions.reserve(encoders_.size());
  for (const auto& one : encoders_) versions.push_back(one->version());
  return versions;
}

Inputs ProgramEncoder::empty_inputs() const {
  Inputs inputs;
  for (const auto& one : encoders_) {
    inputs.push_back({.width = one->width(), .version = one->version()});
  }
  return inputs;
}

}  // namespace tilewright::feature
