#include "graph/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "graph/passes/absorb_broadcasts.h"
#include "graph/passes/absorb_transposes.h"
#include "graph/passes/cancel_transposes.h"
#include "graph/passes/channels_last.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/fold_batch_norm.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/fold_scales.h"
#include "graph/passes/invert_scatters.h"
#include "graph/passes/recognize_attention.h"
#include "graph/passes/recognize_gelu.h"
#include "graph/passes/recognize_group_norm.h"
#include "graph/passes/recognize_layer_norm.h"
#include "graph/passes/recognize_silu.h"
#include "graph/passes/recognize_softmax.h"
#include "graph/passes/simplify.h"
#include "graph/passes/split_attention.h"
#include "graph/passes/winograd.h"

namespace tilewright::graph {
namespace {

constexpr Pass kFoldConstants{"fold_constants", "computes what depends on constants only",
                              fold_constants};
constexpr Pass kSimplify{"simplify", "x + 0, x * 1, reshape of reshape and the like", simplify};
constexpr Pass kCommon{"common_subexpressions", "computes once what is computed twice",
                       common_subexpressions};

constexpr std::array kPasses = {
    kFoldConstants,
    kSimplify,
    kCommon,
    Pass{"invert_scatters", "scatters at constant places as gathers", invert_scatters},
    Pass{"recognize_softmax", "exp / sum(exp) as softmax", recognize_softmax},
    Pass{"recognize_layer_norm", "layer_norm and rms_norm that are spelled out",
         recognize_layer_norm},
    Pass{"recognize_group_norm", "group norm that is spelled out by an instance norm",
         recognize_group_norm},
    Pass{"recognize_gelu", "gelu that is spelled out with erf or tanh", recognize_gelu},
    Pass{"recognize_silu", "sigmoid, silu, hard_swish and mish that are spelled out",
         recognize_silu},
    Pass{"fold_batch_norm", "batch norm and factors of channels into weights", fold_batch_norm},
    Pass{"fold_scales", "numbers that multiply a product into its weights", fold_scales},
    Pass{"absorb_transposes", "transposes into the contractions they feed or follow",
         absorb_transposes},
    Pass{"channels_last", "convolutions with channels last, transposes moved until they meet",
         channels_last},
    Pass{"cancel_transposes", "transposes of transposes, and those that change nothing",
         cancel_transposes},
    Pass{"absorb_broadcasts", "what is repeated for a contraction is read by fewer letters",
         absorb_broadcasts},
    // What the passes above have left over.
    kSimplify,
    kFoldConstants,
    kCommon,
    Pass{"recognize_attention", "contract, softmax, contract as attention", recognize_attention},
    Pass{"split_attention", "attention as three kernels where one does not pay", split_attention},
    Pass{"winograd", "3x3 convolutions by Winograd's algorithm, where that is allowed", winograd},
    Pass{"dead_code", "drops what no output needs", dead_code},
};

std::string names_of_passes() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) {
    if (std::ranges::count(names, pass.name) == 0) names.push_back(pass.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Result<Graph> run_passes(const Graph& graph, const PassOptions& options) {
  for (const std::string& name : options.off) {
    if (std::ranges::count(kPasses, name, &Pass::name) > 0) continue;
    return fail(ErrorKind::BadInput,
                fmt::format("there is no pass '{}'; passes are {}", name, names_of_passes()));
  }
  Graph now = graph;
  for (const Pass& pass : kPasses) {
    if (std::ranges::count(options.off, pass.name) > 0) continue;
    Result<Graph> after = pass.run(now, options);
    if (!after) {
      return fail(after.error().kind, fmt::format("pass {}: {}", pass.name, after.error().message));
    }
    now = *std::move(after);
  }
  return now;
}

}  // namespace tilewright::graph
