// Dot products: the factors of one lane lie in one word of memory.
//
//   dot(C[...], A[ramp(i, 1, 4)], B[ramp(j, 1, 64)])   ->
//   tw_dot_u8i8_i32x16(..., tw_splat_u32x16(*(const tw_u32_u*)(A + i)),
//                      *(const tw_u32x16_u*)(B + j))
#include <fmt/format.h>

#include "codegen/c/emitter.h"

namespace tilewright::codegen {

CValue CEmitter::emit_dot(const ir::Dot& dot) {
  constexpr unsigned kWordBytes = 4;
  const bool in_words =
      dot.a.type().lanes * static_cast<unsigned>(ir::bytes_of(dot.a.type().scalar)) == kWordBytes;
  if (!in_words || lanes_of(dot.type).size() != 1) {
    return unsupported("a dot product of " + ir::to_string(dot.a.type()) + " in lanes of " +
                           ir::to_string(dot.type),
                       dot.type);
  }
  if (frame_->mask) return unsupported("a dot product in an arm of a vector Select", dot.type);
  const CValue sum = emit(dot.sum);
  const std::string a = words(dot.a, 1);
  const std::string b = words(dot.b, dot.type.lanes);
  const char* helper = ir::is_float(dot.type) ? "dot_bf16" : "dot_u8i8";
  return map(dot.type, sum, [&](size_t k, CType type) -> Piece {
    const std::string shared = call("splat", {CBase::U32, type.lanes}, {a});
    return {call(helper, type, {sum.pieces[k].text, shared, b})};
  });
}

// The lanes of a vector as that many words: from where it lies in memory, or through an array.
std::string CEmitter::words(const ir::Expr& value, unsigned count) {
  const std::string type = helpers_.memory({CBase::U32, count});
  const auto* load = value.as<ir::Load>();
  const bool in_memory =
      load != nullptr && function_.buffers[load->buffer].scope != ir::Scope::Register;
  if (in_memory) {
    const std::optional<LaneIndex> index = lane_index(load->buffer, load->indices);
    if (index && index->stride == 1) {
      const Piece base = emit(index->base).pieces[0];
      return fmt::format("*(const {}*)({} + {})", type, pointer(load->buffer),
                         at_most(base, Level::Product));
    }
  }
  const CValue lanes = bound(emit(value));
  std::vector<std::string> elements;
  elements.reserve(value.type().lanes);
  for (unsigned k = 0; k < value.type().lanes; ++k) elements.push_back(lane(lanes, k));
  const std::string name = fresh("t");
  line(fmt::format("const {} {}[{}] = {{{}}};", name_of({c_base(value.type().scalar), 1}), name,
                   elements.size(), fmt::join(elements, ", ")));
  return fmt::format("*(const {}*){}", type, name);
}

}  // namespace tilewright::codegen
