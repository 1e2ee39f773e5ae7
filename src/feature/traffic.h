// Traffic: how many bytes a program moves between the levels of memory, estimated from its LoopTree
// alone. It explains programs; it is no simulation of caches.
//
// A level (the registers, the first, second and third cache) holds `capacity` bytes a thread. One
// iteration of a loop touches a region of each buffer; its footprint is the sum of them. A loop
// whose footprint of one iteration fits finds what its next iteration uses again; of the loops
// around a stage that are, the outermost is the boundary of the level. What an access moves is
//
//   bytes of its region while the boundary runs through all its iterations
//     x trips of the loops outside of the boundary, whether they change the region or not
//
// and a buffer of the program's own that lives within one iteration of the boundary, or in a
// program whose buffers fit all together, moves nothing. Sums that loops outside of the boundary
// come back to count twice, read and written. Caches move lines of 64 bytes, registers elements;
// stores count once, not as the load that brings the line. Registers are given to sums first: those
// stay in them as long as they alone fit.
//
//   C[i, j] += A[i, k] * B[k, j], all 4 x 4 floats, loops i, j, k; registers of 100 bytes
//     one iteration of i: a row of A, all of B, a row of C = 16 + 64 + 16 = 96 bytes, which fits:
//     i is the boundary, and A, B and C move once each: 64 + 64 + 64 bytes
//   registers of 40 bytes: one j touches 16 + 16 + 4 = 36 bytes: j is the boundary
//     A a row for each i: 16 x 4, B whole for each i: 64 x 4, C a row for each i: 16 x 4
//
// Traffic of all threads together; a shared third cache is divided among them. Of calls that follow
// each other (Calls::Warm) a cache that holds all that is touched moves nothing: it is there
// already.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/loop_tree.h"
#include "target/machine.h"
#include "target/target.h"

namespace tilewright::feature {

// One level, and what passes between it and the next one further out.
struct MemoryLevel {
  std::string name{};       // `registers`, `L1`, `L2`, `L3`
  int64_t capacity = 0;     // bytes a thread has of it
  int64_t holds = 0;        // bytes that all threads have of it together where they share it
  bool keeps_sums = false;  // sums stay as long as they alone fit, whatever else passes
  int64_t granule = 1;      // bytes that are moved at once
  std::string beyond{};     // `L1`, `L2`, `L3`, `memory`
  double bytes = 0;         // moved
};

struct BufferTraffic {
  schedule::StageName name;  // of the stage that writes it
  double size_bytes = 0;     // of the whole buffer
  bool is_argument = false;
  std::vector<double> bytes;  // by level
};

struct Traffic {
  double flop = 0;                  // that the workload asks for
  double computed_flop = 0;         // with what the schedule computes again
  double compulsory_bytes = 0;      // what is touched of the arguments, once
  std::string stays_in;             // of warm calls: the nearest cache that holds all, or empty
  std::vector<MemoryLevel> levels;  // registers first; levels that the machine has not are left out
  std::vector<BufferTraffic>
      buffers;  // in the order of the program; those that nobody uses left out
};

// The levels of a machine for code of that target.
std::vector<MemoryLevel> memory_levels(const Target& target, const Machine& machine);

enum class Calls : uint8_t {
  First,  // nothing is in the caches
  Warm,   // calls follow each other
};

// `tree` is complete: apply has made it.
Traffic estimate_traffic(const schedule::LoopTree& tree, std::vector<MemoryLevel> levels,
                         Calls calls = Calls::First);

}  // namespace tilewright::feature
