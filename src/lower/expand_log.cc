#include "lower/expand_log.h"

#include <limits>
#include <span>

#include "lower/expand_arithmetic.h"
#include "lower/expand_frexp.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

struct LogConstants {
  double ln2_high, ln2_low;  // the high part times an exponent is exact
  std::span<const double> coefficients;
};

constexpr double kCoefficientsF32[] = {0x1.55557ap-1, 0x1.995ed4p-2, 0x1.31e0d8p-2};
constexpr double kCoefficientsF64[] = {
    0x1.5555555555592p-1, 0x1.999999997ff05p-2, 0x1.24924941e3279p-2, 0x1.c71c521267055p-3,
    0x1.74663d64a25c4p-3, 0x1.39a1db2580734p-3, 0x1.2f0452323cb3ep-3};

constexpr LogConstants kF32 = {0x1.62e4p-1, 0x1.7f7d1cf79abcap-20, kCoefficientsF32};
constexpr LogConstants kF64 = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33, kCoefficientsF64};

}  // namespace

Expr expand_log(const Expr& x, Bindings& bindings) {
  const ir::Type type = x.type();
  const LogConstants& k = is_f32(type) ? kF32 : kF64;
  const auto number = [&](double value) { return ir::float_imm(value, type); };
  const double infinity = std::numeric_limits<double>::infinity();

  const Expr given = bindings.bind("log_x", x);
  const Frexp parts = expand_frexp(given, bindings);
  const Expr f = bindings.bind("log_f", parts.mantissa - number(1));
  const Expr s = bindings.bind("log_s", f / (f + number(2)));
  const Expr z = bindings.bind("log_z", s * s);
  const Expr h = bindings.bind("log_h", f * number(0.5) * f);
  const Expr tail =
      ir::fma(s, ir::fma(z, horner(k.coefficients, z), h), parts.exponent * number(k.ln2_low));
  const Expr finite = ir::fma(parts.exponent, number(k.ln2_high), f - (h - tail));
  const Expr positive = ir::select(given < number(infinity), finite, given);
  const Expr at_zero = ir::select(ir::binary(BinaryOp::Eq, given, number(0)), number(-infinity),
                                  number(std::numeric_limits<double>::quiet_NaN()));
  return ir::select(ir::binary(BinaryOp::Le, given, number(0)), at_zero, positive);
}

}  // namespace tilewright::lower
