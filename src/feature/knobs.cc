#include "feature/knobs.h"

#include <cmath>

#include "schedule/find_genome.h"

namespace tilewright::feature {
namespace {

using schedule::Factors;
using schedule::Genome;
using schedule::Hole;
using schedule::Sketch;
using schedule::TileDomain;

constexpr int kKnobsVersion = 1;
constexpr float kAbsent = -1;

// The columns of one hole, per choice.
struct HoleColumns {
  size_t first = 0;  // column
  size_t count = 1;
  std::vector<float> values{};  // `count` per choice
};

HoleColumns columns_of(const Hole& hole, size_t first) {
  HoleColumns columns{.first = first};
  const auto* const tiles = std::get_if<TileDomain>(&hole.domain);
  if (tiles == nullptr) {
    for (size_t choice = 0; choice < hole.size(); ++choice) {
      columns.values.push_back(static_cast<float>(choice));
    }
    return columns;
  }
  for (const Factors& choice : tiles->choices) {
    columns.count = std::max(columns.count, choice.size() + 1);
  }
  for (const Factors& choice : tiles->choices) {
    columns.values.push_back(std::log2(static_cast<float>(tiles->outer_of(choice))));
    for (const int64_t factor : choice) {
      columns.values.push_back(std::log2(static_cast<float>(factor)));
    }
    columns.values.resize(columns.values.size() + columns.count - 1 - choice.size(), kAbsent);
  }
  return columns;
}

class Knobs : public Encoder {
 public:
  explicit Knobs(const EncodingContext& context) : sketches_(context.sketches) {
    for (const Sketch& sketch : sketches_) {
      std::vector<HoleColumns>& holes = holes_.emplace_back();
      for (const Hole& hole : sketch.holes) {
        holes.push_back(columns_of(hole, width_));
        width_ += holes.back().count;
      }
    }
  }

  size_t width() const override { return width_; }
  int version() const override { return kKnobsVersion; }
  bool compares_across_tasks() const override { return false; }

 private:
  bool do_append(const ProgramView& program, Encoded* out) override {
    if (program.genome != nullptr && program.sketch < sketches_.size()) {
      write(program.sketch, *program.genome, out);
      return true;
    }
    for (size_t sketch = 0; sketch < sketches_.size(); ++sketch) {
      const auto genome = schedule::find_genome(sketches_[sketch], *program.trace);
      if (!genome) continue;
      write(sketch, *genome, out);
      return true;
    }
    return false;
  }

  void write(size_t sketch, const Genome& genome, Encoded* out) const {
    const size_t at = out->values.size();
    out->values.resize(at + width_, kAbsent);
    float* const row = out->values.data() + at;
    row[0] = static_cast<float>(sketch);
    for (size_t k = 0; k < genome.genes.size(); ++k) {
      const HoleColumns& hole = holes_[sketch][k];
      const float* const from = hole.values.data() + genome.genes[k] * hole.count;
      std::copy(from, from + hole.count, row + hole.first);
    }
    out->begin.push_back(out->begin.back() + 1);
  }

  std::span<const Sketch> sketches_;
  std::vector<std::vector<HoleColumns>> holes_;  // per sketch
  size_t width_ = 1;
};

}  // namespace

EncodingRow knobs_encoding() {
  return make_row<std::unique_ptr<Encoder>, EncodingContext>(
      "knobs", "the choices of the genome; compares within one task only", NoOptions{},
      [](const EncodingContext& context, const NoOptions&) {
        return std::make_unique<Knobs>(context);
      });
}

}  // namespace tilewright::feature
