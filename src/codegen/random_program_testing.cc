#include "codegen/random_program_testing.h"

#include <iterator>
#include <string>
#include <utility>

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)

constexpr Scalar kTypes[] = {Scalar::Bool, Scalar::I8,  Scalar::I16, Scalar::I32,
                             Scalar::I64,  Scalar::U8,  Scalar::F16, Scalar::BF16,
                             Scalar::F32,  Scalar::F64, Scalar::U16, Scalar::U32};
constexpr int64_t kElements = 96;

// Generates expressions of a given type over one input buffer of each type and a loop variable.
class Grower {
 public:
  explicit Grower(Rng& rng) : rng_(rng) {}

  Function program() {
    Function f{
        .name = "random", .buffers = {}, .arguments = {}, .argument_written = {}, .body = {}};
    const Scalar result = kTypes[rng_.below(std::size(kTypes))];
    for (Scalar type : kTypes) f.buffers.push_back(buffer(std::string(name_of(type)), type));
    f.buffers.push_back(buffer("out", result));
    for (BufferId id = 0; id < f.buffers.size(); ++id) f.arguments.push_back(id);
    f.argument_written.assign(f.buffers.size(), false);
    f.argument_written.back() = true;

    constexpr unsigned kLanes[] = {1, 2, 3, 4, 8, 12, 16, 32};
    lanes_ = kLanes[rng_.below(std::size(kLanes))];
    index_ = var("k");
    at_ = ramp(index_ * int64_t{lanes_}, 1, lanes_);
    const auto out = static_cast<BufferId>(f.buffers.size() - 1);
    const Stmt store = make_store(out, {at_}, grow({result, static_cast<uint16_t>(lanes_)}, 5));
    f.body = make_for(index_, int_imm(kElements / lanes_),
                      rng_.chance(0.3) ? ForKind::Parallel : ForKind::Serial, store);
    return f;
  }

 private:
  static Buffer buffer(std::string name, Scalar type) {
    return {.name = std::move(name), .element = {type, 1}, .shape = {kElements}};
  }
  Expr child(Type type, int depth) { return grow(type, depth - 1); }

  Expr leaf(Type type) {
    const auto id = static_cast<BufferId>(type.scalar);
    const Expr scalar_at = rng_.chance(0.5) ? index_ : int_imm(rng_.between(0, kElements - 1));
    switch (rng_.below(4)) {
      case 0:
        return imm(static_cast<double>(rng_.between(-4, 4)), type);
      case 1:
        return broadcast(load(type.scalar, id, {scalar_at}), type.lanes);
      case 2:
        if (type.lanes <= 32) {
          return load(type.scalar, id,
                      {ramp(int_imm(rng_.between(0, 2)), rng_.between(0, 2), type.lanes)});
        }
        [[fallthrough]];
      default:
        return type.lanes == lanes_ ? load(type.scalar, id, {at_})
                                    : broadcast(load(type.scalar, id, {scalar_at}), type.lanes);
    }
  }

  Expr grow(Type type, int depth) {
    if (depth == 0 || rng_.chance(0.1)) return leaf(type);
    const bool storage = type.scalar == Scalar::F16 || type.scalar == Scalar::BF16;
    const uint64_t choice = rng_.below(10);
    if (choice == 0 && type.is_vector()) {
      return broadcast(child(type.element(), depth), type.lanes);
    }
    if (choice == 1) {
      return select(child(kBool.with_lanes(type.lanes), depth), child(type, depth),
                    child(type, depth));
    }
    if (choice == 2 && type.is_vector() && type.lanes == lanes_) {
      // Lanes outside the buffer are inactive.
      const Expr shifted = at_ + int_imm(rng_.between(-8, 8), at_.type());
      const Expr inside = shifted >= 0 && shifted < kElements;
      return select(inside, load(type.scalar, static_cast<BufferId>(type.scalar), {shifted}),
                    child(type, depth));
    }
    if (choice <= 4 || storage) {
      const Scalar from = kTypes[rng_.below(std::size(kTypes))];
      return cast(type.scalar, child({from, type.lanes}, depth));
    }
    if (is_bool(type)) return grow_bool(type, depth);
    if (is_float(type)) return grow_float(type, depth);
    return grow_integer(type, depth);
  }

  Expr grow_bool(Type type, int depth) {
    constexpr Scalar kCompared[] = {Scalar::I8,  Scalar::U8,  Scalar::I32, Scalar::I64,
                                    Scalar::F32, Scalar::F64, Scalar::U16, Scalar::U32};
    if (rng_.chance(0.2)) return call(Intrinsic::Not, {child(type, depth)});
    if (rng_.chance(0.3)) {
      const BinaryOp op = rng_.chance(0.5) ? BinaryOp::And : BinaryOp::Or;
      return binary(op, child(type, depth), child(type, depth));
    }
    const Type operands{kCompared[rng_.below(std::size(kCompared))], type.lanes};
    constexpr BinaryOp kOps[] = {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt,
                                 BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge};
    return binary(kOps[rng_.below(std::size(kOps))], child(operands, depth),
                  child(operands, depth));
  }

  Expr grow_float(Type type, int depth) {
    constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul,
                                 BinaryOp::Div, BinaryOp::Min, BinaryOp::Max};
    constexpr Intrinsic kCalls[] = {Intrinsic::Neg, Intrinsic::Abs, Intrinsic::Floor,
                                    Intrinsic::Round, Intrinsic::Sqrt};
    switch (rng_.below(5)) {
      case 0:
        return fma(child(type, depth), child(type, depth), child(type, depth));
      case 1:
        return call(kCalls[rng_.below(std::size(kCalls))], {child(type, depth)});
      case 2: {
        if (rng_.chance(0.5) && type.lanes == 1) {
          return vector_reduce(kOps[rng_.chance(0.5) ? 0 : 5], child(type.with_lanes(8), depth));
        }
        const Expr n = cast(type.scalar, child({Scalar::I8, type.lanes}, depth));
        return call(Intrinsic::Ldexp, {child(type, depth), n});
      }
      default: {
        const BinaryOp op = kOps[rng_.below(std::size(kOps))];
        const Expr a = child(type, depth);
        return binary(op, a, rng_.chance(0.1) ? a : child(type, depth));
      }
    }
  }

  Expr grow_integer(Type type, int depth) {
    constexpr BinaryOp kOps[] = {BinaryOp::Add,   BinaryOp::Sub,   BinaryOp::Mul,
                                 BinaryOp::Min,   BinaryOp::Max,   BinaryOp::BitAnd,
                                 BinaryOp::BitOr, BinaryOp::BitXor};
    const uint64_t choice = rng_.below(8);
    const Expr a = child(type, depth);
    if (choice == 0) return call(rng_.chance(0.5) ? Intrinsic::Neg : Intrinsic::Abs, {a});
    if (choice == 1) {
      const BinaryOp op = rng_.chance(0.5) ? BinaryOp::ShiftLeft : BinaryOp::ShiftRight;
      return binary(op, a, int_imm(rng_.between(0, 8 * bytes_of(type.scalar) - 1), type));
    }
    if (choice <= 3) {
      const BinaryOp op = rng_.chance(0.5) ? BinaryOp::Div : BinaryOp::Mod;
      if (rng_.chance(0.5)) return binary(op, a, int_imm(rng_.between(1, 20), type));
      const Expr b = child(type, depth);
      const Expr zero = int_imm(0, type);
      return select(binary(BinaryOp::Eq, b, zero), a, binary(op, a, b));
    }
    return binary(kOps[rng_.below(std::size(kOps))], a, child(type, depth));
  }

  Rng& rng_;
  unsigned lanes_ = 1;
  Expr index_;
  Expr at_;
};

Bytes random_bytes(Rng& rng, Scalar type) {
  Bytes bytes(static_cast<size_t>(kElements * bytes_of(type)));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.next());
  if (type == Scalar::Bool) {
    for (uint8_t& byte : bytes) byte &= 1;
  }
  // Mostly ordinary floats; for some, random bits (NaN, denormals, huge).
  for (int64_t k = 0; k < kElements && (type == Scalar::F32 || type == Scalar::F64); ++k) {
    if (rng.chance(0.2)) continue;
    const double value = (rng.uniform() - 0.5) * 100;
    const auto narrow = static_cast<float>(value);
    if (type == Scalar::F32) std::memcpy(bytes.data() + k * 4, &narrow, 4);
    if (type == Scalar::F64) std::memcpy(bytes.data() + k * 8, &value, 8);
  }
  return bytes;
}

// Every fourth float. They end in zeros, so that no rounding to BF16 makes a normal number of them.
void make_some_denormal(Rng& rng, Scalar type, Bytes& bytes) {
  for (int64_t k = 0; k < kElements && (type == Scalar::F32 || type == Scalar::F64); ++k) {
    if (!rng.chance(0.25)) continue;
    const double sign = rng.chance(0.5) ? -1 : 1;
    const double value = sign * ir::min_normal(type) / static_cast<double>(2 << rng.below(6));
    const auto narrow = static_cast<float>(value);
    if (type == Scalar::F32) std::memcpy(bytes.data() + k * 4, &narrow, 4);
    if (type == Scalar::F64) std::memcpy(bytes.data() + k * 8, &value, 8);
  }
}

}  // namespace

RandomProgram random_program(Rng& rng, bool denormals) {
  RandomProgram program{.function = Grower(rng).program(), .arguments = {}};
  program.function.denormals = denormals;
  for (const ir::Buffer& buffer : program.function.buffers) {
    program.arguments.push_back(random_bytes(rng, buffer.element.scalar));
    if (!denormals) make_some_denormal(rng, buffer.element.scalar, program.arguments.back());
  }
  return program;
}

}  // namespace tilewright::codegen
