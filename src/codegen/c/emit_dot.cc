// Dot products: the factors of one lane lie in one word of memory.
//
//   dot(C[...], A[ramp(i, 1, 4)], B[ramp(j, 1, 64)])   ->
//   tw_dot_u8i8_i32x16(..., tw_splat_u32x16(*(const tw_u32_u*)(A + i)),
//                      *(const tw_u32x16_u*)(B + j))
#include <fmt/format.h>

#include "codegen/c/emitter.h"

namespace tilewright::codegen {

CValue CEmitter::emit_dot(const ir::Dot& dot) {
  const ir::Type factors = dot.a.type();
  constexpr int kWordBytes = 4;
  if (dot.rows != 1 || factors.lanes * ir::bytes_of(factors.scalar) != kWordBytes) {
    return unsupported("a dot product of " + ir::to_string(factors), dot.type);
  }
  if (frame_->mask) return unsupported("a dot product in an arm of a vector Select", dot.type);
  const CValue sum = emit(dot.sum);
  const std::string a = lanes_in_memory(dot.a);
  const std::string b = lanes_in_memory(dot.b);
  const auto words = [&](unsigned count, const std::string& place) {
    return fmt::format("*(const {}*)({})", helpers_.memory({CBase::U32, count}), place);
  };
  unsigned first = 0;  // lane of the piece
  return map(dot.type, sum, [&](size_t k, CType type) -> Piece {
    const std::string shared = call("splat", {CBase::U32, type.lanes}, {words(1, a)});
    const std::string own = words(type.lanes, fmt::format("{} + {}", b, first * factors.lanes));
    first += type.lanes;
    const char* helper = ir::is_float(dot.type) ? "dot_bf16" : "dot_u8i8";
    return {call(helper, type, {sum.pieces[k].text, shared, own})};
  });
}

// A pointer to the lanes of a vector: where they lie in memory, or in an array made for them.
std::string CEmitter::lanes_in_memory(const ir::Expr& vector) {
  const auto* load = vector.as<ir::Load>();
  if (load != nullptr && function_.buffers[load->buffer].scope != ir::Scope::Register) {
    const std::optional<LaneIndex> index = lane_index(load->buffer, load->indices);
    if (index && index->stride == 1) {
      const Piece base = emit(index->base).pieces[0];
      return fmt::format("{} + {}", pointer(load->buffer), at_most(base, Level::Product));
    }
  }
  const CValue value = bound(emit(vector));
  std::vector<std::string> lanes;
  lanes.reserve(vector.type().lanes);
  for (unsigned k = 0; k < vector.type().lanes; ++k) lanes.push_back(lane(value, k));
  const std::string name = fresh("t");
  line(fmt::format("const {} {}[{}] = {{{}}};", name_of({c_base(vector.type().scalar), 1}), name,
                   lanes.size(), fmt::join(lanes, ", ")));
  return name;
}

}  // namespace tilewright::codegen
