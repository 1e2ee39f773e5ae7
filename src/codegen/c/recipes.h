// The table of helper functions: C text for a scalar and for a vector, with placeholders for types.
// Internal to this folder; helpers.h instantiates it.
//
//   $T  the requested type, of $N lanes        $R  the second one, of the same lanes
//   $E  $T's element                           $A, $B  $T and $E in memory: unaligned, may alias
//   $I  the signed integer of $T's size        $J  that of $R's
//   $U  the unsigned one; of a scalar it has   $V  that of $R's
//       32 bits at least, so that nothing is
//       promoted to a signed type
//   $D, $F, $K, $L  f64, f32, u32, i64 of $T's lanes
//   $H  $T with half the lanes                 $l, $h  the lower and the upper half of `a`
//   $1  `a` for each lane                      $f  suffix of builtins: f for F32, else nothing
//   $p  ps or pd                               $d  nothing or d, as in __m512d
//   $b  bits of an element                     $n  $b - 1
//   $c  the scalar that masked moves of AVX2 point to
//   $+, $-  bounds of $R as constants of $T: values outside saturate
//   $M, $m  the largest and the smallest $R, as bits
//   @name:X, @name:XY  the helper `name` with $T (and $R) as the letters say
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "codegen/c/c_type.h"

namespace tilewright::codegen {

// An expression for vectors $T of the size of one register, used if the compiler defines `macro`.
struct NativeForm {
  int register_bytes = 0;
  std::string_view macro;
  std::string_view expression;
};

enum class Domain : uint8_t { Any, Integer, Float, F32, F64 };

struct Recipe {
  std::string_view name;
  Domain domain = Domain::Any;  // of $T
  std::string_view result;
  std::string_view parameters;
  std::string_view scalar;            // body
  std::string_view vector;            // body; empty: lane by lane, as for the scalar
  std::string_view elementwise = {};  // a builtin of newer compilers that accepts every type
  std::span<const NativeForm> native = {};
  int native_element_bytes = 0;  // the smallest element that `native` supports
};

const Recipe& find_recipe(std::string_view name, CBase base);

}  // namespace tilewright::codegen
