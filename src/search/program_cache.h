// ProgramCache: what an assessor remembers. Genomes lead to programs, programs to their encodings
// and score; encodings that follow from the trace, and their scores, are found by the genome
// instead. Encodings lie in blocks as the threads made them; when there are too many the older half
// goes. Forgetting costs time, never changes an answer.
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
  // One per program, by the model at the time. No spreads if the model has none.
  std::vector<float> scores, spreads;

  size_t programs() const { return inputs.empty() ? 0 : inputs.front().programs(); }
};

// The position of a program within the blocks.
struct BlockSlot {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t block = kNowhere;
  uint32_t slot = 0;
};

struct KnownProgram {
  BlockSlot place;
  uint32_t model = 0;  // number of the model that gave the score; 0: none
  float score = 0, spread = 0;
};

struct KnownGenome {
  Hash128 program;  // zero: illegal or rejected
  bool is_assessed = false;
};

class ProgramCache {
 public:
  explicit ProgramCache(size_t block_bytes = size_t{24} << 20, size_t entries = size_t{1} << 22)
      : max_block_bytes_(block_bytes), max_entries_(entries) {}

  HashTable<KnownGenome> genomes;
  HashTable<KnownProgram> programs;  // by program, or by genome

  // Returns the number of the block.
  uint32_t add_block(std::unique_ptr<EncodedBlock> block);
  // Null if it was dropped or never computed.
  const EncodedBlock* block_of(const BlockSlot& place) const;
  // Appends the encodings of one program.
  bool append_inputs(const BlockSlot& place, feature::Inputs* inputs) const;

  std::unique_ptr<EncodedBlock> new_block();  // empty; reuses the memory of a dropped block
  // Drops excess blocks. Must not be called while slots are in use.
  void trim();
  // Call when programs get other encodings.
  void drop_blocks();

 private:
  void drop_first_block();

  size_t max_block_bytes_;
  size_t max_entries_;
  std::deque<std::unique_ptr<EncodedBlock>> blocks_;
  uint32_t first_block_ = 0;
  size_t block_bytes_ = 0;
  std::vector<std::unique_ptr<EncodedBlock>> spare_;
};

}  // namespace tilewright::search
