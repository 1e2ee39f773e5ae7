// The similarity of two workloads. The task scheduler uses it to group tasks that reach similar
// FLOP/s, the warm start to select samples and schedules, and the deployment to find the nearest
// record of a kernel. It is computed from:
//
//   loops       of each operator that computes: its spatial and reduction axes
//   structure   of each operator: kind, axes and element types; equal structures differ in extents
//   core        of each operator that reduces; equal cores differ in the elementwise operators
//               around them, as `conv2d + add` and `conv2d + add + add + relu`
//   size class  of the FLOP: floor of log FLOP to the base of the golden ratio
//
//   matmul:m=64,n=48,k=32 has the loops `2.1 `, FLOP 196608 and the group `2.1 25`
//
// Values; threads may share them.
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
  std::string core{};
  std::vector<double> core_log2_extents{};
  double flop = 0;

  int size_class() const;
  // Equal for tasks with equal loops and size class: `2.1 25`.
  std::string group() const;

  bool operator==(const WorkloadForm&) const = default;
};

WorkloadForm form_of(const te::Dag& dag);

// In doublings and halvings of extents; infinite between different structures.
double extent_distance(const WorkloadForm& one, const WorkloadForm& other);

// The same for all axes of the core; infinite between different cores, and where nothing reduces.
double core_distance(const WorkloadForm& one, const WorkloadForm& other);

// The operators of `from` and those of `to` that do the same, as pairs of names. With equal
// structures all operators; with equal cores the core, what it reads, and the last operator of
// both.
std::vector<std::pair<Name, Name>> matching_ops(const te::Dag& from, const te::Dag& to);

enum class Likeness : int {
  Same,   // one workload
  Group,  // equal loops and size class
  Loops,  // equal loops
  Other,
};
// A sort key, most similar first: by Likeness, then by the difference of the logarithms of FLOP.
std::pair<Likeness, double> distance(const Workload& one, const Workload& other);

}  // namespace tilewright
