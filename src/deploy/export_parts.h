// Shared by the exported forms of a compiled model. Internal to this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/result.h"
#include "deploy/program.h"

namespace tilewright::deploy {

// The files that accompany the main one. They are written before it and renamed after it, so that
// none is left if it cannot be written.
class Companions {
 public:
  Status add_weights(const Program& program, const std::filesystem::path& main);  // STEM.weights
  Status add_header(const Program& program, const std::filesystem::path& main);   // STEM.h
  // Name of the file; empty: embedded.
  const std::string& weights_file() const { return weights_file_; }
  Status finish();

 private:
  std::vector<AtomicFile> parts_;
  std::string weights_file_;
};

}  // namespace tilewright::deploy
