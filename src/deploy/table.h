// What a Program becomes in the table of the run time (runtime/abi/model_table.h), but for
// pointers, which each form of it has in its own way. Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include "base/hash.h"
#include "deploy/program.h"
#include "runtime/abi/model_table.h"

namespace tilewright::deploy {

TilewrightDataType data_type_of(ir::Scalar element);  // as DLPack has it
std::string needed_features(const Target& target);    // `sse4.2,avx`: what code may have used

struct TableRows {
  std::vector<TilewrightTableStep> steps;
  std::vector<TilewrightTableArgument> arguments;
};
TableRows table_rows(const Program& program);

// The table with its numbers and no pointers.
TilewrightModelTable plain_table(const Program& program, const TableRows& rows);
TilewrightModelApi plain_api(const Program& program);
TilewrightTensorInfo plain_info(const ProgramTensor& tensor);

Hash128 hash_of_constants(const Program& program);

}  // namespace tilewright::deploy
