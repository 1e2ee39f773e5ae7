// ProgramCache: what an assessor remembers. Genomes lead to programs, programs to their rows and
// score. Rows lie in blocks as the threads made them; when there are too many the older half goes.
// Forgetting costs time, never changes an answer.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "feature/rows.h"
#include "search/explorer.h"
#include "search/hash_table.h"

namespace tilewright::search {

struct RowBlock {
  feature::RowBatch rows;
  std::vector<float> scores;  // one per program, of the model when it was made
};

// A program's place among the blocks.
struct RowPlace {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t block = kNowhere;
  uint32_t slot = 0;
};

struct KnownProgram {
  RowPlace place;
  uint32_t model = 0;  // that gave the score; 0: none
  float score = 0;
};

struct KnownGenome {
  Hash128 program;  // zero: not legal or not fit
  bool is_assessed = false;
};

Hash128 genome_hash(uint16_t sketch, const schedule::Genome& genome);

class ProgramCache {
 public:
  explicit ProgramCache(size_t row_bytes = size_t{24} << 20, size_t entries = size_t{1} << 22)
      : most_row_bytes_(row_bytes), most_entries_(entries) {}

  HashTable<KnownGenome> genomes;
  HashTable<KnownProgram> programs;

  // The number of the block it becomes.
  uint32_t add_block(std::unique_ptr<RowBlock> block);
  // Null when its rows were dropped or never made.
  const RowBlock* block_of(const RowPlace& place) const;
  // Appends the rows of one program to a batch.
  bool append_rows(const RowPlace& place, feature::RowBatch* batch) const;

  std::unique_ptr<RowBlock> new_block();  // empty; with the memory of one that was dropped
  // Drops what is too much. Not while places are held.
  void trim();

 private:
  size_t most_row_bytes_;
  size_t most_entries_;
  std::deque<std::unique_ptr<RowBlock>> blocks_;
  uint32_t first_block_ = 0;
  size_t row_bytes_ = 0;
  std::vector<std::unique_ptr<RowBlock>> spare_;
};

}  // namespace tilewright::search
