#include "toy_template.h"

#include "space/tile_domain.h"

namespace tilewright::toys {
namespace {

using schedule::HoleKind;
using schedule::Sketch;

struct TileOptions {
  int max_tile = 64;

  static constexpr auto fields() {
    return std::tuple(option("max_tile", &TileOptions::max_tile, "the largest tile", {1, 1024}));
  }
};

Result<std::vector<Sketch>> tiles_of(const space::TemplateContext& context,
                                     const TileOptions& options) {
  const te::Dag& dag = *context.task->workload.dag;
  const te::Op& op = dag.ops().back();
  if (op.axes.size() != 2 || op.reduce_axes.size() != 1) {
    return fail(ErrorKind::Unsupported, "the template tiles is for matrix products");
  }
  schedule::Trace trace =
      TRY(schedule::trace_from_text("split C i [4]\n"
                                    "split C j [16]\n"
                                    "split C k [4]\n"
                                    "reorder C [i.0, j.0, k.0, k.1, i.1, j.1]\n"
                                    "annotate C i.1 unroll\n"
                                    "annotate C j.1 vectorize\n"));
  Sketch sketch{.trace = std::move(trace), .holes = {}, .name = "tiles"};
  const schedule::StageName stage = schedule::StageName::parse("C").value();
  const te::Axis* const axes[] = {&op.axes[0], &op.axes[1], &op.reduce_axes[0]};
  for (int16_t k = 0; k < 3; ++k) {
    sketch.holes.push_back({.step = k,
                            .stage = stage,
                            .domain = space::tile_domain({.extent = axes[k]->extent.high,
                                                          .max_innermost = options.max_tile}),
                            .kind = HoleKind::Tile});
  }
  sketch.holes.push_back(
      {.step = 4,
       .stage = stage,
       .domain = schedule::StepDomain{.choices = {std::nullopt, sketch.trace.steps[4]}},
       .kind = HoleKind::Unroll});
  return std::vector<Sketch>{std::move(sketch)};
}

}  // namespace

space::TemplateRow toy_template() {
  return make_row<std::vector<Sketch>, space::TemplateContext>("tiles", "a matrix product in tiles",
                                                               TileOptions{}, tiles_of);
}

}  // namespace tilewright::toys
