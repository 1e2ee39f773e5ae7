// An operator of the table: its parameters, its operands, and the function that builds its Dag.
// Each family (matmul.h, conv.h, ...) defines its rows; table.h collects them.
//
// The text of an operator is `name:key=value,key=value`, for example
//
//   matmul:m=512,n=512,k=512,dtype=f32
//   conv2d:n=1,h=14,w=14,ci=256,co=256,kernel=3,pad=1,constant=W
//
// `constant` (or `const`) lists the operands known at compile time, joined by '+', or is `none`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "te/dag_builder.h"

namespace tilewright::te {

inline constexpr int64_t kMaxParameter = 2147483647;       // of any integer parameter
inline constexpr int64_t kMaxElements = int64_t{1} << 40;  // of any tensor
inline constexpr int64_t kMaxTrips = int64_t{1} << 56;     // of any operator's loops

// Shape is any list of integers joined by 'x': extents, axes, steps. Number is a finite real.
enum class ParameterKind : uint8_t { Integer, Scalar, Shape, Number, Text };

struct Parameter {
  std::string_view name;
  std::string_view doc;
  std::string_view fallback = "";  // default value, as text; empty: required
  ParameterKind kind = ParameterKind::Integer;
  int64_t low = 1;  // smallest and largest legal Integer or member of a Shape
  int64_t high = kMaxParameter;
  bool quiet = false;             // omitted from the text of an instance at its default
  std::string_view same_as = "";  // instead of a default: the parameter whose value it takes
};

// A placeholder of the operator with a second name, or constant by default.
struct OperandInfo {
  std::string_view name;   // of the placeholder: `W`
  std::string_view alias;  // its name in the suite: `weight`; may be empty
  bool constant = false;
};

// The values of all parameters of an operator, checked against its list. Reading a parameter that
// the operator does not list is a CHECK.
class Arguments {
 public:
  int64_t integer(std::string_view name) const;
  ir::Scalar scalar(std::string_view name) const;
  const std::vector<int64_t>& shape(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const { return integer(name) != 0; }
  const std::string& text(std::string_view name) const;

  void set_integer(std::string_view name, int64_t value) { integers_[std::string(name)] = value; }
  void set_scalar(std::string_view name, ir::Scalar value) { scalars_[std::string(name)] = value; }
  void set_shape(std::string_view name, std::vector<int64_t> value);
  void set_number(std::string_view name, double value) { numbers_[std::string(name)] = value; }
  void set_text(std::string_view name, std::string value);

 private:
  std::map<std::string, int64_t, std::less<>> integers_;
  std::map<std::string, ir::Scalar, std::less<>> scalars_;
  std::map<std::string, std::vector<int64_t>, std::less<>> shapes_;
  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, std::string, std::less<>> texts_;
};

struct Operator {
  std::string_view name;
  std::string_view doc;  // one line: operands -> results
  std::vector<Parameter> parameters;
  std::vector<OperandInfo> operands;
  std::string_view batch;  // the parameter that the suffix .bN of a suite name multiplies, or ""
  Result<std::shared_ptr<const Dag>> (*build)(const Arguments&) = nullptr;
  bool winograd = false;  // Winograd's algorithm: naming it grants the permission `winograd`
};

// An operator with its parameters filled in.
struct OpInstance {
  std::shared_ptr<const Dag> dag;
  std::vector<std::string> constants;  // placeholders known at compile time, in Dag order
  std::string text;                    // canonical; parses to the same instance
};

using KeyValues = std::vector<std::pair<std::string, std::string>>;

// Fills in and checks the parameters, and builds the Dag. Fails on tensors or loops that are too
// large.
Result<OpInstance> instantiate(const Operator& op, const KeyValues& given);

// Parameters and checks that most rows share.
Parameter dtype_parameter();
// The type of a second operand, by default that of the first.
Parameter second_dtype_parameter(std::string_view name, std::string_view doc);
Parameter flag_parameter(std::string_view name, std::string_view doc);  // 0 or 1, by default 0
// The accumulator type of sums of products of `element`: F16, BF16 -> F32; I8, I16, U8 -> I32;
// U16 -> U32.
ir::Scalar accumulator_of(ir::Scalar element);
// The type in which such a sum is stored: `element` for floats, the accumulator type for integers.
ir::Scalar result_of(ir::Scalar element);
// Fails unless the type is a number, or a float.
Status require_number(std::string_view op, ir::Scalar element);
Status require_float(std::string_view op, ir::Scalar element);
// Fails unless both are numbers with the same accumulator type.
Status require_factors(std::string_view op, ir::Scalar a, ir::Scalar b);
// Fails unless `value` is finite in `element` and, for integers, exactly representable.
Status require_value(std::string_view op, double value, ir::Scalar element);
// The index of `text`, the value of a parameter, in `names`; the error lists them.
Result<size_t> choose(std::string_view op, std::string_view parameter, std::string_view text,
                      std::span<const std::string_view> names);

}  // namespace tilewright::te
