// Casts, by the rules of ir/type.h. No conversion may become a library call: F16 uses the
// instructions of F16C, BF16 integer arithmetic, and F64 is converted to both through F32.
#include "codegen/llvm/casts.h"

#include <llvm/IR/Intrinsics.h>

namespace tilewright::codegen {

using ir::Scalar;

Value Casts::cast(Value value, ir::Type from, Scalar to) {
  if (from.scalar == to) return value;
  llvm::Type* type = types_.value_type({to, from.lanes});
  if (ir::is_float(from)) {
    value = float_to_f32_or_f64(value, from.scalar, from.lanes);
    const Scalar wide = from.scalar == Scalar::F64 ? Scalar::F64 : Scalar::F32;
    if (ir::is_float(to)) return narrow_float(value, wide, to);
    if (to == Scalar::Bool) {
      return builder_.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
    }
    const llvm::Intrinsic::ID id =
        ir::is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return builder_.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  if (ir::is_float(to)) return integer_to_float(value, from, to);
  if (to == Scalar::Bool) return builder_.CreateIsNotNull(value);
  return ir::is_signed(from.scalar) ? builder_.CreateSExtOrTrunc(value, type)
                                    : builder_.CreateZExtOrTrunc(value, type);
}

// The value of a float of any type, as F64 or F32: exact.
Value Casts::float_to_f32_or_f64(Value value, Scalar from, unsigned lanes) {
  llvm::Type* f32 = types_.value_type({Scalar::F32, static_cast<uint16_t>(lanes)});
  if (from == Scalar::F16) {
    llvm::Type* half = types_.same_lanes(builder_.getHalfTy(), value);
    return builder_.CreateFPExt(builder_.CreateBitCast(value, half), f32);
  }
  if (from == Scalar::BF16) {
    llvm::Type* i32 = types_.same_lanes(builder_.getInt32Ty(), value);
    Value bits = builder_.CreateShl(builder_.CreateZExt(value, i32), integer(i32, 16));
    return builder_.CreateBitCast(bits, f32);
  }
  return value;
}

Value Casts::integer_to_float(Value value, ir::Type from, Scalar to) {
  const auto convert = [&](llvm::Type* type) {
    return ir::is_signed(from.scalar) ? builder_.CreateSIToFP(value, type)
                                      : builder_.CreateUIToFP(value, type);
  };
  llvm::Type* f64 = types_.same_lanes(builder_.getDoubleTy(), value);
  llvm::Type* f32 = types_.same_lanes(builder_.getFloatTy(), value);
  if (to == Scalar::F64) return convert(f64);
  if (to == Scalar::F32) return convert(f32);
  const bool exact_in_f32 = ir::bytes_of(from.scalar) <= 2;
  if (exact_in_f32) return narrow_float(convert(f32), Scalar::F32, to);
  if (from.scalar == Scalar::I64) {
    // A double would round integers beyond 2^53 before the actual rounding: their low bits are
    // replaced by a sticky bit.
    llvm::Type* i64 = value->getType();
    Value shifted = builder_.CreateAdd(value, integer(i64, int64_t{1} << 53));
    Value small = builder_.CreateICmpULT(shifted, integer(i64, int64_t{1} << 54));
    Value low = builder_.CreateAnd(value, integer(i64, 0x7ff));
    Value sticky =
        builder_.CreateSelect(builder_.CreateIsNotNull(low), integer(i64, 0x400), integer(i64, 0));
    Value blurred =
        builder_.CreateOr(builder_.CreateAnd(value, integer(i64, ~int64_t{0x7ff})), sticky);
    value = builder_.CreateSelect(small, value, blurred);
  }
  return narrow_float(convert(f64), Scalar::F64, to);
}

// F32 or F64 -> any float type, rounded once.
Value Casts::narrow_float(Value value, Scalar from, Scalar to) {
  if (from == to) return value;
  if (to == Scalar::F64)
    return builder_.CreateFPExt(value, types_.same_lanes(builder_.getDoubleTy(), value));
  if (to == Scalar::F32)
    return builder_.CreateFPTrunc(value, types_.same_lanes(builder_.getFloatTy(), value));
  if (from == Scalar::F64) value = f32_rounded_to_odd(value);
  if (to == Scalar::F16) {
    Value half = builder_.CreateFPTrunc(value, types_.same_lanes(builder_.getHalfTy(), value));
    return builder_.CreateBitCast(half, types_.same_lanes(builder_.getInt16Ty(), value));
  }
  // BF16: the upper half of the F32, rounded to nearest even; a NaN is quieted instead.
  llvm::Type* i32 = types_.same_lanes(builder_.getInt32Ty(), value);
  Value bits = builder_.CreateBitCast(value, i32);
  Value upper = builder_.CreateLShr(bits, integer(i32, 16));
  Value odd = builder_.CreateAnd(upper, integer(i32, 1));
  Value rounded = builder_.CreateAdd(builder_.CreateAdd(bits, integer(i32, 0x7fff)), odd);
  Value quiet = builder_.CreateOr(bits, integer(i32, 0x400000));
  Value result = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), quiet, rounded);
  return builder_.CreateTrunc(builder_.CreateLShr(result, integer(i32, 16)),
                              types_.same_lanes(builder_.getInt16Ty(), value));
}

// F64 -> F32 with round-to-odd, so that rounding it again to fewer bits equals a single rounding
// (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
Value Casts::f32_rounded_to_odd(Value f64) {
  llvm::Type* f32 = types_.same_lanes(builder_.getFloatTy(), f64);
  llvm::Type* i32 = types_.same_lanes(builder_.getInt32Ty(), f64);
  Value nearest = builder_.CreateFPTrunc(f64, f32);
  Value back = builder_.CreateFPExt(nearest, f64->getType());
  Value bits = builder_.CreateBitCast(nearest, i32);
  Value inexact = builder_.CreateFCmpONE(back, f64);
  Value away = builder_.CreateFCmpOGT(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                      builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, f64));
  Value toward_zero = builder_.CreateSub(bits, builder_.CreateZExt(away, i32));
  Value odd = builder_.CreateOr(toward_zero, integer(i32, 1));
  return builder_.CreateBitCast(builder_.CreateSelect(inexact, odd, bits), f32);
}

Value Casts::from_memory(Value value, ir::Type type) {
  return ir::is_bool(type) ? builder_.CreateIsNotNull(value) : value;
}

Value Casts::to_memory(Value value, ir::Type type) {
  return ir::is_bool(type) ? builder_.CreateZExt(value, types_.memory_type(type)) : value;
}

}  // namespace tilewright::codegen
