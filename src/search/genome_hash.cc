#include "search/genome_hash.h"

#include <utility>

namespace tilewright::search {

Hash128 genome_hash(uint16_t sketch, const schedule::Genome& genome) {
  Hasher hasher;
  hasher.add(sketch);
  uint64_t word = 0;  // of four genes
  size_t count = 0;
  for (const uint16_t gene : genome.genes) {
    word = (word << 16) | gene;
    if (++count % 4 == 0) hasher.add(std::exchange(word, 0));
  }
  return hasher.add(word).add(count).finish();
}

}  // namespace tilewright::search
