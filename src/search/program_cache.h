// ProgramCache: what an assessor remembers. Genomes lead to programs, programs to their encodings
// and score. Encodings lie in blocks as the threads made them; when there are too many the older
// half goes. Forgetting costs time, never changes an answer.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "feature/encoded.h"
#include "search/explorer.h"
#include "search/genome_hash.h"
#include "search/hash_table.h"

namespace tilewright::search {

struct EncodedBlock {
  feature::Inputs inputs;
  // One per program, of the model when it was made; no spreads of a model without them.
  std::vector<float> scores, spreads;

  size_t programs() const { return inputs.empty() ? 0 : inputs.front().programs(); }
};

// Where a program is among the blocks.
struct BlockSlot {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t block = kNowhere;
  uint32_t slot = 0;
};

struct KnownProgram {
  BlockSlot place;
  uint32_t model = 0;  // that gave the score; 0: none
  float score = 0, spread = 0;
};

struct KnownGenome {
  Hash128 program;  // zero: not legal or not fit
  bool is_assessed = false;
};

class ProgramCache {
 public:
  explicit ProgramCache(size_t block_bytes = size_t{24} << 20, size_t entries = size_t{1} << 22)
      : most_block_bytes_(block_bytes), most_entries_(entries) {}

  HashTable<KnownGenome> genomes;
  HashTable<KnownProgram> programs;

  // The number of the block it becomes.
  uint32_t add_block(std::unique_ptr<EncodedBlock> block);
  // Null when it was dropped or never made.
  const EncodedBlock* block_of(const BlockSlot& place) const;
  // Appends the encodings of one program.
  bool append_inputs(const BlockSlot& place, feature::Inputs* inputs) const;

  std::unique_ptr<EncodedBlock> new_block();  // empty; with the memory of one that was dropped
  // Drops what is too much. Not while places are held.
  void trim();
  // Programs have other encodings from now on.
  void drop_blocks();

 private:
  void drop_first_block();

  size_t most_block_bytes_;
  size_t most_entries_;
  std::deque<std::unique_ptr<EncodedBlock>> blocks_;
  uint32_t first_block_ = 0;
  size_t block_bytes_ = 0;
  std::vector<std::unique_ptr<EncodedBlock>> spare_;
};

}  // namespace tilewright::search
