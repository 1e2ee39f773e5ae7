#include "codegen/dot_testing.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "base/rng.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::codegen {
namespace {

using ir::Scalar;

struct Kind {
  Scalar a, b;
  unsigned factors;
  std::string intrinsic;
  std::string types;  // of an operator, for format
};

Kind kind_of(Scalar sum) {
  if (sum == Scalar::I32) {
    return {Scalar::U8, Scalar::I8, 4, "vnni_dot_u8i8", "dtype=u8,{}=i8"};
  }
  return {Scalar::BF16, Scalar::BF16, 2, "avx512_bf16_dot", "dtype=bf16,{}=bf16"};
}

Bytes random_bits(Rng& rng, const ir::Buffer& buffer) {
  Bytes bytes(static_cast<size_t>(buffer.elements() * ir::bytes_of(buffer.element.scalar)));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.below(256));
  return bytes;
}

// Small integers, whose sums are exact in floats.
Bytes small_numbers(Rng& rng, const ir::Buffer& buffer) {
  const Scalar type = buffer.element.scalar;
  const auto size = static_cast<size_t>(ir::bytes_of(type));
  Bytes bytes;
  for (int64_t k = 0; k < buffer.elements(); ++k) {
    const int64_t value = rng.between(type == Scalar::U8 ? 0 : -3, 3);
    uint64_t bits = static_cast<uint64_t>(value);
    if (type == Scalar::BF16) bits = ir::bf16_from_f32(static_cast<float>(value));
    for (size_t b = 0; b < size; ++b) bytes.push_back(static_cast<uint8_t>(bits >> (8 * b)));
  }
  return bytes;
}

// for k < 9: C[0..16) = dot(C[0..16), A[k * F ..], B[k * 16 * F ..]); the factors come directly
// from memory, or through registers.
ir::Function by_hand(Scalar sum, bool registers) {
  const Kind kind = kind_of(sum);
  constexpr unsigned kLanes = 16;
  constexpr int64_t kSteps = 9;
  const ir::Type a_type{kind.a, static_cast<uint16_t>(kind.factors)};
  const ir::Type b_type{kind.b, static_cast<uint16_t>(kind.factors * kLanes)};
  const auto argument = [](const char* name, Scalar type, int64_t elements) {
    return ir::Buffer{.name = name, .element = {type, 1}, .shape = {elements}};
  };
  const auto held = [](const char* name, ir::Type type) {
    return ir::Buffer{.name = name, .element = type, .shape = {1}, .scope = ir::Scope::Register};
  };
  const ir::Expr k = ir::var("k"), zero = ir::int_imm(0), lanes = ir::ramp(zero, 1, kLanes);
  ir::Expr a = ir::load(kind.a, 0, {ir::ramp(k * a_type.lanes, 1, a_type.lanes)});
  ir::Expr b = ir::load(kind.b, 1, {ir::ramp(k * b_type.lanes, 1, b_type.lanes)});
  std::vector<ir::Stmt> stmts;
  if (registers) {
    stmts = {ir::make_store(3, {zero}, a), ir::make_store(4, {zero}, b)};
    a = ir::load(a_type, 3, {zero});
    b = ir::load(b_type, 4, {zero});
  }
  stmts.push_back(ir::make_store(2, {lanes}, ir::dot(ir::load(sum, 2, {lanes}), a, b)));
  ir::Stmt body = ir::make_block(std::move(stmts));
  if (registers) body = ir::make_allocate(3, ir::make_allocate(4, body));
  return {.name = "dots",
          .buffers = {argument("A", kind.a, kSteps * a_type.lanes),
                      argument("B", kind.b, kSteps * b_type.lanes), argument("C", sum, kLanes),
                      held("a", a_type), held("b", b_type)},
          .arguments = {0, 1, 2},
          .argument_written = {false, false, true},
          .body = ir::make_for(k, ir::int_imm(kSteps), ir::ForKind::Serial, body)};
}

ir::Function lowered(const std::string& what, const std::string& steps) {
  const auto must = [&](auto result) {
    if (!result) throw std::runtime_error(result.error().message + "\n" + what + "\n" + steps);
    return *std::move(result);
  };
  const Workload workload = must(parse_workload(what));
  const schedule::LoopTree initial = must(schedule::initial_tree(workload));
  const schedule::Trace trace = must(schedule::trace_from_text(steps));
  const schedule::LoopTree tree = must(schedule::apply_or_explain(initial, trace));
  const Target target = must(parse_target("x86-64-v4:avx512vnni,avx512bf16;threads=2"));
  return must(lower::lower(workload, target, tree, trace));
}

struct Tails {
  std::string_view columns, vectors, depth;
};

// A tile of 4 rows and two vectors of columns; B is copied into the order of the loops.
std::string tiled_matmul(const Kind& kind, const Tails& tails = {}) {
  return fmt::format(
      "cache_write C\nsplit C i [4]\nsplit C j [32]{1}\nreorder C [i.0, j.0, i.1, j.1]\n"
      "annotate C i.0 parallel\nannotate C j.1 vectorize\ncompute_at C.write C j.0\n"
      "split C.write j [16]{2}\nsplit C.write k [{0}]{3}\n"
      "reorder C.write [k.0, i, j.0, j.1, k.1]\nannotate C.write i unroll\n"
      "annotate C.write j.0 unroll\ncache_read B [C.write]\ncompute_at B.read C i.0\n"
      "pack B.read C.write\ntensorize C.write j.1 {4}\n",
      kind.factors, tails.columns, tails.vectors, tails.depth, kind.intrinsic);
}

std::string matmul(const Kind& kind) {
  return fmt::format("matmul:m={},n={},k={},", kDotRows, kDotColumns, kDotDepth) +
         fmt::format(fmt::runtime(kind.types), "dtype_b");
}

// The channels of a pixel are factors, those of the result are lanes; the border is a stage.
std::pair<std::string, std::string> conv(const Kind& kind) {
  return {"conv2d:h=5,w=5,ci=8,co=32,kernel=3,pad=1," +
              fmt::format(fmt::runtime(kind.types), "dtype_w"),
          fmt::format("cache_write Y\nsplit Y c [16]\nreorder Y [c.0, n, y, x, c.1]\n"
                      "annotate Y c.1 vectorize\ncompute_at Y.write Y y\n"
                      "split Y.write rc [{}]\n"
                      "reorder Y.write [ry, rx, rc.0, n, y, x, c, rc.1]\n"
                      "annotate Y.write x unroll\npack W Y.write\ntensorize Y.write c {}\n",
                      kind.factors, kind.intrinsic)};
}

// The depth of the reduction in two parts that are summed separately, each with contiguous columns.
std::string in_parts(const Kind& kind) {
  return fmt::format(
      "split C k [{}]\nsplit C k.0 [2]\nrfactor C k.0.1\nsplit C.rfactor j [16]\n"
      "reorder C.rfactor [i, k.0.1, j.0, k.0.0, j.1, k.1]\n"
      "reorder C [k.0.1, j]\npack C.rfactor C\n"
      "cache_read B [C.rfactor]\npack B.read C.rfactor\ntensorize C.rfactor j.1 {}\n",
      kind.factors, kind.intrinsic);
}

}  // namespace

std::vector<DotProgram> dot_programs(Scalar sum) {
  const Kind kind = kind_of(sum);
  std::vector<ir::Function> functions = {by_hand(sum, false), by_hand(sum, true)};
  const Tails all_tails[] = {
      {"", "", ""}, {" tail=mask", " tail=mask", " tail=pad"}, {" tail=overlap", " tail=pad", ""}};
  for (const Tails& tails : all_tails) {
    functions.push_back(lowered(matmul(kind), tiled_matmul(kind, tails)));
  }
  const auto [what, steps] = conv(kind);
  functions.push_back(lowered(what, steps));
  const std::string even =
      "matmul:m=3,n=32,k=16," + fmt::format(fmt::runtime(kind.types), "dtype_b");
  functions.push_back(lowered(even, in_parts(kind)));

  Rng rng(11);
  std::vector<DotProgram> programs;
  for (ir::Function& function : functions) {
    std::vector<Bytes> arguments;
    arguments.reserve(function.arguments.size());
    for (const ir::BufferId id : function.arguments) {
      arguments.push_back(random_bits(rng, function.buffers[id]));
    }
    programs.push_back({std::move(function), std::move(arguments)});
  }
  return programs;
}

DotProgram dot_matmul(Scalar sum) {
  const Kind kind = kind_of(sum);
  DotProgram program{lowered(matmul(kind), tiled_matmul(kind)), {}};
  Rng rng(13);
  for (const ir::BufferId id : program.function.arguments) {
    program.arguments.push_back(small_numbers(rng, program.function.buffers[id]));
  }
  return program;
}

}  // namespace tilewright::codegen
