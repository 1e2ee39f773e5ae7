// Loads, stores and their addresses.
//
//   A[ramp(i * 32, 1, 16)]   ->   tw_load_f32x16(A + i * 32)
//   A[ramp(i, 8, 4)]         ->   (tw_f32x4){A[i], A[i + 8], A[i + 16], A[i + 24]}
#include <fmt/format.h>

#include <cstdlib>

#include "codegen/c/emitter.h"

namespace tilewright::codegen {
namespace {

int64_t times(int64_t a, int64_t b) {  // wraps, as index arithmetic does
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Piece plus(const Piece& base, int64_t offset) {
  if (offset == 0) return base;
  if (base.text == "0") return {std::to_string(offset)};
  return {fmt::format("{} {} {}", base.text, offset < 0 ? "-" : "+", std::abs(offset)), Level::Sum};
}

// The address as one sum: in between, a pointer may not leave its buffer.
std::string address(const std::string& buffer, const Piece& index) {
  if (index.text == "0") return buffer;
  return fmt::format("{} + {}", buffer, at_most(index, Level::Product));
}

}  // namespace

std::string CEmitter::pointer(ir::BufferId buffer) {
  const std::string& name = frame_->buffers[buffer];
  if (!name.empty()) return name;
  unsupported("`" + function_.buffers[buffer].name + "` is accessed outside of its Allocate",
              ir::kIndex);
  return "0";
}

// The scalar parts of an index whose lanes are evenly spaced.
std::optional<CEmitter::LaneIndex> CEmitter::lane_index(const ir::Expr& index) {
  if (!index.type().is_vector()) return LaneIndex{index};
  if (const auto* broadcast = index.as<ir::Broadcast>()) return LaneIndex{broadcast->value};
  if (const auto* ramp = index.as<ir::Ramp>()) return LaneIndex{ramp->base, ramp->stride};
  const auto* binary = index.as<ir::Binary>();
  if (binary == nullptr) return std::nullopt;
  const bool is_sum = binary->op == ir::BinaryOp::Add || binary->op == ir::BinaryOp::Sub;
  if (!is_sum && binary->op != ir::BinaryOp::Mul) return std::nullopt;
  const std::optional<LaneIndex> a = lane_index(binary->a);
  const std::optional<LaneIndex> b = lane_index(binary->b);
  if (!a || !b) return std::nullopt;
  const ir::Expr base = ir::binary(binary->op, a->base, b->base);
  if (binary->op == ir::BinaryOp::Add) return LaneIndex{base, a->stride + b->stride};
  if (binary->op == ir::BinaryOp::Sub) return LaneIndex{base, a->stride - b->stride};
  if (const int64_t* factor = ir::as_int(binary->b)) {
    return LaneIndex{base, times(a->stride, *factor)};
  }
  if (const int64_t* factor = ir::as_int(binary->a)) {
    return LaneIndex{base, times(b->stride, *factor)};
  }
  return std::nullopt;
}

std::optional<CEmitter::LaneIndex> CEmitter::lane_index(ir::BufferId buffer,
                                                        const std::vector<ir::Expr>& indices) {
  const std::vector<int64_t>& shape = function_.buffers[buffer].shape;
  LaneIndex flat{ir::int_imm(0)};
  for (size_t d = 0; d < indices.size(); ++d) {
    const std::optional<LaneIndex> index = lane_index(indices[d]);
    if (!index) return std::nullopt;
    flat.base = d == 0 ? index->base : flat.base * shape[d] + index->base;
    flat.stride = d == 0 ? index->stride : times(flat.stride, shape[d]) + index->stride;
  }
  kept_.push_back(flat.base);
  return flat;
}

// The flat index of each lane, for indices that are not evenly spaced.
CValue CEmitter::lane_offsets(ir::BufferId buffer, const std::vector<ir::Expr>& indices) {
  const std::vector<int64_t>& shape = function_.buffers[buffer].shape;
  ir::Expr flat = indices[0];
  for (size_t d = 1; d < indices.size(); ++d) flat = flat * shape[d] + indices[d];
  kept_.push_back(flat);
  return bound(emit(flat));
}

CValue CEmitter::load(const ir::Load& load) {
  if (function_.buffers[load.buffer].scope == ir::Scope::Register) {
    const auto found = frame_->registers.find(load.buffer);
    if (found != frame_->registers.end()) return found->second;
  }
  const std::string buffer = pointer(load.buffer);
  if (load.type.is_vector()) return load_lanes(load, buffer);
  const std::optional<LaneIndex> index = lane_index(load.buffer, load.indices);
  const std::string text = fmt::format("{}[{}]", buffer, emit(index->base).pieces[0].text);
  return {.type = load.type, .pieces = {{ir::is_bool(load.type) ? "(" + text + " != 0)" : text}}};
}

CValue CEmitter::load_lanes(const ir::Load& load, const std::string& buffer) {
  const CBase element = c_memory(load.type.scalar);
  const std::optional<LaneIndex> index = lane_index(load.buffer, load.indices);
  const CValue base = index ? emit_uniform(index->base) : lane_offsets(load.buffer, load.indices);
  const std::vector<unsigned> lanes = lanes_of(load.type);
  const bool contiguous = index && index->stride == 1;
  Piece start;
  if (index) start = contiguous && lanes.size() == 1 ? base.pieces[0] : bound(base).pieces[0];
  if (index && index->stride == 0 && !frame_->mask) {
    const std::string one = fmt::format("{}[{}]", buffer, start.text);
    const CValue scalar{.type = load.type.element(),
                        .pieces = {{ir::is_bool(load.type) ? "(" + one + " != 0)" : one}}};
    return emit_broadcast(scalar, load.type.lanes);
  }
  std::optional<CValue> mask;
  if (frame_->mask) mask = bound(as_mask(used_mask(), bytes_of(element)));
  const auto lane_text = [&](unsigned k) {
    const std::string at = index ? plus(start, times(index->stride, k)).text : lane(base, k);
    const std::string one = fmt::format("{}[{}]", buffer, at);
    return mask ? fmt::format("({} ? {} : 0)", lane(*mask, k), one) : one;
  };

  CValue result{.type = load.type, .pieces = {}};
  if (ir::is_bool(load.type)) result.mask_bytes = 1;
  unsigned first = 0;
  for (size_t k = 0; k < lanes.size(); first += lanes[k++]) {
    const CType type{element, lanes[k]};
    std::string text;
    if (!type.is_vector()) {
      text = lane_text(first);
    } else if (contiguous) {
      const std::string from = address(buffer, plus(start, first));
      text = mask ? call("load_masked", type, {from, mask->pieces[k].text})
                  : call("load", type, {from});
    } else {
      std::vector<std::string> parts;
      parts.reserve(lanes[k]);
      for (unsigned n = 0; n < lanes[k]; ++n) parts.push_back(lane_text(first + n));
      text = fmt::format("({}){{{}}}", helpers_.type(type), fmt::join(parts, ", "));
    }
    if (ir::is_bool(load.type)) {
      const std::string mask_type = helpers_.type({CBase::I8, lanes[k]});
      text = type.is_vector() ? fmt::format("({})({} != 0)", mask_type, text)
                              : fmt::format("({} != 0)", text);
    }
    result.pieces.push_back({std::move(text)});
  }
  return result;
}

void CEmitter::store_lanes(const ir::Store& store, const std::string& buffer) {
  CValue value = emit(store.value);
  const CBase element = c_memory(store.value.type().scalar);
  if (ir::is_bool(store.value.type())) value = from_bool(value, ir::Scalar::U8);
  std::optional<CValue> mask;
  if (store.predicate.defined()) mask = bound(as_mask(emit(store.predicate), bytes_of(element)));
  // Where lanes are not written, their indices need not be fit to evaluate.
  std::optional<Mask> outer = std::exchange(frame_->mask, std::nullopt);
  if (mask) frame_->mask = Mask{.value = *mask};
  const std::optional<LaneIndex> index = lane_index(store.buffer, store.indices);
  const CValue base = index ? emit_uniform(index->base) : lane_offsets(store.buffer, store.indices);
  frame_->mask = std::move(outer);

  const std::vector<unsigned> lanes = lanes_of(value.type);
  const bool contiguous = index && index->stride == 1;
  const bool at_once = contiguous && lanes.size() == 1;
  if (!at_once) value = bound(std::move(value));
  Piece start;
  if (index) start = at_once ? base.pieces[0] : bound(base).pieces[0];
  const auto store_lane = [&](unsigned k) {
    const std::string at = index ? plus(start, times(index->stride, k)).text : lane(base, k);
    line(fmt::format("{}{}[{}] = {};", mask ? fmt::format("if ({}) ", lane(*mask, k)) : "", buffer,
                     at, lane(value, k)));
  };
  unsigned first = 0;
  for (size_t k = 0; k < lanes.size(); first += lanes[k++]) {
    const CType type{element, lanes[k]};
    if (!contiguous || !type.is_vector()) {
      for (unsigned n = 0; n < lanes[k]; ++n) store_lane(first + n);
      continue;
    }
    const std::string to = address(buffer, plus(start, first));
    const std::string& text = value.pieces[k].text;
    line((mask ? call("store_masked", type, {to, mask->pieces[k].text, text})
               : call("store", type, {to, text})) +
         ";");
  }
}

}  // namespace tilewright::codegen
