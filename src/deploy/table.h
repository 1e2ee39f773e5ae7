// Converts a Program to the table of the runtime (runtime/abi/model_table.h), except for pointers,
// which each exported form sets in its own way. Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include "base/hash.h"
#include "deploy/program.h"
#include "runtime/abi/model_table.h"

namespace tilewright::deploy {

TilewrightDataType data_type_of(ir::Scalar element);  // in DLPack's encoding
std::string needed_features(const Target& target);  // `sse4.2,avx`: features that the code may use

// True if its runs keep denormals. Kernels that do not need them run correctly with them too.
bool keeps_denormals(const Program& program);

struct TableRows {
  std::vector<TilewrightTableStep> steps;
  std::vector<TilewrightTableArgument> arguments;
  std::vector<TilewrightTableFacts> facts;
};
TableRows table_rows(const Program& program);

// The table with its numbers, without pointers.
TilewrightModelTable plain_table(const Program& program, const TableRows& rows);
TilewrightModelApi plain_api(const Program& program);
TilewrightTensorInfo plain_info(const ProgramTensor& tensor);

Hash128 hash_of_constants(const Program& program);

}  // namespace tilewright::deploy
