#include "region_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/region.h"

namespace tilewright::testing {

using schedule::Access;
using schedule::Attachment;
using schedule::RegionDim;
using schedule::Stage;
using schedule::VarIndex;

namespace {

constexpr int64_t kMaxEvents = 4000;  // of a program whose touched elements are collected

}  // namespace

void RegionCount::add(const RegionCount& other) {
  touched += other.touched;
  regions += other.regions;
  exact += other.exact;
  equal += other.equal;
}

std::string RegionCount::text() const {
  return fmt::format(
      "{} touched elements in their regions; {} of {} regions exact ({:.1f} %), {} ranges equal",
      touched, exact, regions,
      100.0 * static_cast<double>(exact) / static_cast<double>(std::max<int64_t>(regions, 1)),
      equal);
}

RegionChecker::RegionChecker(const schedule::LoopTree& tree, const ir::Function& nest,
                             const std::vector<lower::LoopBinding>& bindings)
    : tree_(tree), nest_(nest), vars_(tree.vars.size()), reads_(tree.buffers.size()) {
  for (const lower::LoopBinding& binding : bindings) {
    vars_[static_cast<size_t>(binding.loop)].push_back(binding.var);
  }
  for (size_t k = 0; k < tree.buffers.size(); ++k) {
    layouts_.push_back(schedule::layout_of(tree, static_cast<schedule::BufferIndex>(k)));
  }
  for (const Stage& stage : tree.stages) {
    if (stage.place == Attachment::Inlined) continue;
    for (const Access& access : tree.reads_of(stage)) add_reader(access);
  }
  for (const std::vector<size_t>& reads : reads_) {
    if (reads.size() == 1) readers_[reads[0]].is_known = knows_elements(*readers_[reads[0]].access);
  }
}

void RegionChecker::add_reader(const Access& access) {
  Reader reader{.access = &access, .around = {}, .at = {}};
  const Stage& stage = tree_.stage(access.stage);
  for (const Stage* at = &stage; at->place == Attachment::At;) {
    const VarIndex last = at->at_loop;
    at = &tree_.stage(at->at_stage);
    const auto end = at->loops.begin() + tree_.var(last).position + 1;
    reader.around.insert(reader.around.begin(), at->loops.begin(), end);
  }
  for (size_t point = 0; point <= stage.loops.size(); ++point) {
    const VarIndex loop = point == 0 ? schedule::kNone : stage.loops[point - 1];
    Dims dims(schedule::kMaxRank);
    schedule::region_of(tree_, access, point == 0 ? schedule::kNone : access.stage, loop,
                        dims.data());
    dims.resize(access.rank);
    count_.regions += access.rank;
    count_.exact += std::ranges::count(dims, true, &RegionDim::exact);
    reader.at.push_back(std::move(dims));
  }
  reads_[static_cast<size_t>(access.buffer)].push_back(readers_.size());
  readers_.push_back(std::move(reader));
}

void RegionChecker::on_access(const codegen::AccessEvent& event,
                              const codegen::Environment& environment) {
  const bool known = event.buffer < reads_.size() && !reads_[event.buffer].empty();
  if (!known || event.is_store || !problem_.empty()) return;
  if (in_writer(tree_.stage(tree_.buffers[event.buffer].stage), environment)) return;
  const Index index = logical_index(event, environment);
  // An event does not name its access: if a buffer has several, one of them must contain it.
  std::string outside;
  for (const size_t reader : reads_[event.buffer]) {
    outside = first_outside(readers_[reader], index, environment);
    if (!outside.empty()) continue;
    if (readers_[reader].is_known) collect(reader, index, environment);
    return;
  }
  problem_ = outside;
}

// Does the writer of a reduction itself read its accumulator here? Its loops are bound then.
bool RegionChecker::in_writer(const Stage& writer, const codegen::Environment& environment) const {
  bool has_loops = false;
  for (const VarIndex loop : writer.loops) {
    for (const ir::VarId var : vars_[static_cast<size_t>(loop)]) {
      if (environment.find(var) != nullptr) return true;
      has_loops = true;
    }
  }
  return !has_loops && writer.kind != schedule::StageKind::Input;
}

int64_t RegionChecker::value_of(VarIndex var, const codegen::Environment& environment) const {
  for (const ir::VarId id : vars_[static_cast<size_t>(var)]) {
    if (const int64_t* value = environment.find(id)) return *value;
  }
  return 0;  // a loop of one iteration
}

int64_t RegionChecker::evaluate(const arith::Affine& form,
                                const codegen::Environment& environment) const {
  int64_t sum = form.constant;
  for (const arith::Term& term : form.terms) {
    sum += term.coefficient * value_of(static_cast<VarIndex>(term.var), environment);
  }
  return sum;
}

// Flat offset -> digits of the layout -> logical indices -> absolute ones.
RegionChecker::Index RegionChecker::logical_index(const codegen::AccessEvent& event,
                                                  const codegen::Environment& environment) const {
  const schedule::Buffer& buffer = tree_.buffers[event.buffer];
  const layout::Layout& layout = layouts_[event.buffer];
  Index index(buffer.rank, 0);
  int64_t rest = event.offset;
  for (size_t k = layout.digits.size(); k-- > 0;) {
    const layout::Digit& digit = layout.digits[k];
    index[digit.dim] += rest % digit.extent * digit.divisor;
    rest /= digit.extent;
  }
  const Stage& writer = tree_.stage(buffer.stage);
  for (size_t d = 0; d < index.size() && writer.place == Attachment::At; ++d) {
    index[d] += evaluate(writer.origin[d], environment);
  }
  return index;
}

std::string RegionChecker::first_outside(const Reader& reader, const Index& index,
                                         const codegen::Environment& environment) {
  for (size_t point = 0; point < reader.at.size(); ++point) {
    std::string problem = outside_at(reader, point, index, environment);
    if (!problem.empty()) return problem;
  }
  return "";
}

// By how much the index of an element of an attached buffer may be off in a tail.
int64_t RegionChecker::origin_slack(const Access& access, size_t dim) const {
  const Stage& writer = tree_.stage(tree_.buffer(access.buffer).stage);
  return writer.place == Attachment::At ? writer.origin_slack[dim] : 0;
}

std::string RegionChecker::outside_at(const Reader& reader, size_t point, const Index& index,
                                      const codegen::Environment& environment) {
  const Dims& dims = reader.at[point];
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t base = dims[d].whole ? 0 : evaluate(dims[d].base, environment);
    const int64_t slack = dims[d].slack + origin_slack(*reader.access, d);
    const bool inside = index[d] >= base - slack && index[d] < base + dims[d].extent + slack;
    const bool on_stride = !dims[d].exact || slack != 0 || (index[d] - base) % dims[d].stride == 0;
    ++count_.touched;
    if (inside && on_stride) continue;
    return fmt::format("{} is read at {}, outside [{}, {})", describe(reader, point, d), index[d],
                       base, base + dims[d].extent);
  }
  return "";
}

// True if the touched elements are known. They are not if a tail begins elsewhere, or if a fold of
// tuples selects its elements.
bool RegionChecker::knows_elements(const Access& access) const {
  const Stage& reader = tree_.stage(access.stage);
  if (reader.kind == schedule::StageKind::Combine && reader.buffers > 1) return false;
  for (size_t d = 0; d < access.rank; ++d) {
    if (origin_slack(access, d) != 0) return false;
  }
  return true;
}

void RegionChecker::collect(size_t number, const Index& index,
                            const codegen::Environment& environment) {
  if (++events_ > kMaxEvents) return;
  const Reader& reader = readers_[number];
  Key key{.reader = number, .point = 0, .outside = {}};
  for (size_t point = 0; point < reader.at.size(); ++point) {
    if (point == 1) {
      for (const VarIndex loop : reader.around) key.outside.push_back(value_of(loop, environment));
    }
    if (point >= 1) {
      const VarIndex loop = tree_.stage(reader.access->stage).loops[point - 1];
      key.outside.push_back(value_of(loop, environment));
    }
    key.point = point;
    const Dims& dims = reader.at[point];
    if (std::ranges::none_of(dims, &RegionDim::exact)) continue;
    Touched& touched = touched_[key];
    touched.dims.resize(dims.size());
    touched.base.resize(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!dims[d].exact) continue;
      touched.base[d] = evaluate(dims[d].base, environment);
      touched.dims[d].insert(index[d]);
    }
  }
}

std::string RegionChecker::finish() {
  if (events_ > kMaxEvents) return problem_;
  for (const auto& [key, touched] : touched_) {
    if (problem_.empty()) problem_ = first_unequal(key, touched);
  }
  return problem_;
}

// Touched elements are in the region and on its stride: equal counts mean equal sets.
std::string RegionChecker::first_unequal(const Key& key, const Touched& touched) {
  const Reader& reader = readers_[key.reader];
  const Dims& dims = reader.at[key.point];
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!dims[d].exact) continue;
    const auto found = static_cast<int64_t>(touched.dims[d].size());
    const int64_t expected = (dims[d].extent - 1) / dims[d].stride + 1;
    ++count_.equal;
    if (found == expected) continue;
    return fmt::format("{} is said to be exact: [{}, {}) by {} has {} elements, {} were touched",
                       describe(reader, key.point, d), touched.base[d],
                       touched.base[d] + dims[d].extent, dims[d].stride, expected, found);
  }
  return "";
}

std::string RegionChecker::describe(const Reader& reader, size_t point, size_t dim) const {
  const Stage& stage = tree_.stage(reader.access->stage);
  return fmt::format("dimension {} of {}, read by {}, at loop {},", dim,
                     nest_.buffers[static_cast<size_t>(reader.access->buffer)].name,
                     stage.name.text(),
                     point == 0 ? "root" : tree_.var(stage.loops[point - 1]).name.text());
}

}  // namespace tilewright::testing
