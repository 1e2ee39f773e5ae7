// What an operator of the table is: its parameters, its operands and the function that makes its
// Dag. Each family (matmul.h, conv.h, ...) gives its rows; table.h collects them.
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
#include "te/dag.h"

namespace tilewright::te {

inline constexpr int64_t kMaxParameter = 2147483647;       // of any integer parameter
inline constexpr int64_t kMaxElements = int64_t{1} << 40;  // of any tensor
inline constexpr int64_t kMaxTrips = int64_t{1} << 56;     // of any operator's loops

// Shape is any list of integers joined by 'x': extents, axes, steps. Number is a finite real.
enum class ParameterKind : uint8_t { Integer, Scalar, Shape, Number, Text };

struct Parameter {
  std::string_view name;
  std::string_view doc;
  std::string_view fallback = "";  // as text; empty: must be given
  ParameterKind kind = ParameterKind::Integer;
  int64_t low = 1;  // least and largest legal Integer, or member of a Shape
  int64_t high = kMaxParameter;
  bool quiet = false;             // left out of the text of an instance when at its fallback
  std::string_view same_as = "";  // in place of a fallback: the parameter whose value it takes
};

// A placeholder of the operator that has a second name or is constant unless the text says else.
struct OperandInfo {
  std::string_view name;   // of the placeholder: `W`
  std::string_view alias;  // what the suite calls it: `weight`; may be empty
  bool constant = false;
};

// Values of all parameters of one operator, checked against its list. Asking for what the operator
// does not list is a CHECK.
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
  bool winograd = false;  // Winograd's algorithm: asking for it gives the permission of that name
};

// An operator with its parameters filled in.
struct OpInstance {
  std::shared_ptr<const Dag> dag;
  std::vector<std::string> constants;  // placeholders known at compile time, in Dag order
  std::string text;                    // canonical; parses to the same again
};

using KeyValues = std::vector<std::pair<std::string, std::string>>;

// Fills in and checks the parameters, builds the Dag and refuses absurd sizes.
Result<OpInstance> instantiate(const Operator& op, const KeyValues& given);

// What most rows have in common.
Parameter dtype_parameter();
// The type of a second operand, by default that of the first.
Parameter second_dtype_parameter(std::string_view name, std::string_view doc);
Parameter flag_parameter(std::string_view name, std::string_view doc);  // 0 or 1, by default 0
// The type sums of products of `element` are kept in: F16, BF16 -> F32; I8, I16, U8 -> I32.
ir::Scalar accumulator_of(ir::Scalar element);
// What such a sum is stored as: floats as they came, narrow integers as I32.
ir::Scalar result_of(ir::Scalar element);
// Fails unless dtype is a number, a float.
Status require_number(std::string_view op, ir::Scalar element);
Status require_float(std::string_view op, ir::Scalar element);
// Fails unless both are numbers and sums of their products are kept in one type.
Status require_factors(std::string_view op, ir::Scalar a, ir::Scalar b);
// Fails unless `value` is finite in `element` and, for integers, one of them exactly.
Status require_value(std::string_view op, double value, ir::Scalar element);
// Which of `names` the value `text` of a parameter is; fails with the list of them.
Result<size_t> choose(std::string_view op, std::string_view parameter, std::string_view text,
                      std::span<const std::string_view> names);

}  // namespace tilewright::te
