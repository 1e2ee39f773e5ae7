// The text of the source and the header.
#include "codegen/c/emit_c.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

Buffer buffer(std::string name, Type type, int64_t elements, Scope scope = Scope::Argument) {
  return {.name = std::move(name), .element = type, .shape = {elements}, .scope = scope};
}

Target wide() { return *parse_target("x86-64-v4;threads=2"); }

CSource emitted(const Function& function) {
  const Result<CSource> source = emit_c({&function, 1}, wide());
  EXPECT_TRUE(source.has_value()) << source.error().message;
  return source.value_or(CSource{});
}

// The source after its common prologue.
std::string particular(const CSource& source) {
  const std::string include = "#include \"kernels.h\"\n\n";
  return source.source.substr(source.source.find(include) + include.size());
}

TEST(EmitC, AVectorLoop) {
  const Expr i = var("i.0");
  const Expr at = ramp(i * 16, 1, 16);
  const Function f{
      .name = "axpy:16",
      .buffers = {buffer("x", kF32, 64), buffer("y", kF32, 64)},
      .arguments = {0, 1},
      .argument_written = {false, true},
      .body = make_for(i, int_imm(4), ForKind::Serial,
                       make_store(1, {at},
                                  fma(float_imm(2, kF32.with_lanes(16)), load(Scalar::F32, 0, {at}),
                                      load(Scalar::F32, 1, {at}))))};
  EXPECT_EQ(particular(emitted(f)), R"(typedef float tw_f32x16 __attribute__((vector_size(64)));
TW_INLINE tw_f32x16 tw_splat_f32x16(float a) {
  return (tw_f32x16){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
}
typedef tw_f32x16 tw_f32x16_u __attribute__((aligned(4), may_alias));
TW_INLINE tw_f32x16 tw_load_f32x16(const void* p) {
  return *(const tw_f32x16_u*)p;
}
TW_INLINE float tw_fma_f32(float a, float b, float c) {
#if TW_HAS_BUILTIN(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
TW_INLINE tw_f32x16 tw_fma_f32x16(tw_f32x16 a, tw_f32x16 b, tw_f32x16 c) {
#if TW_HAS_BUILTIN(__builtin_elementwise_fma)
  return __builtin_elementwise_fma(a, b, c);
#elif defined(__AVX512F__)
  return (tw_f32x16)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
  tw_f32x16 r = {0};
  for (int k = 0; k < 16; ++k) r[k] = tw_fma_f32(a[k], b[k], c[k]);
  return r;
#endif
}
TW_INLINE void tw_store_f32x16(void* p, tw_f32x16 a) {
  *(tw_f32x16_u*)p = a;
}

static int32_t tilewright_axpy_16_body(const float* restrict x, float* restrict y) {
  for (int64_t i_0 = 0; i_0 < 4; ++i_0) {
    const tw_f32x16 t0 = tw_fma_f32x16(tw_splat_f32x16(2.0f), tw_load_f32x16(x + i_0 * 16), tw_load_f32x16(y + i_0 * 16));
    tw_store_f32x16(y + i_0 * 16, t0);
  }
  return TILEWRIGHT_STATUS_OK;
}

int32_t tilewright_axpy_16(const TilewrightCall* call) {
  return tilewright_axpy_16_body(call->arguments[0], call->arguments[1]);
}
)");
}

TEST(EmitC, DeadHelpersAreOmitted) {
  const Expr n = var("n"), r = var("r"), used = var("used");
  const Stmt store = make_store(0, {used}, load(Scalar::F32, 0, {int_imm(3)}));
  const Function f{.name = "lets",
                   .buffers = {buffer("io", kF32, 12)},
                   .arguments = {0},
                   .argument_written = {true},
                   .body = make_let(used, cast(Scalar::I64, load(Scalar::F32, 0, {int_imm(1)})),
                                    make_let(n, used * 2, make_let(r, n * n, store)))};
  const std::string text = particular(emitted(f));
  EXPECT_NE(text.find("used"), std::string::npos) << text;
  EXPECT_EQ(text.find("n ="), std::string::npos) << text;
  EXPECT_EQ(text.find("r ="), std::string::npos) << text;
}

TEST(EmitC, AParallelLoopWithAWorkspaceAndOddLanes) {
  const Expr i = var("i");
  const Expr at = ramp(i * 3, 1, 3);
  const Expr own = ramp(int_imm(0), 1, 3);
  const Stmt body = make_allocate(
      1,
      make_block({make_store(1, {own}, load(Scalar::F32, 0, {at})),
                  make_store(0, {at}, load(Scalar::F32, 1, {own}) - load(Scalar::F32, 0, {at}))}));
  const Function f{.name = "odd",
                   .buffers = {buffer("io", kF32, 12), buffer("mine", kF32, 3, Scope::Thread)},
                   .arguments = {0},
                   .argument_written = {true},
                   .body = make_for(i, int_imm(4), ForKind::Parallel, body)};
  const CSource source = emitted(f);
  EXPECT_EQ(source.kernels[0].shared_workspace, 0);
  EXPECT_EQ(source.kernels[0].thread_workspace, 4224);
  const std::string text = particular(source);
  EXPECT_EQ(text.substr(text.find("struct ")), R"(struct tilewright_odd_task0_context {
  float* io;
  char* workspace;
};

static void tilewright_odd_task0(void* context, int64_t i, int32_t worker) {
  const struct tilewright_odd_task0_context* captured = context;
  float* restrict io = captured->io;
  char* restrict workspace = captured->workspace;
  (void)i;
  (void)worker;
  tw_f32_u* const mine = (tw_f32_u*)(workspace + (int64_t)worker * 4224);
  const int64_t t0 = i * 3;
  const tw_f32x2 t1 = tw_load_f32x2(io + t0);
  const float t2 = io[t0 + 2];
  tw_store_f32x2(mine, t1);
  mine[2] = t2;
  const int64_t t3 = i * 3;
  const tw_f32x2 t4 = tw_load_f32x2(mine) - tw_load_f32x2(io + t3);
  const float t5 = mine[2] - io[t3 + 2];
  const int64_t t6 = i * 3;
  tw_store_f32x2(io + t6, t4);
  io[t6 + 2] = t5;
}

static int32_t tilewright_odd_body(float* restrict io, char* restrict workspace, void* pool, int32_t threads) {
  struct tilewright_odd_task0_context context_1 = {io, workspace};
  if (tilewright_parallel_for(pool, threads, 4, tilewright_odd_task0, &context_1) != 0) {
    return TILEWRIGHT_STATUS_PARALLEL_FAILED;
  }
  return TILEWRIGHT_STATUS_OK;
}

int32_t tilewright_odd(const TilewrightCall* call) {
  return tilewright_odd_body(call->arguments[0], call->workspace, call->pool, call->threads);
}
)");
}

TEST(EmitC, HeaderIsSelfContainedAndDocumentsTheCall) {
  const Function f{.name = "f",
                   .buffers = {buffer("x", {Scalar::BF16, 1}, 8), buffer("y", kF32, 8),
                               buffer("t", kF32, 100, Scope::Workspace)},
                   .arguments = {0, 1},
                   .argument_written = {false, true},
                   .body = make_allocate(2, make_store(2, {int_imm(0)}, float_imm(0, kF32)))};
  const std::string header = emitted(f).header;
  EXPECT_THAT(header, HasSubstr("typedef struct TilewrightCall {"));
  EXPECT_THAT(header, HasSubstr(" *   [0] bf16 x[8]\n *   [1] f32 y[8], written */"));
  EXPECT_THAT(header, HasSubstr("#define TILEWRIGHT_F_SHARED_WORKSPACE 448 "));
  EXPECT_THAT(header, HasSubstr("#define TILEWRIGHT_F_THREAD_WORKSPACE 0 "));
  EXPECT_THAT(header, HasSubstr("int32_t tilewright_f(const TilewrightCall* call);"));
}

TEST(EmitC, KernelsOfOneNameAndHelpersOfOneKind) {
  const Expr at = ramp(int_imm(0), 1, 8);
  const Function f{.name = "same",
                   .buffers = {buffer("x", kF32, 8)},
                   .arguments = {0},
                   .argument_written = {true},
                   .body = make_store(0, {at}, load(Scalar::F32, 0, {at}))};
  const Function both[] = {f, f};
  const Result<CSource> source = emit_c(both, wide());
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->kernels[0].symbol, "tilewright_same");
  EXPECT_EQ(source->kernels[1].symbol, "tilewright_same_2");
  const size_t first = source->source.find("tw_load_f32x8(const void* p) {");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(source->source.find("tw_load_f32x8(const void* p) {", first + 1), std::string::npos);
}

// Index arithmetic that may leave 64 bits wraps without undefined behavior; else it is plain.
TEST(EmitC, ArithmeticIsPlainWhereNothingWraps) {
  const Expr i = var("i");
  const Expr x = load(Scalar::I64, 0, {i});
  const auto body_of = [&](const Expr& value) {
    const Function f{.name = "f",
                     .buffers = {buffer("x", {Scalar::I64, 1}, 100)},
                     .arguments = {0},
                     .argument_written = {true},
                     .body = make_for(i, int_imm(100), ForKind::Serial, make_store(0, {i}, value))};
    const std::string text = particular(emitted(f));
    const size_t at = text.find("x[i] = ");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(body_of(i * 7 + 3), "x[i] = i * 7 + 3;");
  EXPECT_EQ(body_of((i + 1) * (i - 3)), "x[i] = (i + 1) * (i - 3);");
  EXPECT_EQ(body_of(i / 3 % 5), "x[i] = i / 3 % 5;");
  EXPECT_EQ(body_of((i - 8) / 4), "x[i] = (i - 8) >> 2;");
  EXPECT_EQ(body_of((i - 8) % 3), "x[i] = tw_mod_i64(i - 8, 3);");
  EXPECT_EQ(body_of(x + 1), "x[i] = tw_add_i64(x[i], 1);");
  EXPECT_EQ(body_of(i * (int64_t{1} << 60)), "x[i] = tw_mul_i64(i, 1152921504606846976);");
}

TEST(EmitC, UnsupportedNodesAreErrors) {
  const Expr i = var("i"), j = var("j");
  const auto message = [](const Stmt& body) {
    const Function f{.name = "f",
                     .buffers = {buffer("x", kF32, 8), buffer("t", kF32, 8, Scope::Stack),
                                 buffer("d", kF32, 8, Scope::DeviceGlobal)},
                     .arguments = {0},
                     .argument_written = {true},
                     .body = body};
    const Result<CSource> source = emit_c({&f, 1}, wide());
    EXPECT_FALSE(source.has_value());
    return source ? "" : source.error().message;
  };
  const Expr x = load(Scalar::F32, 0, {int_imm(0)});
  EXPECT_EQ(message(make_store(0, {int_imm(0)}, exp(x))),
            "f: `exp` of f32 was not expanded by the pass expand_functions");
  EXPECT_EQ(message(make_store(0, {i}, x)), "f: variable `i` is not bound");
  EXPECT_EQ(message(make_store(1, {int_imm(0)}, x)), "f: `t` is accessed outside of its Allocate");
  const Stmt inner = make_for(j, int_imm(4), ForKind::Parallel, make_store(0, {j}, x));
  EXPECT_EQ(message(make_for(i, int_imm(4), ForKind::Parallel, inner)),
            "f: a Parallel loop inside a Parallel loop");
  const Stmt at_i = make_store(0, {i}, x);
  EXPECT_EQ(message(make_bound_for(i, int_imm(1), ThreadAxis::BlockX, at_i)),
            "f: a loop is bound to block_x, which only a GPU has");
  EXPECT_EQ(message(make_allocate(2, make_store(2, {int_imm(0)}, x))),
            "f: `d` is in device memory, which a CPU does not have");
}

}  // namespace
}  // namespace tilewright::codegen
