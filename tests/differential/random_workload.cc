#include "random_workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "made_dags.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

using Words = std::initializer_list<const char*>;

constexpr Words kFloats = {"f32", "f32", "f64", "f16", "bf16"};
constexpr Words kNumbers = {"f32", "f32", "f64", "f16", "bf16", "i8",
                            "u8",  "i16", "u16", "i32", "u32",  "i64"};
constexpr Words kAll = {"f32", "f64", "f16", "bf16", "i8",  "u8",
                        "i16", "u16", "i32", "u32",  "i64", "bool"};

std::string one_of(Rng& rng, Words words) { return words.begin()[rng.below(words.size())]; }

// `4x1x7`: 1 to `max_rank` extents of up to `high`.
std::vector<int64_t> extents(Rng& rng, int64_t max_rank, int64_t high) {
  std::vector<int64_t> shape(static_cast<size_t>(rng.between(1, max_rank)));
  for (int64_t& extent : shape) extent = rng.between(1, high);
  shape.back() = rng.between(1, 2 * high);
  return shape;
}
std::string text(const std::vector<int64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

// The parameters that all convolutions share; `dims` are the names of the input's extents.
std::string window(Rng& rng, Words dims, int64_t high) {
  const int64_t kernel = rng.between(1, 3), dilation = rng.between(1, 2);
  std::string out = fmt::format("n={},kernel={},dilation={}", rng.between(1, 2), kernel, dilation);
  for (const char* dim : dims) {
    out += fmt::format(",{}={}", dim, rng.between(dilation * (kernel - 1) + 1, high));
  }
  return out + fmt::format(",stride={},pad={}", rng.between(1, 2), rng.between(0, kernel - 1));
}

std::string matmul(Rng& rng) {
  return fmt::format("m={},n={},k={},dtype={},transpose_a={},transpose_b={}{}", rng.between(1, 17),
                     rng.between(1, 35), rng.between(1, 17), one_of(rng, kNumbers), rng.below(2),
                     rng.below(2), one_of(rng, {"", ",constant=B"}));
}
std::string matmul_bytes(Rng& rng) {
  return fmt::format("m={},n={},k={},dtype=u8,dtype_b=i8{}", rng.between(1, 5), rng.between(1, 40),
                     rng.between(1, 11), one_of(rng, {",constant=B", ",transpose_b=1"}));
}
std::string batch_matmul(Rng& rng) {
  return fmt::format("b={},m={},n={},k={},dtype={},transpose_a={},transpose_b={}",
                     rng.between(1, 3), rng.between(1, 9), rng.between(1, 20), rng.between(1, 9),
                     one_of(rng, kNumbers), rng.below(2), rng.below(2));
}
std::string channels(Rng& rng, Words types) {
  const int64_t groups = rng.chance(0.4) ? rng.between(2, 3) : 1;
  return fmt::format(",ci={},co={},groups={},dtype={}", groups * rng.between(1, 3),
                     groups * rng.between(1, 7), groups, one_of(rng, types));
}
std::string conv1d(Rng& rng) { return window(rng, {"l"}, 17) + channels(rng, kNumbers); }
std::string conv2d(Rng& rng) { return window(rng, {"h", "w"}, 9) + channels(rng, kNumbers); }
std::string conv3d(Rng& rng) { return window(rng, {"d", "h", "w"}, 5) + channels(rng, kNumbers); }
std::string conv2d_bias_bn_relu(Rng& rng) {
  return window(rng, {"h", "w"}, 7) + channels(rng, kFloats);
}
std::string depthwise_conv2d(Rng& rng) {
  return window(rng, {"h", "w"}, 9) +
         fmt::format(",ci={},dtype={}", rng.between(1, 19), one_of(rng, kNumbers));
}
std::string conv2d_transpose(Rng& rng) {
  const int64_t kernel = rng.between(1, 4), stride = rng.between(1, 3);
  return fmt::format("h={},w={},ci={},co={},kernel={},stride={},pad={},output_padding={},dtype={}",
                     rng.between(2, 6), rng.between(2, 6), rng.between(1, 4), rng.between(1, 9),
                     kernel, stride, rng.between(0, (kernel - 1) / 2), rng.between(0, stride - 1),
                     one_of(rng, kNumbers));
}
std::string conv2d_capsule(Rng& rng) {
  const int64_t kernel = rng.between(1, 2);
  return fmt::format("h={},w={},ci={},co={},kernel={},pad={},capsule={},dtype={}",
                     rng.between(kernel, 4), rng.between(kernel, 4), rng.between(1, 3),
                     rng.between(1, 5), kernel, rng.between(0, kernel - 1), rng.between(2, 3),
                     one_of(rng, kNumbers));
}
std::string conv2d_winograd(Rng& rng) {
  return fmt::format("h={},w={},ci={},co={},pad={},m={},weight={},dtype={}", rng.between(3, 7),
                     rng.between(3, 7), rng.between(1, 3), rng.between(1, 5), rng.between(0, 1),
                     rng.chance(0.7) ? 2 : 4, one_of(rng, {"raw", "transformed"}),
                     one_of(rng, {"f32", "f64"}));
}
std::string rows(Rng& rng) {
  return fmt::format("m={},n={},dtype={}", rng.between(1, 9), rng.between(1, 40),
                     one_of(rng, kFloats));
}
std::string norm(Rng& rng) {
  return fmt::format("b={},m={},n={},dtype={}", rng.between(1, 5), rng.between(1, 7),
                     rng.between(1, 20), one_of(rng, kFloats));
}
std::string heads(Rng& rng, Words types) {
  return fmt::format("b={},heads={},seq={},dim={},dtype={}", rng.between(1, 2), rng.between(1, 2),
                     rng.between(1, 6), rng.between(1, 9), one_of(rng, types));
}
std::string scores(Rng& rng) { return heads(rng, kNumbers); }
std::string attention(Rng& rng) { return heads(rng, kFloats); }
std::string attention_online(Rng& rng) {
  return heads(rng, kFloats) + fmt::format(",block={}", rng.between(1, 4));
}

std::string exact_chain(Rng& rng) {
  std::string chain;
  for (int64_t k = rng.between(1, 4); k-- > 0;) {
    chain += one_of(rng, {"add", "sub", "mul", "max", "min", "bias", "scale", "shift(3)",
                          "atleast(1)", "atmost", "relu", "neg", "abs", "square"});
    if (k > 0) chain += "+";
  }
  return fmt::format("shape={},chain={},dtype={}", text(extents(rng, 3, 9)), chain,
                     one_of(rng, kNumbers));
}
std::string function_chain(Rng& rng) {
  std::string chain;
  for (int64_t k = rng.between(1, 3); k-- > 0;) {
    chain += one_of(rng, {"abs+sqrt", "square+shift+rsqrt", "exp", "abs+shift+log", "tanh", "erf",
                          "sigmoid", "floor", "round", "gelu", "silu", "hard_swish", "leaky",
                          "abs+shift+pow(1.5)", "square+shift+div", "scale(0.3)", "bias"});
    if (k > 0) chain += "+";
  }
  return fmt::format("shape={},chain={},dtype={}", text(extents(rng, 2, 9)), chain,
                     one_of(rng, kFloats));
}

// A shape that broadcasts to `to`: some extents 1, some leading ones missing.
std::vector<int64_t> broadcastable(Rng& rng, std::vector<int64_t> to) {
  for (int64_t& extent : to) extent = rng.chance(0.3) ? 1 : extent;
  const auto missing = static_cast<std::ptrdiff_t>(rng.below(to.size()));
  to.erase(to.begin(), to.begin() + (rng.chance(0.3) ? missing : 0));
  return to;
}
std::string binary(Rng& rng) {
  const std::vector<int64_t> shape = extents(rng, 3, 7);
  const std::string shapes =
      fmt::format("a={},b={}", text(broadcastable(rng, shape)), text(broadcastable(rng, shape)));
  const auto with = [&](Words ops, Words types) {
    return fmt::format("op={},{},dtype={}", one_of(rng, ops), shapes, one_of(rng, types));
  };
  switch (rng.below(5)) {
    case 0:
      return with({"div", "mod"}, {"i8", "u8", "i16", "u16", "i32", "u32", "i64"});
    case 1:
      return with({"div", "pow"}, kFloats);
    case 2:
      return with({"equal", "not_equal", "and", "or"}, {"bool"});
    case 3:
      return with({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"},
                  kNumbers);
    default:
      return with({"add", "sub", "mul", "max", "min"}, kNumbers);
  }
}
std::string broadcast(Rng& rng) {
  const std::vector<int64_t> to = extents(rng, 4, 6);
  return fmt::format("shape={},to={},dtype={}", text(broadcastable(rng, to)), text(to),
                     one_of(rng, kAll));
}
std::string cast(Rng& rng) {
  return fmt::format("shape={},from={},to={}", text(extents(rng, 3, 7)), one_of(rng, kAll),
                     one_of(rng, kAll));
}

// Some of the axes of a shape, at least one.
std::vector<int64_t> some_axes(Rng& rng, size_t rank) {
  std::vector<int64_t> axes;
  for (size_t d = 0; d < rank; ++d) {
    if (rng.chance(0.5)) axes.push_back(static_cast<int64_t>(d));
  }
  if (axes.empty()) axes.push_back(-1);
  return axes;
}
std::string folds(Rng& rng, Words ops, Words types, int64_t high) {
  const std::vector<int64_t> shape = extents(rng, 3, high);
  return fmt::format("op={},shape={},axes={},keep={},dtype={}", one_of(rng, ops), text(shape),
                     text(some_axes(rng, shape.size())), rng.below(2), one_of(rng, types));
}
std::string reduce_sum(Rng& rng) { return folds(rng, {"sum", "max", "min"}, kNumbers, 9); }
std::string reduce_mean(Rng& rng) { return folds(rng, {"mean"}, kFloats, 9); }
std::string reduce_product(Rng& rng) { return folds(rng, {"prod"}, kNumbers, 3); }
std::string reduce_index(Rng& rng) { return folds(rng, {"argmax", "argmin"}, kNumbers, 9); }
std::string reduce_bool(Rng& rng) { return folds(rng, {"any", "all"}, kAll, 5); }

std::string cumulative_sum(Rng& rng) {
  const std::vector<int64_t> shape = extents(rng, 3, 7);
  return fmt::format("shape={},axis={},exclusive={},reverse={},dtype={}", text(shape),
                     rng.below(shape.size()), rng.below(2), rng.below(2), one_of(rng, kNumbers));
}

std::string pooled(Rng& rng) {
  const bool average = rng.chance(0.5);
  std::vector<int64_t> spatial(static_cast<size_t>(rng.between(1, 3)));
  for (int64_t& extent : spatial) extent = rng.between(3, spatial.size() == 3 ? 5 : 9);
  return fmt::format("op={},n={},spatial={},c={},dtype={}", average ? "average" : "max",
                     rng.between(1, 2), text(spatial), rng.between(1, 9),
                     one_of(rng, average ? kFloats : kNumbers));
}
std::string pool(Rng& rng) {
  const int64_t kernel = rng.between(1, 3);
  return pooled(rng) + fmt::format(",kernel={},stride={},pad={},count_include_pad={}", kernel,
                                   rng.between(1, 3), rng.between(0, kernel - 1), rng.below(2));
}
std::string adaptive_pool(Rng& rng) {
  return pooled(rng) + fmt::format(",to={}", rng.between(1, 7));
}

std::string resize(Rng& rng) {
  const bool linear = rng.chance(0.4);
  const std::vector<int64_t> shape = extents(rng, linear ? 2 : 3, 6);
  std::vector<int64_t> to = shape;
  for (int64_t& extent : to) extent = rng.chance(0.4) ? extent : rng.between(1, 11);
  return fmt::format("shape={},to={},mode={},coordinates={},rounding={},dtype={}", text(shape),
                     text(to), linear ? "linear" : "nearest",
                     one_of(rng, {"half_pixel", "asymmetric", "align_corners"}),
                     one_of(rng, {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}),
                     one_of(rng, linear ? kFloats : kAll));
}
std::string pad(Rng& rng) {
  const std::vector<int64_t> shape = extents(rng, 3, 7);
  const auto border = [&] {
    std::vector<int64_t> sides = shape;
    for (int64_t& side : sides) side = rng.between(0, std::min<int64_t>(3, side));
    return text(sides);
  };
  const std::string before = border();
  return fmt::format("shape={},before={},after={},mode={},value={},dtype={}", text(shape), before,
                     border(), one_of(rng, {"constant", "edge", "reflect", "wrap"}), rng.below(2),
                     one_of(rng, kAll));
}
std::string concat(Rng& rng) {
  std::vector<int64_t> shape = extents(rng, 3, 7);
  const size_t axis = rng.below(shape.size());
  std::vector<int64_t> parts(static_cast<size_t>(rng.between(1, 4)));
  for (int64_t& part : parts) part = rng.between(1, 9);
  shape[axis] = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  return fmt::format("shape={},axis={},parts={},dtype={}", text(shape), axis, text(parts),
                     one_of(rng, kAll));
}
std::string slice(Rng& rng) {
  const std::vector<int64_t> shape = extents(rng, 3, 9);
  std::vector<int64_t> begin, size, step;
  for (const int64_t extent : shape) {
    step.push_back(rng.between(1, 3));
    size.push_back(rng.between(1, (extent - 1) / step.back() + 1));
    const int64_t reach = (size.back() - 1) * step.back();
    begin.push_back(rng.between(0, extent - 1 - reach));
    if (rng.chance(0.3)) {
      begin.back() += reach;
      step.back() = -step.back();
    }
  }
  return fmt::format("shape={},begin={},size={},step={},dtype={}", text(shape), text(begin),
                     text(size), text(step), one_of(rng, kAll));
}
std::string transpose(Rng& rng) {
  const std::vector<int64_t> shape = extents(rng, 4, 7);
  std::vector<int64_t> perm(shape.size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t k = perm.size(); k-- > 1;) std::swap(perm[k], perm[rng.below(k + 1)]);
  return fmt::format("shape={},perm={},dtype={}", text(shape), text(perm), one_of(rng, kAll));
}
std::string reshape(Rng& rng) {
  std::vector<int64_t> shape(static_cast<size_t>(rng.between(1, 4)));
  for (int64_t& extent : shape) extent = rng.between(1, 5);
  std::vector<int64_t> to = {1};  // the same elements, in other groups
  for (const int64_t extent : shape) {
    const int64_t left = extent % 2 == 0 ? 2 : 1;
    to.back() *= left;
    if (rng.chance(0.5)) to.push_back(1);
    to.back() *= extent / left;
  }
  return fmt::format("shape={},to={},dtype={}", text(shape), text(to), one_of(rng, kAll));
}
std::string gather(Rng& rng) {
  const std::vector<int64_t> shape = extents(rng, 3, 7);
  return fmt::format("shape={},axis={},indices={},dtype={},index={}", text(shape),
                     rng.below(shape.size()), text(extents(rng, 2, 4)), one_of(rng, kAll),
                     one_of(rng, {"i32", "i64"}));
}
std::string one_hot(Rng& rng) {
  const std::vector<int64_t> shape = extents(rng, 2, 6);
  return fmt::format("shape={},depth={},axis={},on={},off={},dtype={},index={}", text(shape),
                     rng.between(1, 7), rng.below(shape.size() + 1), rng.below(2), rng.below(2),
                     one_of(rng, kAll), one_of(rng, {"i32", "i64"}));
}

}  // namespace

const std::vector<WorkloadKind>& all_workload_kinds() {
  static const std::vector<WorkloadKind> kinds = {
      {"matmul", 3, matmul},
      {"matmul bytes", 1, matmul_bytes},
      {"batch_matmul", 1, batch_matmul},
      {"conv1d", 1, conv1d},
      {"conv2d", 3, conv2d},
      {"conv3d", 0.5, conv3d},
      {"conv2d_bias_bn_relu", 1, conv2d_bias_bn_relu},
      {"depthwise_conv2d", 1, depthwise_conv2d},
      {"conv2d_transpose", 1, conv2d_transpose},
      {"conv2d_capsule", 0.5, conv2d_capsule},
      {"conv2d_winograd", 0.5, conv2d_winograd},
      {"softmax", 1, rows},
      {"log_softmax", 1, rows},
      {"norm", 1, norm},
      {"layer_norm", 1, rows},
      {"rms_norm", 1, rows},
      {"transpose_batch_matmul", 1, scores},
      {"transpose_batch_matmul_softmax", 1, attention},
      {"attention", 1, attention},
      {"attention_online", 1, attention_online},
      {"elementwise exact", 1, exact_chain},
      {"elementwise functions", 1, function_chain},
      {"binary", 1, binary},
      {"broadcast", 0.5, broadcast},
      {"cast", 0.5, cast},
      {"reduce sum", 1, reduce_sum},
      {"reduce mean", 0.5, reduce_mean},
      {"reduce product", 0.5, reduce_product},
      {"reduce index", 1, reduce_index},
      {"reduce bool", 0.5, reduce_bool},
      {"cumulative_sum", 1, cumulative_sum},
      {"pool", 1, pool},
      {"global_pool", 0.5, pooled},
      {"adaptive_pool", 0.5, adaptive_pool},
      {"resize", 1, resize},
      {"pad", 1, pad},
      {"concat", 1, concat},
      {"slice", 1, slice},
      {"transpose", 1, transpose},
      {"reshape", 1, reshape},
      {"gather", 1, gather},
      {"one_hot", 0.5, one_hot},
      {"argmax read on", 1, nullptr, argmax_read_on},
      {"chained matmuls", 2, nullptr, chained_matmuls},
      {"stencil", 1, nullptr, stencil},
      {"flipped", 1, nullptr, flipped},
      {"shared producer", 2, nullptr, shared_producer},
      {"long rows", 0.2, nullptr, long_rows},
  };
  return kinds;
}

const WorkloadKind& random_kind(Rng& rng) {
  const std::vector<WorkloadKind>& kinds = all_workload_kinds();
  double total = 0;
  for (const WorkloadKind& kind : kinds) total += kind.weight;
  double left = rng.uniform() * total;
  for (const WorkloadKind& kind : kinds) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  return kinds.back();
}

Workload random_workload(const WorkloadKind& kind, Rng& rng) {
  if (kind.make != nullptr) return kind.make(rng);
  const std::string_view op = kind.name.substr(0, kind.name.find(' '));
  FloatPermissions permissions;
  permissions.winograd = true;
  permissions.reassociate = permissions.contract = !rng.chance(0.1);
  permissions.denormals = rng.chance(0.25);
  const Result<Workload> workload =
      parse_workload(fmt::format("{}:{}", op, kind.parameters(rng)), permissions);
  CHECK(workload.has_value(), "{}", workload.error().message);
  return *workload;
}

Workload with_parts(const Workload& workload, Rng& rng) {
  std::vector<std::string> constants;
  std::vector<OperandPart> parts;
  for (const Operand& operand : workload.operands) {
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    if (operand.role == Role::Constant) {
      constants.push_back(tensor.name.text());
    } else if (operand.role == Role::Output || rng.chance(0.5)) {
      OperandPart part{.tensor = tensor.name.text(),
                       .extents = {},
                       .alignment = 4 << static_cast<int>(rng.below(5))};
      for (const te::Extent& extent : tensor.shape) {
        part.extents.push_back(extent.high + (rng.chance(0.5) ? rng.between(1, 9) : 0));
      }
      parts.push_back(std::move(part));
    }
  }
  return dag_workload(workload.dag, constants, workload.permissions, parts);
}

}  // namespace tilewright::testing
