#include "graph/passes/winograd.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "graph/passes/constant_math.h"
#include "graph/passes/rewrite.h"
#include "te/ops/winograd_matrices.h"

namespace tilewright::graph {
namespace {

constexpr std::array<int64_t, 2> kTiles = {2, 4};  // rows and columns of an output tile
constexpr size_t kKernel = 3;
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

double products_of(int64_t m) { return static_cast<double>((m + 2) * (m + 2)); }  // per tile

int64_t nonzeros(const te::Matrix& matrix) {
  int64_t count = 0;
  for (const std::vector<double>& row : matrix) {
    count += std::ranges::count_if(row, [](double entry) { return entry != 0; });
  }
  return count;
}

// The multiply-adds of M -> matrix M matrix^T, which is computed as one double sum per element.
double transform_cost(const te::Matrix& matrix) {
  const auto terms = static_cast<double>(nonzeros(matrix));
  return terms * terms;
}

// Costs are in multiply-adds of a convolution. Reading one weight costs as much as several.
constexpr double kWeight = 8;

double direct_cost(const Candidate& conv) {
  const auto outputs = static_cast<double>(conv.n * conv.rows * conv.columns);
  return kKernel * kKernel * (outputs + kWeight) * static_cast<double>(conv.ci * conv.co);
}

// The products, the sums of both transforms, and the transformed elements, each of which is written
// and read once, in a cache if all of them fit.
double winograd_cost(const Candidate& conv, int64_t m) {
  constexpr double kInCache = 12.5, kInMemory = 50;  // one element written or read
  constexpr double kCacheBytes = 8 << 20;
  const te::WinogradMatrices& matrices = te::winograd_matrices(m);
  const auto ci = static_cast<double>(conv.ci), co = static_cast<double>(conv.co);
  const auto tiles =
      static_cast<double>(conv.n * ceil_div(conv.rows, m) * ceil_div(conv.columns, m));
  const double elements = products_of(m) * tiles * (ci + co);
  const bool in_cache = sizeof(float) * elements <= kCacheBytes;
  const double sums = tiles * (ci * transform_cost(matrices.b_transposed) +
                               co * transform_cost(matrices.a_transposed));
  return products_of(m) * (tiles + kWeight) * ci * co + sums +
         2 * elements * (in_cache ? kInCache : kInMemory);
}

// The tile of the output with the lowest cost; nothing if the convolution itself costs little more.
std::optional<int64_t> best_tile(const Candidate& conv) {
  constexpr double kMinGain = 1.3;
  if (conv.ci < kFewestChannels || conv.co < kFewestChannels) return std::nullopt;
  const int64_t best =
      *std::ranges::min_element(kTiles, {}, [&](int64_t m) { return winograd_cost(conv, m); });
  if (direct_cost(conv) < kMinGain * winograd_cost(conv, best)) return std::nullopt;
  return best;
}

// G w G^T of each pair of channels.
Constant transformed(const Constant& weights, int64_t m) {
  const te::Matrix& g = te::winograd_matrices(m).g;
  const size_t side = g.size();
  const std::vector<int64_t>& shape = weights.type().shape;
  const auto pairs = static_cast<size_t>(shape[2] * shape[3]);
  const TensorType type{.element = ir::Scalar::F32, .shape = {m + 2, m + 2, shape[2], shape[3]}};
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  for (size_t pair = 0; pair < pairs; ++pair) {
    std::vector<std::array<double, kKernel>> half(side);  // G w
    for (size_t r = 0; r < kKernel; ++r) {
      for (size_t c = 0; c < kKernel; ++c) {
        const double w = weights.number(static_cast<int64_t>((r * kKernel + c) * pairs + pair));
        for (size_t a = 0; a < side; ++a) half[a][c] += g[a][r] * w;
      }
    }
    for (size_t a = 0; a < side; ++a) {
      for (size_t b = 0; b < side; ++b) {
        double sum = 0;
        for (size_t c = 0; c < kKernel; ++c) sum += half[a][c] * g[b][c];
        const auto rounded = static_cast<float>(sum);
        std::memcpy(&bytes[((a * side + b) * pairs + pair) * sizeof rounded], &rounded,
                    sizeof rounded);
      }
    }
  }
  return Constant::of_bytes(type, std::move(bytes));
}

}  // namespace

Result<Graph> winograd(const Graph& graph, const PassOptions& options) {
  if (!options.permissions.winograd) return graph;
  std::map<std::pair<ValueId, int64_t>, ValueId> made;  // of weights and tile, those transformed
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    const std::vector<ValueId> in = rewrite.operands(node);
    const auto conv = match(rewrite, node, in);
    const auto m = conv ? best_tile(*conv) : std::nullopt;
    if (!m || !all_finite(rewrite.constant(in[1]))) return false;
    const auto [weights, added] = made.try_emplace({in[1], *m});
    if (added) {
      weights->second = rewrite.add_constant(transformed(rewrite.constant(in[1]), *m));
    }
    const auto now = rewrite.add("conv_winograd", {in[0], weights->second}, {{"pad", conv->pad}});
    if (!now) return false;  // the tiles are too large: keep the convolution
    rewrite.replace(node.outputs[0], *now);
    return true;
  });
}

}  // namespace tilewright::graph
