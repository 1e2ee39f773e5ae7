#include "te/ops/operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "te/ops/near_names.h"
#include "te/predicates.h"

namespace tilewright::te {
namespace {

constexpr std::string_view kScalars = "f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32";
constexpr std::string_view kFloats = "f16, bf16, f32, f64";

template <class Map>
const auto& lookup(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  CHECK(found != map.end(), "the operator has no parameter {} of this kind", name);
  return found->second;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<int64_t> parse_integer(std::string_view where, std::string_view text, int64_t low,
                              int64_t high) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && !text.empty();
  const bool too_big = code == std::errc::result_out_of_range && whole;
  if (!too_big && (code != std::errc{} || !whole)) {
    return fail(ErrorKind::BadInput, fmt::format("{}: '{}' is not a whole number", where, text));
  }
  if (too_big || value < low || value > high) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: {} is out of range; legal are {} to {}", where, text, low, high));
  }
  return value;
}

Result<double> parse_number(std::string_view where, std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return fail(ErrorKind::BadInput, fmt::format("{}: '{}' is not a number", where, text));
  }
  return value;
}

Status set_parameter(Arguments& arguments, std::string_view op, const Parameter& parameter,
                     const std::string& value) {
  const std::string where = fmt::format("{}: parameter {}", op, parameter.name);
  switch (parameter.kind) {
    case ParameterKind::Integer: {
      const auto number = TRY(parse_integer(where, value, parameter.low, parameter.high));
      arguments.set_integer(parameter.name, number);
      return {};
    }
    case ParameterKind::Scalar: {
      const auto scalar = ir::scalar_named(value);
      if (!scalar) {
        return fail(ErrorKind::BadInput,
                    fmt::format("{}: '{}' is not a type; types are {}", where, value, kScalars));
      }
      arguments.set_scalar(parameter.name, *scalar);
      return {};
    }
    case ParameterKind::Shape: {
      std::vector<int64_t> shape;
      for (const std::string& part : split(value, 'x')) {
        const auto number =
            TRY(parse_integer(where + " (such as 64x128)", part, parameter.low, parameter.high));
        shape.push_back(number);
      }
      arguments.set_shape(parameter.name, std::move(shape));
      return {};
    }
    case ParameterKind::Number: {
      const auto number = TRY(parse_number(where, value));
      arguments.set_number(parameter.name, number);
      return {};
    }
    case ParameterKind::Text:
      arguments.set_text(parameter.name, value);
      return {};
  }
  return {};
}

// The value in canonical form: 007 is 7.
std::string canonical(const Arguments& arguments, const Parameter& parameter,
                      const std::string& given) {
  if (parameter.kind == ParameterKind::Integer) {
    return std::to_string(arguments.integer(parameter.name));
  }
  if (parameter.kind == ParameterKind::Shape) {
    return fmt::format("{}", fmt::join(arguments.shape(parameter.name), "x"));
  }
  if (parameter.kind == ParameterKind::Number) {
    return fmt::format("{}", arguments.number(parameter.name));
  }
  return given;
}

std::vector<std::string> parameter_names(const Operator& op) {
  std::vector<std::string> names;
  names.reserve(op.parameters.size() + 1);
  for (const Parameter& parameter : op.parameters) names.emplace_back(parameter.name);
  names.emplace_back("constant");
  return names;
}

bool is_constant_key(std::string_view key) { return key == "constant" || key == "const"; }

Status check_keys(const Operator& op, const KeyValues& given) {
  const std::vector<std::string> names = parameter_names(op);
  std::vector<std::string> seen;
  for (const auto& [key, value] : given) {
    const std::string name = is_constant_key(key) ? "constant" : key;
    if (std::ranges::find(names, name) == names.end()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{} has no parameter '{}'{} (parameters: {})", op.name, key,
                              did_you_mean(key, names), fmt::join(names, ", ")));
    }
    if (std::ranges::find(seen, name) != seen.end()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: parameter {} is given twice", op.name, name));
    }
    seen.push_back(name);
  }
  return {};
}

// The default of a parameter; empty: required.
std::string fallback_of(const Operator& op, const KeyValues& given, const Parameter& parameter) {
  if (parameter.same_as.empty()) return std::string(parameter.fallback);
  const auto found =
      std::ranges::find(given, parameter.same_as, [](const auto& entry) { return entry.first; });
  if (found != given.end()) return found->second;
  const auto other = std::ranges::find(op.parameters, parameter.same_as, &Parameter::name);
  CHECK(other != op.parameters.end(), "{} has no parameter {}", op.name, parameter.same_as);
  return std::string(other->fallback);
}

struct Filled {
  Arguments arguments;
  std::vector<std::string> parts;  // `key=value` of the canonical text
};

Result<Filled> fill_in(const Operator& op, const KeyValues& given) {
  Filled filled;
  for (const Parameter& parameter : op.parameters) {
    const auto found =
        std::ranges::find(given, parameter.name, [](const auto& entry) { return entry.first; });
    const std::string fallback = fallback_of(op, given, parameter);
    if (found == given.end() && fallback.empty()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{} needs parameter {} ({}); its parameters are {}", op.name,
                              parameter.name, parameter.doc, fmt::join(parameter_names(op), ", ")));
    }
    const std::string& value = found == given.end() ? fallback : found->second;
    TRY(set_parameter(filled.arguments, op.name, parameter, value));
    const std::string printed = canonical(filled.arguments, parameter, value);
    if (!parameter.quiet || printed != fallback) {
      filled.parts.push_back(fmt::format("{}={}", parameter.name, printed));
    }
  }
  return filled;
}

std::vector<std::string> placeholder_names(const Dag& dag) {
  std::vector<std::string> names;
  for (const TensorId id : dag.inputs()) names.push_back(dag.tensor(id).name.text());
  return names;
}

std::vector<std::string> default_constants(const Operator& op) {
  std::vector<std::string> names;
  for (const OperandInfo& operand : op.operands) {
    if (operand.constant) names.emplace_back(operand.name);
  }
  return names;
}

// The names in `text` (by alias or not) as placeholders in Dag order.
Result<std::vector<std::string>> parse_constants(const Operator& op, const Dag& dag,
                                                 const std::string& text) {
  if (text == "none") return std::vector<std::string>{};
  const std::vector<std::string> placeholders = placeholder_names(dag);
  std::vector<std::string> chosen;
  for (std::string name : split(text, '+')) {
    for (const OperandInfo& operand : op.operands) {
      if (!operand.alias.empty() && name == operand.alias) name = operand.name;
    }
    if (std::ranges::find(placeholders, name) == placeholders.end()) {
      return fail(
          ErrorKind::BadInput,
          fmt::format("{}: '{}' is not an operand that can be constant{} (operands: {}; join "
                      "several with '+', or say none)",
                      op.name, name, did_you_mean(name, placeholders),
                      fmt::join(placeholders, ", ")));
    }
    chosen.push_back(name);
  }
  std::vector<std::string> ordered;
  for (const std::string& name : placeholders) {
    if (std::ranges::find(chosen, name) != chosen.end()) ordered.push_back(name);
  }
  return ordered;
}

Status check_sizes(const Operator& op, const Dag& dag) {
  for (OpId id = 0; id < dag.ops().size(); ++id) {
    if (spatial_size(dag, id) > kMaxElements) {
      std::vector<int64_t> extents;
      for (const Axis& axis : dag.op(id).axes) extents.push_back(axis.extent.high);
      return fail(
          ErrorKind::BadInput,
          fmt::format("{}: tensor {} of {} is too large; at most {} elements are supported",
                      op.name, dag.op(id).name.text(), fmt::join(extents, "x"), kMaxElements));
    }
    int64_t trips = 0;
    if (__builtin_mul_overflow(spatial_size(dag, id), reduce_size(dag, id), &trips) ||
        trips > kMaxTrips) {
      return fail(ErrorKind::BadInput, fmt::format("{}: {} takes more than {} loop iterations",
                                                   op.name, dag.op(id).name.text(), kMaxTrips));
    }
  }
  return {};
}

}  // namespace

int64_t Arguments::integer(std::string_view name) const { return lookup(integers_, name); }
ir::Scalar Arguments::scalar(std::string_view name) const { return lookup(scalars_, name); }
const std::vector<int64_t>& Arguments::shape(std::string_view name) const {
  return lookup(shapes_, name);
}
double Arguments::number(std::string_view name) const { return lookup(numbers_, name); }
const std::string& Arguments::text(std::string_view name) const { return lookup(texts_, name); }
void Arguments::set_shape(std::string_view name, std::vector<int64_t> value) {
  shapes_[std::string(name)] = std::move(value);
}
void Arguments::set_text(std::string_view name, std::string value) {
  texts_[std::string(name)] = std::move(value);
}

Result<OpInstance> instantiate(const Operator& op, const KeyValues& given) {
  TRY(check_keys(op, given));
  auto filled = TRY(fill_in(op, given));
  std::vector<std::string>& parts = filled.parts;
  auto dag = TRY(op.build(filled.arguments));
  TRY(check_sizes(op, *dag));

  OpInstance instance{.dag = std::move(dag), .constants = default_constants(op), .text = {}};
  const auto constant =
      std::ranges::find_if(given, [](const auto& entry) { return is_constant_key(entry.first); });
  if (constant != given.end()) {
    auto names = TRY(parse_constants(op, *instance.dag, constant->second));
    if (names != instance.constants) {
      parts.push_back(names.empty() ? "constant=none"
                                    : fmt::format("constant={}", fmt::join(names, "+")));
    }
    instance.constants = std::move(names);
  }
  instance.text = fmt::format("{}:{}", op.name, fmt::join(parts, ","));
  return instance;
}

Parameter dtype_parameter() {
  return {.name = "dtype",
          .doc = "type of the elements",
          .fallback = "f32",
          .kind = ParameterKind::Scalar};
}

Parameter second_dtype_parameter(std::string_view name, std::string_view doc) {
  return {
      .name = name, .doc = doc, .kind = ParameterKind::Scalar, .quiet = true, .same_as = "dtype"};
}

Parameter flag_parameter(std::string_view name, std::string_view doc) {
  return {.name = name, .doc = doc, .fallback = "0", .low = 0, .high = 1, .quiet = true};
}

ir::Scalar accumulator_of(ir::Scalar element) {
  using enum ir::Scalar;
  if (element == I8 || element == I16 || element == U8) return I32;
  if (element == U16) return U32;
  return ir::arithmetic_type(element);
}

ir::Scalar result_of(ir::Scalar element) {
  return ir::is_float(element) ? element : accumulator_of(element);
}

Status require_number(std::string_view op, ir::Scalar element) {
  if (element != ir::Scalar::Bool) return {};
  return fail(ErrorKind::Unsupported,
              fmt::format("{}: dtype bool is not supported; types are {}", op, kScalars));
}

Status require_factors(std::string_view op, ir::Scalar a, ir::Scalar b) {
  TRY(require_number(op, a));
  TRY(require_number(op, b));
  if (accumulator_of(a) == accumulator_of(b)) return {};
  return fail(ErrorKind::Unsupported,
              fmt::format("{}: sums of products are kept in {} for {} and in {} for {}; take types "
                          "that agree",
                          op, ir::name_of(accumulator_of(a)), ir::name_of(a),
                          ir::name_of(accumulator_of(b)), ir::name_of(b)));
}

Status require_float(std::string_view op, ir::Scalar element) {
  if (ir::is_float(element)) return {};
  return fail(ErrorKind::Unsupported, fmt::format("{}: dtype {} is not supported; types are {}", op,
                                                  ir::name_of(element), kFloats));
}

Status require_value(std::string_view op, double value, ir::Scalar element) {
  const double held = ir::convert(value, element);
  if (std::isfinite(held) && (ir::is_float(element) || held == value)) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("{}: {} is not a value of {}", op, value, ir::name_of(element)));
}

Result<size_t> choose(std::string_view op, std::string_view parameter, std::string_view text,
                      std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  const std::vector<std::string> known(names.begin(), names.end());
  return fail(ErrorKind::BadInput,
              fmt::format("{}: parameter {} has the unknown value '{}'{} "
                          "(values: {})",
                          op, parameter, text, did_you_mean(text, known), fmt::join(names, ", ")));
}

}  // namespace tilewright::te
