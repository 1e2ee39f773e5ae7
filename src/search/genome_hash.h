// The hash of a genome: of the number of its sketch and of all genes in order. It identifies a
// candidate within one space. A pure function.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "schedule/sketch.h"

namespace tilewright::search {

Hash128 genome_hash(uint16_t sketch, const schedule::Genome& genome);

}  // namespace tilewright::search
