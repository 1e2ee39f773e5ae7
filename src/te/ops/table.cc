#include "te/ops/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "te/ops/attention.h"
#include "te/ops/broadcast.h"
#include "te/ops/cast.h"
#include "te/ops/concat.h"
#include "te/ops/conv.h"
#include "te/ops/conv_capsule.h"
#include "te/ops/conv_transpose.h"
#include "te/ops/depthwise.h"
#include "te/ops/elementwise.h"
#include "te/ops/gather.h"
#include "te/ops/matmul.h"
#include "te/ops/near_names.h"
#include "te/ops/norm.h"
#include "te/ops/pad.h"
#include "te/ops/pool.h"
#include "te/ops/reduce.h"
#include "te/ops/reshape.h"
#include "te/ops/resize.h"
#include "te/ops/scan.h"
#include "te/ops/slice.h"
#include "te/ops/softmax.h"
#include "te/ops/winograd.h"

namespace tilewright::te {
namespace {

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const Operator& op : all_operators()) names.emplace_back(op.name);
  return names;
}

// `a=1,b=2` -> {{a, 1}, {b, 2}}.
Result<KeyValues> parse_key_values(std::string_view op, std::string_view text) {
  KeyValues pairs;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: '{}' is not of the form key=value", op, item));
    }
    pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    if (item.size() == text.size()) break;
    text.remove_prefix(item.size() + 1);
    if (text.empty()) {
      return fail(ErrorKind::BadInput, fmt::format("{}: the text ends with a comma", op));
    }
  }
  return pairs;
}

}  // namespace

const std::vector<Operator>& all_operators() {
  static const std::vector<Operator> table = {
      // clang-format off
      matmul_operator(), batch_matmul_operator(),
      conv2d_operator(), conv1d_operator(), conv3d_operator(), conv2d_bias_bn_relu_operator(),
      depthwise_conv2d_operator(), conv2d_transpose_operator(), conv2d_capsule_operator(),
      conv2d_winograd_operator(),
      softmax_operator(), log_softmax_operator(),
      norm_operator(), layer_norm_operator(), rms_norm_operator(),
      transpose_batch_matmul_operator(), transpose_batch_matmul_softmax_operator(),
      attention_operator(), attention_online_operator(),
      elementwise_operator(), binary_operator(), broadcast_operator(), cast_operator(),
      reduce_operator(), cumulative_sum_operator(),
      pool_operator(), global_pool_operator(), adaptive_pool_operator(), resize_operator(),
      pad_operator(), concat_operator(), slice_operator(), transpose_operator(),
      reshape_operator(), gather_operator(), one_hot_operator(),
      // clang-format on
  };
  return table;
}

const Operator* find_operator(std::string_view name) {
  for (const Operator& op : all_operators()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

Result<OpInstance> parse_operator(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const Operator* op = find_operator(name);
  if (op == nullptr) {
    const std::vector<std::string> names = operator_names();
    return fail(ErrorKind::BadInput,
                fmt::format("there is no operator '{}'{} (operators: {})", name,
                            did_you_mean(name, names), fmt::join(names, ", ")));
  }
  const auto pairs = TRY(parse_key_values(
      name, colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1)));
  return instantiate(*op, pairs);
}

}  // namespace tilewright::te
