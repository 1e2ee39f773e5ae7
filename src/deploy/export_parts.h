// What the forms of a compiled model share. Internal to this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "deploy/part_file.h"
#include "deploy/program.h"

namespace tilewright::deploy {

// The files that come with the main one. They are written before it and get their names after it,
// so that nothing is left of them where it cannot be written.
class Companions {
 public:
  Status add_weights(const Program& program, const std::filesystem::path& main);  // STEM.weights
  Status add_header(const Program& program, const std::filesystem::path& main);   // STEM.h
  const std::string& weights_file() const { return weights_file_; }  // its name; empty: embedded
  Status finish();

 private:
  std::vector<PartFile> parts_;
  std::string weights_file_;
};

}  // namespace tilewright::deploy
