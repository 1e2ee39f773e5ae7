// How alike two workloads are. There is one notion of it, for the task scheduler (groups of tasks
// that reach the same FLOP/s), the warm start (whose samples teach most) and the deployment (the
// nearest record of a kernel). It rests on three facts:
//
//   loops       of each operator that computes: its spatial and reduction axes
//   structure   of each operator: kind, axes and element types; equal structures differ in extents
//   size class  of the FLOP: floor of log FLOP to the base of the golden ratio
//
//   matmul:m=64,n=48,k=32 has the loops `2.1 `, FLOP 196608 and the group `2.1 25`
//
// Values; share freely between threads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "task/workload.h"

namespace tilewright {

struct WorkloadForm {
  std::string loops;
  std::string structure;
  std::vector<double> log2_extents{};  // of all axes, operator by operator
  double flop = 0;

  int size_class() const;
  // Equal for tasks of equal loops and size class: `2.1 25`.
  std::string group() const;

  bool operator==(const WorkloadForm&) const = default;
};

WorkloadForm form_of(const te::Dag& dag);

// In doublings and halvings of extents; infinite between different structures.
double extent_distance(const WorkloadForm& one, const WorkloadForm& other);

enum class Likeness : int {
  Same,   // one workload
  Group,  // equal loops and size class
  Loops,  // equal loops
  Other,
};
// The most alike compare less: by likeness, then by how far the logarithms of FLOP are apart.
std::pair<Likeness, double> distance(const Workload& one, const Workload& other);

}  // namespace tilewright
