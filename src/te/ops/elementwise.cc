#include "te/ops/elementwise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "te/ops/dimensions.h"
#include "te/ops/near_names.h"

namespace tilewright::te {
namespace {

enum class Operand : uint8_t { None, Tensor, LastAxis, Number };

// One kind of link: the value from the running value `x` and the second operand `y` (null without).
struct LinkKind {
  std::string_view name;
  Operand operand = Operand::None;
  bool floats_only = false;
  double number = 0;  // the default
  ir::Expr (*apply)(const ir::Expr& x, const ir::Expr& y) = nullptr;
};

using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;

template <BinaryOp op>
Expr apply_binary(const Expr& x, const Expr& y) {
  return ir::binary(op, x, y);
}

template <Intrinsic function>
Expr apply_call(const Expr& x, const Expr&) {
  return ir::call(function, {x});
}

Expr apply_leaky(const Expr& x, const Expr& slope) {
  return ir::select(x < ir::imm(0, x.type()), x * slope, x);
}

// x Phi(x) with the normal distribution Phi (Hendrycks and Gimpel, 2016).
Expr apply_gelu(const Expr& x, const Expr&) {
  const Expr inner = ir::call(Intrinsic::Erf, {x * ir::imm(std::numbers::sqrt2 / 2, x.type())});
  return x * ir::imm(0.5, x.type()) * (ir::imm(1, x.type()) + inner);
}

Expr apply_silu(const Expr& x, const Expr&) { return x * ir::call(Intrinsic::Sigmoid, {x}); }

// x min(max(x + 3, 0), 6) / 6 (Howard et al., MobileNetV3).
Expr apply_hard_swish(const Expr& x, const Expr&) {
  const ir::Type type = x.type();
  const Expr ramp = ir::min(ir::max(x + ir::imm(3, type), ir::imm(0, type)), ir::imm(6, type));
  return x * ramp * ir::imm(1.0 / 6, type);
}

constexpr LinkKind kLinks[] = {
    {.name = "add", .operand = Operand::Tensor, .apply = apply_binary<BinaryOp::Add>},
    {.name = "sub", .operand = Operand::Tensor, .apply = apply_binary<BinaryOp::Sub>},
    {.name = "mul", .operand = Operand::Tensor, .apply = apply_binary<BinaryOp::Mul>},
    {.name = "div",
     .operand = Operand::Tensor,
     .floats_only = true,
     .apply = apply_binary<BinaryOp::Div>},
    {.name = "max", .operand = Operand::Tensor, .apply = apply_binary<BinaryOp::Max>},
    {.name = "min", .operand = Operand::Tensor, .apply = apply_binary<BinaryOp::Min>},
    {.name = "bias", .operand = Operand::LastAxis, .apply = apply_binary<BinaryOp::Add>},
    {.name = "scale",
     .operand = Operand::Number,
     .number = 2,
     .apply = apply_binary<BinaryOp::Mul>},
    {.name = "shift",
     .operand = Operand::Number,
     .number = 1,
     .apply = apply_binary<BinaryOp::Add>},
    {.name = "atleast", .operand = Operand::Number, .apply = apply_binary<BinaryOp::Max>},
    {.name = "atmost",
     .operand = Operand::Number,
     .number = 6,
     .apply = apply_binary<BinaryOp::Min>},
    {.name = "pow",
     .operand = Operand::Number,
     .floats_only = true,
     .number = 2,
     .apply = [](const Expr& x, const Expr& y) { return ir::call(Intrinsic::Pow, {x, y}); }},
    {.name = "leaky",
     .operand = Operand::Number,
     .floats_only = true,
     .number = 0.01,
     .apply = apply_leaky},
    {.name = "relu",
     .apply = [](const Expr& x, const Expr&) { return ir::max(x, ir::imm(0, x.type())); }},
    {.name = "neg", .apply = apply_call<Intrinsic::Neg>},
    {.name = "abs", .apply = apply_call<Intrinsic::Abs>},
    {.name = "square", .apply = [](const Expr& x, const Expr&) { return x * x; }},
    {.name = "sqrt", .floats_only = true, .apply = apply_call<Intrinsic::Sqrt>},
    {.name = "rsqrt", .floats_only = true, .apply = apply_call<Intrinsic::Rsqrt>},
    {.name = "exp", .floats_only = true, .apply = apply_call<Intrinsic::Exp>},
    {.name = "log", .floats_only = true, .apply = apply_call<Intrinsic::Log>},
    {.name = "tanh", .floats_only = true, .apply = apply_call<Intrinsic::Tanh>},
    {.name = "erf", .floats_only = true, .apply = apply_call<Intrinsic::Erf>},
    {.name = "sigmoid", .floats_only = true, .apply = apply_call<Intrinsic::Sigmoid>},
    {.name = "floor", .floats_only = true, .apply = apply_call<Intrinsic::Floor>},
    {.name = "round", .floats_only = true, .apply = apply_call<Intrinsic::Round>},
    {.name = "gelu", .floats_only = true, .apply = apply_gelu},
    {.name = "silu", .floats_only = true, .apply = apply_silu},
    {.name = "hard_swish", .floats_only = true, .apply = apply_hard_swish},
};

constexpr size_t kMaxLinks = 64;

struct Link {
  const LinkKind* kind = nullptr;
  double number = 0;
};

std::vector<std::string> link_names() {
  std::vector<std::string> names;
  for (const LinkKind& kind : kLinks) names.emplace_back(kind.name);
  return names;
}

// `scale(0.5)` -> the kind scale and 0.5.
Result<Link> parse_link(std::string_view text, ir::Scalar type) {
  const size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const auto kind = std::ranges::find(kLinks, name, &LinkKind::name);
  if (kind == std::end(kLinks)) {
    const std::vector<std::string> names = link_names();
    return fail(ErrorKind::BadInput,
                fmt::format("elementwise: chain has the unknown link '{}'{} (links: {})", name,
                            did_you_mean(name, names), fmt::join(names, ", ")));
  }
  if (kind->floats_only && !ir::is_float(type)) {
    return fail(ErrorKind::Unsupported,
                fmt::format("elementwise: {} is for floats, not for {}", name, ir::name_of(type)));
  }
  Link link{.kind = kind, .number = kind->number};
  if (open == std::string_view::npos) return link;
  if (kind->operand != Operand::Number) {
    return fail(
        ErrorKind::BadInput,
        fmt::format("elementwise: {} takes no number, but the chain says '{}'", name, text));
  }
  const char* begin = text.data() + open + 1;
  const char* end = text.data() + text.size() - 1;
  const bool closed = text.back() == ')' && begin < end;
  const auto parsed =
      closed ? std::from_chars(begin, end, link.number) : std::from_chars_result{begin, {}};
  if (!closed || parsed.ec != std::errc{} || parsed.ptr != end || !std::isfinite(link.number)) {
    return fail(ErrorKind::BadInput,
                fmt::format("elementwise: '{}' should read {}(NUMBER)", text, name));
  }
  TRY(require_value("elementwise", link.number, type));
  return link;
}

Result<std::vector<Link>> parse_chain(std::string_view chain, ir::Scalar type) {
  std::vector<Link> links;
  for (size_t begin = 0; begin <= chain.size();) {
    const size_t end = std::min(chain.find('+', begin), chain.size());
    auto link = TRY(parse_link(chain.substr(begin, end - begin), type));
    links.push_back(link);
    begin = end + 1;
  }
  if (links.size() > kMaxLinks) {
    return fail(ErrorKind::BadInput, fmt::format("elementwise: a chain of {} links; at most {} are "
                                                 "supported",
                                                 links.size(), kMaxLinks));
  }
  return links;
}

class ChainBuilder {
 public:
  ChainBuilder(std::span<const int64_t> shape, ir::Scalar element)
      : shape_(shape.begin(), shape.end()), element_(element) {
    value_ = builder_.placeholder("X", extents_of(shape_), element);
  }

  void add(size_t number, const Link& link, bool last) {
    TensorId other = 0;
    const bool whole = link.kind->operand == Operand::Tensor;
    if (whole || link.kind->operand == Operand::LastAxis) {
      other = builder_.placeholder(fmt::format("B{}", number),
                                   whole ? extents_of(shape_) : std::vector<Extent>{shape_.back()},
                                   element_);
    }
    const std::vector<Axis> axes = axes_of(builder_, shape_);
    const std::vector<Expr> indices = vars_of(axes);
    const Expr x = builder_.read(value_, indices);
    Expr y;
    if (link.kind->operand == Operand::Number) y = ir::imm(link.number, x.type());
    if (whole) y = builder_.read(other, indices);
    if (link.kind->operand == Operand::LastAxis) y = builder_.read(other, {indices.back()});
    value_ = builder_.compute(last ? "Y" : fmt::format("T{}", number), axes, link.kind->apply(x, y),
                              last ? element_ : x.type().scalar);
  }

  std::shared_ptr<const Dag> build() && { return std::move(builder_).build(); }

 private:
  DagBuilder builder_;
  std::vector<int64_t> shape_;
  ir::Scalar element_;
  TensorId value_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Dag>> elementwise(std::span<const int64_t> shape,
                                               std::string_view chain, ir::Scalar element) {
  TRY(require_number("elementwise", element));
  TRY(require_dimensions("elementwise", shape));
  const auto links = TRY(parse_chain(chain, ir::arithmetic_type(element)));
  ChainBuilder builder(shape, element);
  for (size_t k = 0; k < links.size(); ++k) {
    builder.add(k + 1, links[k], k + 1 == links.size());
  }
  return std::move(builder).build();
}

Operator elementwise_operator() {
  return {
      .name = "elementwise",
      .doc = "X[shape], B1, B2, ... -> Y[shape] by a chain of links such as relu+scale(0.5)+add",
      .parameters =
          {{.name = "shape", .doc = "extents, such as 64x128", .kind = ParameterKind::Shape},
           {.name = "chain",
            .doc = "links joined by '+': add sub mul div max min bias scale(c) "
                   "shift(c) atleast(c) atmost(c) pow(c) leaky(c) relu neg abs square sqrt "
                   "rsqrt exp log tanh erf sigmoid floor round gelu silu hard_swish",
            .kind = ParameterKind::Text},
           dtype_parameter()},
      .operands = {},
      .batch = "",
      .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
        return elementwise(arguments.shape("shape"), arguments.text("chain"),
                           arguments.scalar("dtype"));
      }};
}

}  // namespace tilewright::te
