// Traffic: the bytes that a program moves between memory levels, estimated from its LoopTree alone.
// It explains programs; it is not a cache simulation.
//
// A level (registers, L1, L2, L3) has `capacity` bytes per thread. One iteration of a loop touches
// a region of each buffer; the sum of the regions is its footprint. If the footprint of one
// iteration fits into the level, the next iteration finds its data there. The outermost such loop
// around a stage is the boundary of the level. The traffic of an access is
//
//   the bytes of its region over all iterations of the boundary
//     x trips of the loops outside the boundary, whether or not they change the region
//
// A buffer that is allocated and used within one iteration of the boundary moves nothing;
// nor do the allocated buffers of a program if all of them fit. Accumulators that loops outside the
// boundary revisit count twice: one read, one write. Caches move lines of 64 bytes, registers
// elements. Stores count once; the load of their line is left out. Registers are assigned to
// accumulators first: they stay there as long as they fit.
//
//   C[i, j] += A[i, k] * B[k, j], all 4 x 4 floats, loops i, j, k; registers of 100 bytes
//     one iteration of i: a row of A, all of B, a row of C = 16 + 64 + 16 = 96 bytes, which fits:
//     i is the boundary, and A, B and C move once each: 64 + 64 + 64 bytes
//   registers of 40 bytes: one j touches 16 + 16 + 4 = 36 bytes: j is the boundary
//     for each i: a row of A (16 x 4), all of B (64 x 4), a row of C (16 x 4)
//
// The traffic is the sum over all threads; a shared L3 cache is divided between them. Under
// Calls::Warm, a cache that holds all touched data moves nothing, because the previous call has
// filled it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/loop_tree.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::feature {

// One level, and the traffic between it and the next level outwards.
struct MemoryLevel {
  std::string name{};       // `registers`, `L1`, `L2`, `L3`
  int64_t capacity = 0;     // bytes per thread
  int64_t holds = 0;        // total bytes of all threads, if they share it
  bool keeps_sums = false;  // accumulators stay as long as they fit, independent of other accesses
  int64_t granule = 1;      // unit of transfer in bytes
  std::string beyond{};     // `L1`, `L2`, `L3`, `memory`
  double bytes = 0;         // moved
};

struct BufferTraffic {
  schedule::StageName name;  // name of the stage that writes it
  double size_bytes = 0;     // of the whole buffer
  bool is_argument = false;
  std::vector<double> bytes;  // per level
};

struct Traffic {
  double flop = 0;              // of the workload
  double computed_flop = 0;     // including recomputation
  double compulsory_bytes = 0;  // touched bytes of the arguments, counted once
  std::string stays_in;         // warm calls: the nearest cache that holds all data; may be empty
  std::vector<MemoryLevel> levels;     // registers first; only levels that the machine has
  std::vector<BufferTraffic> buffers;  // in program order; unused ones are left out
};

// The memory levels of a machine, for code of the target. The caches of a device are unknown: its
// registers are the only level.
std::vector<MemoryLevel> memory_levels(const Target& target, const Machine& machine);

enum class Calls : uint8_t {
  First,  // the caches are empty
  Warm,   // the previous call has filled the caches
};

// `tree` is complete: the result of apply.
Traffic estimate_traffic(const schedule::LoopTree& tree, std::vector<MemoryLevel> levels,
                         Calls calls = Calls::First);

}  // namespace tilewright::feature
