#include "codegen/llvm/arithmetic.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace tilewright::codegen {

using ir::BinaryOp;
using ir::Scalar;

Value Arithmetic::combine(BinaryOp op, Scalar type, Value a, Value b, bool b_is_number) {
  const bool is_float = ir::is_float(type);
  switch (op) {
    case BinaryOp::Add:
      return is_float ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
    case BinaryOp::Sub:
      return is_float ? builder_.CreateFSub(a, b) : builder_.CreateSub(a, b);
    case BinaryOp::Mul:
      return is_float ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    case BinaryOp::Div:
      return builder_.CreateFDiv(a, b);
    case BinaryOp::Mod:
      return nullptr;
    case BinaryOp::Min:
    case BinaryOp::Max:
      return min_max(op, type, a, b, b_is_number);
    case BinaryOp::Eq:
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return compare(op, type, a, b);
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return builder_.CreateAnd(a, b);
    case BinaryOp::Or:
    case BinaryOp::BitOr:
      return builder_.CreateOr(a, b);
    case BinaryOp::BitXor:
      return builder_.CreateXor(a, b);
    case BinaryOp::ShiftLeft:
      return builder_.CreateShl(a, b);
    case BinaryOp::ShiftRight:
      return ir::is_signed(type) ? builder_.CreateAShr(a, b) : builder_.CreateLShr(a, b);
  }
  return nullptr;
}

Value Arithmetic::compare(BinaryOp op, Scalar type, Value a, Value b) {
  using P = llvm::CmpInst::Predicate;
  const auto pick = [&](P floats, P signeds, P unsigneds) {
    if (ir::is_float(type)) return builder_.CreateFCmp(floats, a, b);
    return builder_.CreateICmp(ir::is_signed(type) ? signeds : unsigneds, a, b);
  };
  switch (op) {
    case BinaryOp::Eq:
      return pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case BinaryOp::Ne:
      return pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
    case BinaryOp::Lt:
      return pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
    case BinaryOp::Le:
      return pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case BinaryOp::Gt:
      return pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
    default:
      return pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
  }
}

// On floats: max(a, b) = b is NaN ? b : b > a ? b : a. The inner Select is one vmaxps, which
// returns its second operand if either is NaN or both are zeros; so equal operands give `a`. If b
// is known to be a number, that is all: relu is one instruction.
Value Arithmetic::min_max(BinaryOp op, Scalar type, Value a, Value b, bool b_is_number) {
  const bool is_max = op == BinaryOp::Max;
  if (!ir::is_float(type)) {
    const bool is_signed = ir::is_signed(type);
    const llvm::Intrinsic::ID id = is_signed
                                       ? (is_max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin)
                                       : (is_max ? llvm::Intrinsic::umax : llvm::Intrinsic::umin);
    return builder_.CreateBinaryIntrinsic(id, a, b);
  }
  Value closer = is_max ? builder_.CreateFCmpOGT(b, a) : builder_.CreateFCmpOLT(b, a);
  Value result = builder_.CreateSelect(closer, b, a);
  if (b_is_number) return result;
  return builder_.CreateSelect(builder_.CreateFCmpUNO(b, b), b, result);
}

Value Arithmetic::divide_by_power(BinaryOp op, Scalar scalar, Value a, const int64_t* divisor) {
  if (divisor == nullptr || *divisor <= 0 ||
      !std::has_single_bit(static_cast<uint64_t>(*divisor))) {
    return nullptr;
  }
  llvm::Type* type = a->getType();
  if (op == BinaryOp::Mod) return builder_.CreateAnd(a, integer(type, *divisor - 1));
  Value shift = integer(type, std::countr_zero(static_cast<uint64_t>(*divisor)));
  return ir::is_signed(scalar) ? builder_.CreateAShr(a, shift) : builder_.CreateLShr(a, shift);
}

// Integer / and %, rounding toward minus infinity. Inactive lanes divide by 1. The hardware also
// faults on minimum / -1, which wraps here: x / -1 = 0 - x, x % -1 = 0.
Value Arithmetic::divide(BinaryOp op, Scalar scalar, Value a, Value b, const int64_t* constant,
                         Value mask) {
  const bool is_div = op == BinaryOp::Div;
  const bool is_signed = ir::is_signed(scalar);
  llvm::Type* type = a->getType();
  Value one = integer(type, 1);
  const bool is_safe = constant != nullptr && *constant != 0 && *constant != -1;
  const bool may_be_zero = constant == nullptr || *constant == 0;
  if (may_be_zero && mask != nullptr) b = builder_.CreateSelect(mask, b, one);
  if (!is_signed) return is_div ? builder_.CreateUDiv(a, b) : builder_.CreateURem(a, b);

  Value zero = integer(type, 0);
  Value is_minus_one = is_safe ? nullptr : builder_.CreateICmpEQ(b, integer(type, -1));
  Value divisor = is_safe ? b : builder_.CreateSelect(is_minus_one, one, b);
  Value quotient = builder_.CreateSDiv(a, divisor);
  Value remainder = builder_.CreateSub(a, builder_.CreateMul(quotient, divisor));
  Value inexact = builder_.CreateICmpNE(remainder, zero);
  Value opposite = builder_.CreateICmpSLT(builder_.CreateXor(remainder, divisor), zero);
  Value down = builder_.CreateAnd(inexact, opposite);
  Value result =
      is_div ? builder_.CreateSub(quotient, builder_.CreateZExt(down, type))
             : builder_.CreateSelect(down, builder_.CreateAdd(remainder, divisor), remainder);
  if (is_safe) return result;
  return builder_.CreateSelect(is_minus_one, is_div ? builder_.CreateSub(zero, a) : zero, result);
}

Value Arithmetic::ldexp(Scalar type, Value x, Value n) {
  if (target_.has(Feature::Avx512f)) return scalef(type, x, n);
  return type == Scalar::F32 ? ldexp_f32(x, n) : ldexp_f64(x, n);
}

// vscalefps and similar, per register; partial vectors are padded. It rounds once, keeps denormals
// and overflows to infinity, as Ldexp requires.
Value Arithmetic::scalef(Scalar type, Value x, Value n) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const int lanes = vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
  if (vector == nullptr) {
    Value wide_x = builder_.CreateVectorSplat(1, x);
    Value wide_n = builder_.CreateVectorSplat(1, n);
    return builder_.CreateExtractElement(scalef(type, wide_x, wide_n), uint64_t{0});
  }
  const bool f32 = type == Scalar::F32;
  const int fullest = f32 ? 16 : 8;
  if (lanes > fullest) {
    Value result = llvm::PoisonValue::get(vector);
    for (int first = 0; first < lanes; first += fullest) {
      const int size = std::min(fullest, lanes - first);
      std::vector<int> picked(static_cast<size_t>(size));
      for (int k = 0; k < size; ++k) picked[static_cast<size_t>(k)] = first + k;
      Value piece = scalef(type, builder_.CreateShuffleVector(x, picked),
                           builder_.CreateShuffleVector(n, picked));
      std::vector<int> widened(static_cast<size_t>(lanes), -1);
      std::vector<int> merged(static_cast<size_t>(lanes));
      for (int k = 0; k < lanes; ++k) {
        const bool here = k >= first && k < first + size;
        if (here) widened[static_cast<size_t>(k)] = k - first;
        merged[static_cast<size_t>(k)] = here ? lanes + k : k;
      }
      result = builder_.CreateShuffleVector(result, builder_.CreateShuffleVector(piece, widened),
                                            merged);
    }
    return result;
  }
  const int smallest = (target_.has(Feature::Avx512vl) ? 128 : 512) / (f32 ? 32 : 64);
  const int padded =
      std::max(smallest, static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes))));
  std::vector<int> pad(static_cast<size_t>(padded));
  for (int k = 0; k < padded; ++k) pad[static_cast<size_t>(k)] = std::min(k, lanes - 1);
  Value wide_x = builder_.CreateShuffleVector(x, pad);
  Value wide_n = builder_.CreateShuffleVector(n, pad);
  const int bits = padded * (f32 ? 32 : 64);
  llvm::Intrinsic::ID id = 0;
  if (bits == 512) {
    id = f32 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
             : llvm::Intrinsic::x86_avx512_mask_scalef_pd_512;
  } else if (bits == 256) {
    id = f32 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256
             : llvm::Intrinsic::x86_avx512_mask_scalef_pd_256;
  } else {
    id = f32 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_128
             : llvm::Intrinsic::x86_avx512_mask_scalef_pd_128;
  }
  Value all = padded > 8 ? llvm::cast<llvm::Value>(builder_.getInt16(0xffff))
                         : llvm::cast<llvm::Value>(builder_.getInt8(0xff));
  std::vector<Value> operands = {wide_x, wide_n, llvm::Constant::getNullValue(wide_x->getType()),
                                 all};
  constexpr int kCurrentRounding = 4;
  if (bits == 512) operands.push_back(builder_.getInt32(kCurrentRounding));
  Value wide = builder_.CreateIntrinsic(id, {}, operands);
  std::vector<int> kept(static_cast<size_t>(lanes));
  for (int k = 0; k < lanes; ++k) kept[static_cast<size_t>(k)] = k;
  return lanes == padded ? wide : builder_.CreateShuffleVector(wide, kept);
}

// In F64 the product is exact, so the only rounding is that to F32. |n| beyond 300 changes nothing.
Value Arithmetic::ldexp_f32(Value x, Value n) {
  llvm::Type* f64 = types_.same_lanes(builder_.getDoubleTy(), x);
  llvm::Type* i64 = types_.same_lanes(builder_.getInt64Ty(), x);
  llvm::Type* i32 = types_.same_lanes(builder_.getInt32Ty(), x);
  Value exponent = builder_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {i32, n->getType()}, {n});
  exponent = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, exponent, integer(i32, 300));
  exponent = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, exponent, integer(i32, -300));
  Value biased = builder_.CreateZExt(builder_.CreateAdd(exponent, integer(i32, 1023)), i64);
  Value power = builder_.CreateBitCast(builder_.CreateShl(biased, integer(i64, 52)), f64);
  Value product = builder_.CreateFMul(builder_.CreateFPExt(x, f64), power);
  return builder_.CreateFPTrunc(product, x->getType());
}

// Two factors if a power of two is not representable: 2^1023 first when scaling up; when scaling
// down 2^-969, which leaves at least 53 bits to the second, so that only it rounds.
Value Arithmetic::ldexp_f64(Value x, Value n) {
  llvm::Type* i64 = types_.same_lanes(builder_.getInt64Ty(), x);
  Value exponent = builder_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {i64, n->getType()}, {n});
  Value up = builder_.CreateICmpSGT(exponent, integer(i64, 1023));
  Value down = builder_.CreateICmpSLT(exponent, integer(i64, -1022));
  Value first = builder_.CreateSelect(
      up, integer(i64, 1023), builder_.CreateSelect(down, integer(i64, -969), integer(i64, 0)));
  const auto power = [&](Value k) {
    Value biased = builder_.CreateAdd(k, integer(i64, 1023));
    return builder_.CreateBitCast(builder_.CreateShl(biased, integer(i64, 52)), x->getType());
  };
  Value partial = builder_.CreateFMul(x, power(first));
  return builder_.CreateFMul(partial, power(builder_.CreateSub(exponent, first)));
}

// Min and max of floats test for NaN once instead of at each step.
Value Arithmetic::fold_lanes(BinaryOp op, Scalar type, Value lanes, int count) {
  const bool may_be_nan = ir::is_float(type) && (op == BinaryOp::Min || op == BinaryOp::Max);
  if (!may_be_nan || count <= 2) return fold_by_halves(op, type, lanes, count, false);
  Value any_nan = builder_.CreateOrReduce(builder_.CreateFCmpUNO(lanes, lanes));
  Value folded = fold_by_halves(op, type, lanes, count, true);
  return builder_.CreateSelect(any_nan, llvm::ConstantFP::getNaN(folded->getType()), folded);
}

Value Arithmetic::fold_by_halves(BinaryOp op, Scalar type, Value lanes, int count,
                                 bool are_numbers) {
  const auto part = [&](int first, int size) {
    std::vector<int> picked(static_cast<size_t>(size));
    std::iota(picked.begin(), picked.end(), first);
    return builder_.CreateShuffleVector(lanes, picked);
  };
  // Sums of integers may be reordered. LLVM mistakes narrowing halves of byte products for sums
  // that its dot products have already formed, and drops the rest; it handles its own reduction
  // intrinsic correctly.
  const bool sum = op == ir::BinaryOp::Add && ir::is_integer(type);
  while (count > 1) {
    if (sum && std::has_single_bit(static_cast<unsigned>(count))) {
      return builder_.CreateAddReduce(lanes);
    }
    const auto half = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
    const int pairs = count - half;
    Value low = part(0, half);
    if (pairs == half) {
      lanes = combine(op, type, low, part(half, half), are_numbers);
    } else {
      Value folded = combine(op, type, part(0, pairs), part(half, pairs), are_numbers);
      std::vector<int> widened(static_cast<size_t>(half), -1);
      std::vector<int> merged(static_cast<size_t>(half));
      for (int k = 0; k < half; ++k) {
        if (k < pairs) widened[static_cast<size_t>(k)] = k;
        merged[static_cast<size_t>(k)] = k < pairs ? k : half + k;
      }
      lanes =
          builder_.CreateShuffleVector(builder_.CreateShuffleVector(folded, widened), low, merged);
    }
    count = half;
  }
  return builder_.CreateExtractElement(lanes, uint64_t{0});
}

}  // namespace tilewright::codegen
