#include "codegen/c/recipes.h"

#include "base/check.h"

namespace tilewright::codegen {
namespace {

constexpr NativeForm kFma[] = {
    {64, "__AVX512F__", "($T)_mm512_fmadd_$p((__m512$d)a, (__m512$d)b, (__m512$d)c)"},
    {32, "__FMA__", "($T)_mm256_fmadd_$p((__m256$d)a, (__m256$d)b, (__m256$d)c)"},
    {16, "__FMA__", "($T)_mm_fmadd_$p((__m128$d)a, (__m128$d)b, (__m128$d)c)"},
};
constexpr NativeForm kFloor[] = {
    {64, "__AVX512F__", "($T)_mm512_roundscale_$p((__m512$d)a, 9)"},
    {32, "__AVX__", "($T)_mm256_round_$p((__m256$d)a, 9)"},
    {16, "__SSE4_1__", "($T)_mm_round_$p((__m128$d)a, 9)"},
};
constexpr NativeForm kRound[] = {
    {64, "__AVX512F__", "($T)_mm512_roundscale_$p((__m512$d)a, 8)"},
    {32, "__AVX__", "($T)_mm256_round_$p((__m256$d)a, 8)"},
    {16, "__SSE4_1__", "($T)_mm_round_$p((__m128$d)a, 8)"},
};
constexpr NativeForm kSqrt[] = {
    {64, "__AVX512F__", "($T)_mm512_sqrt_$p((__m512$d)a)"},
    {32, "__AVX__", "($T)_mm256_sqrt_$p((__m256$d)a)"},
    {16, "__SSE2__", "($T)_mm_sqrt_$p((__m128$d)a)"},
};
constexpr NativeForm kScalef[] = {
    {64, "__AVX512F__", "($T)_mm512_scalef_$p((__m512$d)a, (__m512$d)n)"},
    {32, "__AVX512VL__", "($T)_mm256_scalef_$p((__m256$d)a, (__m256$d)n)"},
    {16, "__AVX512VL__", "($T)_mm_scalef_$p((__m128$d)a, (__m128$d)n)"},
};
constexpr NativeForm kFromF16[] = {
    // the registers are those of the 16-bit operand
    {32, "__AVX512F__", "($R)_mm512_cvtph_ps((__m256i)a)"},
    {16, "__F16C__", "($R)_mm256_cvtph_ps((__m128i)a)"},
};
constexpr NativeForm kToF16[] = {
    {64, "__AVX512F__", "($R)_mm512_cvtps_ph((__m512)a, 8)"},
    {32, "__F16C__", "($R)_mm256_cvtps_ph((__m256)a, 8)"},
};
constexpr NativeForm kDotU8I8[] = {
    {64, "__AVX512VNNI__", "($T)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b)"},
};
constexpr NativeForm kDotBf16[] = {
    {64, "__AVX512BF16__", "($T)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b)"},
};
constexpr NativeForm kLoadMasked[] = {
    {64, "__AVX512F__",
     "($T)_mm512_maskz_loadu_epi$b(_mm512_test_epi$b_mask((__m512i)m, (__m512i)m), p)"},
    {32, "__AVX2__", "($T)_mm256_maskload_epi$b((const $c*)p, (__m256i)m)"},
    {16, "__AVX2__", "($T)_mm_maskload_epi$b((const $c*)p, (__m128i)m)"},
};
constexpr NativeForm kStoreMasked[] = {
    {64, "__AVX512F__",
     "_mm512_mask_storeu_epi$b(p, _mm512_test_epi$b_mask((__m512i)m, (__m512i)m), (__m512i)a)"},
    {32, "__AVX2__", "_mm256_maskstore_epi$b(($c*)p, (__m256i)m, (__m256i)a)"},
    {16, "__AVX2__", "_mm_maskstore_epi$b(($c*)p, (__m128i)m, (__m128i)a)"},
};

constexpr std::string_view kOne = "$T a";
constexpr std::string_view kTwo = "$T a, $T b";

constexpr Recipe kRecipes[] = {
    // Integers wrap: computed as unsigned.
    {"add", Domain::Integer, "$T", kTwo, "return ($T)(($U)a + ($U)b);",
     "return ($T)(($U)a + ($U)b);"},
    {"sub", Domain::Integer, "$T", kTwo, "return ($T)(($U)a - ($U)b);",
     "return ($T)(($U)a - ($U)b);"},
    {"mul", Domain::Integer, "$T", kTwo, "return ($T)(($U)a * ($U)b);",
     "return ($T)(($U)a * ($U)b);"},
    {"neg", Domain::Integer, "$T", kOne, "return ($T)(0 - ($U)a);", "return ($T)(0 - ($U)a);"},
    {"abs", Domain::Integer, "$T", kOne, "return a < 0 ? ($T)(0 - ($U)a) : a;",
     "return ($T)((($U)a ^ ($U)(a < 0)) - ($U)(a < 0));"},
    {"min", Domain::Integer, "$T", kTwo, "return b < a ? b : a;",
     "return @select:T(($I)(b < a), b, a);"},
    {"max", Domain::Integer, "$T", kTwo, "return b > a ? b : a;",
     "return @select:T(($I)(b > a), b, a);"},
    {"and", Domain::Any, "$T", kTwo, "return a & b;", "return a & b;"},
    {"or", Domain::Any, "$T", kTwo, "return a | b;", "return a | b;"},
    // Counts out of range occur only in inactive lanes.
    {"shl", Domain::Integer, "$T", kTwo, "return ($T)(($U)a << (b & $n));",
     "return ($T)(($U)a << (($U)b & $n));"},
    {"shr", Domain::Integer, "$T", kTwo, "return ($T)(a >> (b & $n));", "return a >> (b & $n);"},
    // Rounds toward minus infinity; the smallest number divided by -1 wraps.
    {"div", Domain::Integer, "$T", kTwo,
     R"(if (b == -1) return @neg:T(a);
  const $T quotient = ($T)(a / b);
  return ($T)(quotient - (a % b != 0 && (a < 0) != (b < 0)));)",
     ""},
    {"mod", Domain::Integer, "$T", kTwo,
     R"(if (b == -1) return 0;
  const $T remainder = ($T)(a % b);
  return ($T)(remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder);)",
     ""},
    {"divu", Domain::Integer, "$T", kTwo, "return ($T)(a / b);", ""},
    {"modu", Domain::Integer, "$T", kTwo, "return ($T)(a % b);", ""},

    {"eq", Domain::Any, "bool", kTwo, "return a == b;", ""},
    {"ne", Domain::Any, "bool", kTwo, "return a != b;", ""},
    {"lt", Domain::Any, "bool", kTwo, "return a < b;", ""},
    {"le", Domain::Any, "bool", kTwo, "return a <= b;", ""},
    {"gt", Domain::Any, "bool", kTwo, "return a > b;", ""},
    {"ge", Domain::Any, "bool", kTwo, "return a >= b;", ""},

    {"add", Domain::Float, "$T", kTwo, "return a + b;", "return a + b;"},
    {"mul", Domain::Float, "$T", kTwo, "return a * b;", "return a * b;"},
    // A NaN operand is the result; for equal operands the first.
    {"min", Domain::Float, "$T", kTwo, "return b != b || b < a ? b : a;",
     "return @select:T(($I)(b != b) | ($I)(b < a), b, a);"},
    {"max", Domain::Float, "$T", kTwo, "return b != b || b > a ? b : a;",
     "return @select:T(($I)(b != b) | ($I)(b > a), b, a);"},
    {"abs", Domain::Float, "$T", kOne, "return __builtin_fabs$f(a);",
     "return ($T)((($U)a << 1) >> 1);"},
    {"floor", Domain::Float, "$T", kOne, "return __builtin_floor$f(a);", "",
     "__builtin_elementwise_floor", kFloor},
    {"round", Domain::Float, "$T", kOne, "return __builtin_rint$f(a);", "",
     "__builtin_elementwise_rint", kRound},
    {"sqrt", Domain::Float, "$T", kOne, "return __builtin_sqrt$f(a);", "",
     "__builtin_elementwise_sqrt", kSqrt},
    {"fma", Domain::Float, "$T", "$T a, $T b, $T c", "return __builtin_fma$f(a, b, c);", "",
     "__builtin_elementwise_fma", kFma},
    // a * 2^n. In F64 the product is exact, so the one rounding is that to F32.
    {"ldexp", Domain::F32, "$T", "$T a, $T n",
     R"(const int64_t exponent = n >= 300 ? 300 : n > -300 ? (int64_t)n : -300;
  return (float)((double)a * @power_of_two:D(exponent));)",
     R"(const $T low = @select:T(($I)(n > -300), n, @splat:T(-300));
  const $T bounded = @select:T(($I)(low < 300), low, @splat:T(300));
  const $D power = @power_of_two:D(__builtin_convertvector(bounded, $L));
  return __builtin_convertvector(__builtin_convertvector(a, $D) * power, $T);)",
     "", kScalef},
    // Two factors if one is not representable; the first leaves the rounding to the second.
    {"ldexp", Domain::F64, "$T", "$T a, $T n",
     R"(const int64_t exponent = n >= 1100 ? 1100 : n > -1100 ? (int64_t)n : -1100;
  const int64_t first = exponent > 1023 ? 1023 : exponent < -1022 ? -969 : 0;
  return a * @power_of_two:T(first) * @power_of_two:T(exponent - first);)",
     "", "", kScalef},
    {"power_of_two", Domain::F64, "$T", "$L n", "return @bits:UD(((uint64_t)n + 1023) << 52);",
     "return ($T)((($U)n + 1023) << 52);"},
    // Dot products of the factors in a word, as defined by ir::Dot.
    {"dot_u8i8", Domain::Integer, "$T", "$T sum, $U a, $U b",
     R"($U r = ($U)sum;
  for (int k = 0; k < 32; k += 8) r += ($U)((uint8_t)(a >> k) * (int8_t)(b >> k));
  return ($T)r;)",
     "", "", kDotU8I8},
    {"dot_bf16", Domain::F32, "$T", "$T sum, $U a, $U b",
     R"($T r = @flush:T(sum);
  for (int k = 0; k <= 16; k += 16) {
    const $T x = @flush:T(@bits:KF(a << k & 0xffff0000u));
    const $T y = @flush:T(@bits:KF(b << k & 0xffff0000u));
    r = @flush:T(@fma:T(x, y, r));
  }
  return r;)",
     "", "", kDotBf16},
    {"flush", Domain::F32, "$T", kOne,  // denormals
     "return __builtin_fabsf(a) < 0x1p-126f ? __builtin_copysignf(0.0f, a) : a;", ""},

    {"splat", Domain::Any, "$T", "$E a", "return a;", "return ($T){$1};"},
    {"select", Domain::Any, "$T", "$I m, $T a, $T b", "return m ? a : b;",
     "return ($T)((($I)a & m) | (($I)b & ~m));"},
    {"load", Domain::Any, "$T", "const void* p", "", "return *(const $A*)p;"},
    {"store", Domain::Any, "void", "void* p, $T a", "", "*($A*)p = a;"},
    {"load_masked", Domain::Any, "$T", "const void* p, $I m", "",
     R"($T r = {0};
  for (int k = 0; k < $N; ++k) {
    if (m[k]) r[k] = ((const $B*)p)[k];
  }
  return r;)",
     "", kLoadMasked, 4},
    {"store_masked", Domain::Any, "void", "void* p, $I m, $T a", "",
     R"(for (int k = 0; k < $N; ++k) {
    if (m[k]) (($B*)p)[k] = a[k];
  })",
     "", kStoreMasked, 4},

    {"reduce_add", Domain::Any, "$E", kOne, "return a;", "return @reduce_add:H(@add:H($l, $h));"},
    {"reduce_mul", Domain::Any, "$E", kOne, "return a;", "return @reduce_mul:H(@mul:H($l, $h));"},
    {"reduce_min", Domain::Any, "$E", kOne, "return a;", "return @reduce_min:H(@min:H($l, $h));"},
    {"reduce_max", Domain::Any, "$E", kOne, "return a;", "return @reduce_max:H(@max:H($l, $h));"},
    {"reduce_and", Domain::Any, "$E", kOne, "return a;", "return @reduce_and:H(@and:H($l, $h));"},
    {"reduce_or", Domain::Any, "$E", kOne, "return a;", "return @reduce_or:H(@or:H($l, $h));"},

    // Float to integer toward zero; NaN gives 0, out of range saturates.
    {"saturate", Domain::Float, "$R", kOne,
     "return a >= $+ ? ($R)$M : a > $- ? ($R)a : a <= $- ? ($R)$m : 0;",
     R"(const $I inside = ($I)(a > $-) & ($I)(a < $+);
  const $T safe = ($T)(($I)a & inside);
  const $V high = ($V)__builtin_convertvector(($I)(a >= $+), $J) & $M;
  const $V low = ($V)__builtin_convertvector(($I)(a <= $-), $J) & $m;
  return ($R)(($V)__builtin_convertvector(safe, $R) | high | low);)"},
    {"bits", Domain::Any, "$R", kOne, "$R r;\n  __builtin_memcpy(&r, &a, sizeof r);\n  return r;",
     "return ($R)a;"},

    // The storage types, as defined by ir/type.h.
    {"from_f16", Domain::Integer, "$R", kOne,
     R"(#ifdef __F16C__
  return _cvtsh_ss(a);
#else
  const uint32_t sign = (uint32_t)(a & 0x8000u) << 16;
  const uint32_t exponent = (a >> 10) & 0x1fu;
  const uint32_t fraction = a & 0x3ffu;
  if (exponent == 0) return @bits:KF(sign | @bits:FK((float)fraction * 0x1p-24f));
  const uint32_t wide = exponent == 0x1fu ? 0xffu : exponent + 112u;
  return @bits:KF(sign | (wide << 23) | (fraction << 13));
#endif)",
     "", "", kFromF16},
    {"to_f16", Domain::F32, "$R", kOne,
     R"(#ifdef __F16C__
  return _cvtss_sh(a, 8);
#else
  const uint32_t bits = @bits:FK(a);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    return (uint16_t)(sign | (uint32_t)__builtin_rintf(@bits:KF(magnitude) * 0x1p24f));
  }
  const uint32_t rebased = magnitude - (112u << 23);
  return (uint16_t)(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
#endif)",
     "", "", kToF16},
    {"from_bf16", Domain::Integer, "$R", kOne, "return @bits:KF((uint32_t)a << 16);",
     "return ($R)(__builtin_convertvector(a, $K) << 16);"},
    {"to_bf16", Domain::F32, "$R", kOne,
     R"(const uint32_t bits = @bits:FK(a);
  return (uint16_t)((a != a ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);)",
     R"(const $U bits = ($U)a;
  const $U rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const $U kept = @select:U(($I)(a != a), bits | 0x400000u, rounded);
  return __builtin_convertvector(kept >> 16, $R);)"},
    // F64 to F32 with round-to-odd: rounding it again equals a single rounding.
    {"to_odd", Domain::F64, "$R", kOne,
     R"(const float nearest = (float)a;
  if (nearest == a || a != a) return nearest;
  const uint32_t away = __builtin_fabs((double)nearest) > __builtin_fabs(a);
  return @bits:KF((@bits:FK(nearest) - away) | 1u);)",
     ""},
    // I64 to F64 such that rounding it again equals a single rounding.
    {"to_near", Domain::Integer, "$R", kOne,
     R"(const int64_t limit = (int64_t)1 << 53;
  if (a > -limit && a < limit) return (double)a;
  return (double)((a & ~(int64_t)0x7ff) | ((a & 0x7ff) != 0 ? 0x400 : 0));)",
     ""},
};

bool matches(Domain domain, CBase base) {
  switch (domain) {
    case Domain::Any:
      return true;
    case Domain::Integer:
      return !is_float(base);
    case Domain::Float:
      return is_float(base);
    case Domain::F32:
      return base == CBase::F32;
    case Domain::F64:
      return base == CBase::F64;
  }
  return false;
}

}  // namespace

const Recipe& find_recipe(std::string_view name, CBase base) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.name == name && matches(recipe.domain, base)) return recipe;
  }
  CHECK(false, "no helper `{}` for {}", name, suffix_of({base, 1}));
}

}  // namespace tilewright::codegen
