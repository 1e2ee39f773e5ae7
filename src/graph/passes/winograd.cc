#include "graph/passes/winograd.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/rounding.h"
#include "graph/passes/constant_math.h"
#include "graph/passes/rewrite.h"
#include "te/ops/winograd_matrices.h"

namespace tilewright::graph {
namespace {

constexpr int64_t kTile = 4;  // rows and columns of the output
constexpr size_t kKernel = 3, kSide = 6;
constexpr int64_t kFewestChannels =
    16;  // of input and output: a vector, and sums worth a transform

// A convolution to which the algorithm applies.
struct Candidate {
  int64_t n = 1, rows = 1, columns = 1;  // of the output
  int64_t ci = 1, co = 1;
  int64_t pad = 0;
};

// The common value of a list; `fallback` for a missing list.
std::optional<int64_t> same_number(const Node& node, std::string_view name, int64_t fallback) {
  const std::vector<int64_t> list = node.attributes.list(name, {fallback});
  if (std::ranges::any_of(list, [&](int64_t one) { return one != list[0]; })) return std::nullopt;
  return list[0];
}

std::optional<Candidate> match(const Rewrite& rewrite, const Node& node,
                               const std::vector<ValueId>& in) {
  if (node.op != "conv" || node.attributes.integer("channels_last", 0) == 0) return std::nullopt;
  const TensorType& x = rewrite.type(in[0]);
  const TensorType& w = rewrite.type(in[1]);
  if (x.element != ir::Scalar::F32 || w.element != x.element || rewrite.constant(in[1]).empty() ||
      x.shape.size() != 4 || w.shape.size() != 4 || w.shape[0] != kKernel ||
      w.shape[1] != kKernel || node.attributes.integer("groups", 1) != 1) {
    return std::nullopt;
  }
  const auto pad = same_number(node, "pad_begin", 0);
  if (!pad || same_number(node, "pad_end", 0) != pad || same_number(node, "stride", 1) != 1 ||
      same_number(node, "dilation", 1) != 1) {
    return std::nullopt;
  }
  return Candidate{.n = x.shape[0],
                   .rows = x.shape[1] + 2 * *pad - 2,
                   .columns = x.shape[2] + 2 * *pad - 2,
                   .ci = w.shape[2],
                   .co = w.shape[3],
                   .pad = *pad};
}

// The cost of both algorithms in multiply-adds, as measured with default schedules. A tile has 36
// products per pair of channels instead of 144, plus its transforms, which go through memory if all
// tiles together exceed the cache. Weights are read from memory, and are four times as large.
bool pays(const Candidate& conv) {
  constexpr double kInCache = 1300, kInMemory = 4000;  // the transforms per tile and channel
  constexpr double kCacheBytes = 8 << 20;
  constexpr double kWeight = 8;  // reading one weight
  constexpr double kMinGain = 1.3;
  if (conv.ci < kFewestChannels || conv.co < kFewestChannels) return false;
  const auto pairs = static_cast<double>(conv.ci * conv.co);
  const auto outputs = static_cast<double>(conv.n * conv.rows * conv.columns);
  const auto tiles =
      static_cast<double>(conv.n * ceil_div(conv.rows, kTile) * ceil_div(conv.columns, kTile));
  const double transforms = tiles * static_cast<double>(conv.ci + conv.co);
  const bool in_cache = 36 * sizeof(float) * transforms <= kCacheBytes;
  const double direct = 9 * (outputs + kWeight) * pairs;
  const double winograd =
      36 * (tiles + kWeight) * pairs + (in_cache ? kInCache : kInMemory) * transforms;
  return direct >= kMinGain * winograd;
}

// G w G^T of each pair of channels.
Constant transformed(const Constant& weights) {
  const te::Matrix& g = te::winograd_matrices(kTile).g;
  const std::vector<int64_t>& shape = weights.type().shape;
  const auto pairs = static_cast<size_t>(shape[2] * shape[3]);
  const TensorType type{.element = ir::Scalar::F32, .shape = {kSide, kSide, shape[2], shape[3]}};
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  for (size_t pair = 0; pair < pairs; ++pair) {
    std::array<std::array<double, kKernel>, kSide> half{};  // G w
    for (size_t r = 0; r < kKernel; ++r) {
      for (size_t c = 0; c < kKernel; ++c) {
        const double w = weights.number(static_cast<int64_t>((r * kKernel + c) * pairs + pair));
        for (size_t a = 0; a < kSide; ++a) half[a][c] += g[a][r] * w;
      }
    }
    for (size_t a = 0; a < kSide; ++a) {
      for (size_t b = 0; b < kSide; ++b) {
        double sum = 0;
        for (size_t c = 0; c < kKernel; ++c) sum += half[a][c] * g[b][c];
        const auto rounded = static_cast<float>(sum);
        std::memcpy(&bytes[((a * kSide + b) * pairs + pair) * sizeof rounded], &rounded,
                    sizeof rounded);
      }
    }
  }
  return Constant::of_bytes(type, std::move(bytes));
}

}  // namespace

Result<Graph> winograd(const Graph& graph, const PassOptions& options) {
  if (!options.permissions.winograd) return graph;
  std::map<ValueId, ValueId> made;  // of weights, those transformed
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    const std::vector<ValueId> in = rewrite.operands(node);
    const auto conv = match(rewrite, node, in);
    if (!conv || !pays(*conv) || !all_finite(rewrite.constant(in[1]))) return false;
    if (!made.contains(in[1])) {
      made[in[1]] = rewrite.add_constant(transformed(rewrite.constant(in[1])));
    }
    const auto now = rewrite.add("conv_winograd", {in[0], made[in[1]]}, {{"pad", conv->pad}});
    if (!now) return false;  // the tiles are too large: keep the convolution
    rewrite.replace(node.outputs[0], *now);
    return true;
  });
}

}  // namespace tilewright::graph
