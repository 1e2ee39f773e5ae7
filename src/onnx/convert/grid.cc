// GridSample and AffineGrid: an image sampled at computed positions.
//
// A sample is a sum over the taps around its position: the nearest element, or two or four along
// each dimension. Each tap is a gather from the image with channels last, times a weight:
//
//   x[n,h,w,c], y = floor(position_y), x = floor(position_x)
//     -> gather(x, y * w + x) * wy0 * wx0 + gather(x, y * w + x + 1) * wy0 * wx1 + ...
#include <fmt/format.h>

#include <algorithm>

#include "ir/element.h"
#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

enum class Mode : uint8_t { Nearest, Linear, Cubic };
enum class Padding : uint8_t { Zeros, Border, Reflection };

// Arithmetic on tensors and numbers.
class Calculator {
 public:
  Calculator(Conversion& node, Scalar element) : node_(node), element_(element) {}

  Tensor number(double value) { return node_.number(value, element_); }
  Tensor add(Tensor a, double b) { return b == 0 ? a : node_.emit("add", {a, number(b)}); }
  Tensor mul(Tensor a, double b) { return b == 1 ? a : node_.emit("mul", {a, number(b)}); }
  Tensor mul(Tensor a, Tensor b) { return node_.emit("mul", {a, b}); }
  Tensor sub(Tensor a, Tensor b) { return node_.emit("sub", {a, b}); }
  Tensor clip(Tensor a, double low, double high) {
    return node_.emit("clip", {a, number(low), number(high)});
  }

 private:
  Conversion& node_;
  Scalar element_;
};

struct Sampler {
  Mode mode = Mode::Linear;
  Padding padding = Padding::Zeros;
  bool align_corners = false;
};

Sampler sampler_of(Conversion& node) {
  const NodeReader& from = node.attributes();
  const std::string mode = from.text("mode", "linear");
  const std::string padding = from.text("padding_mode", "zeros");
  Sampler sampler{.mode = Mode::Linear,
                  .padding = Padding::Zeros,
                  .align_corners = from.integer("align_corners", 0) != 0};
  if (mode == "nearest") {
    sampler.mode = Mode::Nearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    sampler.mode = Mode::Cubic;
  } else if (mode != "linear" && mode != "bilinear") {
    refuse(fmt::format("mode is '{}'", shown(mode)));
  }
  if (padding == "border") {
    sampler.padding = Padding::Border;
  } else if (padding == "reflection") {
    sampler.padding = Padding::Reflection;
  } else if (padding != "zeros") {
    refuse(fmt::format("padding_mode is '{}'", shown(padding)));
  }
  return sampler;
}

// Reflection at the edges of the image: those of its border elements, or their centers.
Tensor reflected(Conversion& node, Calculator& compute, Tensor place, int64_t extent,
                 bool align_corners) {
  const auto range = static_cast<double>(align_corners ? extent - 1 : extent);
  if (range == 0) return compute.mul(place, 0.0);
  const double low = align_corners ? 0 : -0.5;
  const Tensor away = node.emit("abs", {compute.add(place, -low)});
  const Tensor rounds = node.emit("floor", {compute.mul(away, 1 / (2 * range))});
  const Tensor there = compute.sub(away, compute.mul(rounds, 2 * range));
  const Tensor back = compute.sub(compute.number(2 * range), there);
  return compute.add(node.emit("min", {there, back}), low);
}

// One tap along one dimension: an index within bounds, and its weight (null: 1).
struct Tap {
  Tensor index = nullptr;
  Tensor weight = nullptr;
};

// Weights of the four taps around a position that is `part` after the second of them.
std::vector<Tensor> cubic_weights(Conversion& node, Calculator& compute, Tensor part) {
  constexpr double a = -0.75;
  const auto near = [&](Tensor t) {  // ((a + 2) t - (a + 3)) t^2 + 1
    const Tensor inner = compute.add(compute.mul(t, a + 2), -(a + 3));
    return compute.add(compute.mul(compute.mul(inner, t), t), 1);
  };
  const auto far = [&](Tensor t) {  // ((a t - 5 a) t + 8 a) t - 4 a
    const Tensor inner = compute.mul(compute.add(compute.mul(t, a), -5 * a), t);
    return compute.add(compute.mul(compute.add(inner, 8 * a), t), -4 * a);
  };
  const Tensor rest = compute.add(node.emit("neg", {part}), 1);
  return {far(compute.add(part, 1)), near(part), near(rest), far(compute.add(rest, 1))};
}

Tap tap_at(Conversion& node, Calculator& compute, const Sampler& sampler, Tensor place,
           Tensor weight, int64_t extent) {
  const auto last = static_cast<double>(extent - 1);
  if (sampler.padding == Padding::Zeros) {
    const Tensor zero = compute.number(0);
    const Tensor within =
        node.emit("and", {node.emit("greater_equal", {place, zero}),
                          node.emit("less_equal", {place, compute.number(last)})});
    weight = node.emit("where", {within, weight == nullptr ? compute.number(1) : weight, zero});
  } else if (sampler.padding == Padding::Reflection && sampler.mode == Mode::Cubic) {
    place = reflected(node, compute, place, extent, sampler.align_corners);
  }
  return {.index = node.cast(compute.clip(place, 0, last), Scalar::I64), .weight = weight};
}

// The taps along a dimension of the image; coordinates -1 and 1 are its edges.
std::vector<Tap> taps_along(Conversion& node, const Sampler& sampler, Tensor coordinates,
                            int64_t extent) {
  Calculator compute(node, coordinates->element());
  const auto size = static_cast<double>(extent);
  Tensor place = sampler.align_corners
                     ? compute.mul(compute.add(coordinates, 1), (size - 1) / 2)
                     : compute.add(compute.mul(compute.add(coordinates, 1), size / 2), -0.5);
  if (sampler.mode == Mode::Nearest) place = node.emit("round", {place});
  if (sampler.padding == Padding::Border) place = compute.clip(place, 0, size - 1);
  if (sampler.padding == Padding::Reflection) {
    place = reflected(node, compute, place, extent, sampler.align_corners);
  }
  if (sampler.mode == Mode::Nearest) {
    return {tap_at(node, compute, sampler, place, nullptr, extent)};
  }
  const Tensor floor = node.emit("floor", {place});
  const Tensor part = compute.sub(place, floor);
  std::vector<Tensor> weights;
  if (sampler.mode == Mode::Linear) {
    weights = {compute.add(node.emit("neg", {part}), 1), part};
  } else {
    weights = cubic_weights(node, compute, part);
  }
  const double first = sampler.mode == Mode::Linear ? 0 : -1;
  std::vector<Tap> taps;
  taps.reserve(weights.size());
  for (size_t k = 0; k < weights.size(); ++k) {
    const Tensor at = compute.add(floor, first + static_cast<double>(k));
    taps.push_back(tap_at(node, compute, sampler, at, weights[k], extent));
  }
  return taps;
}

// The taps of further dimensions combined with those of `outer`: row-major indices, products of
// weights.
std::vector<Tap> combined(Conversion& node, const std::vector<Tap>& outer,
                          const std::vector<Tap>& inner, int64_t extent) {
  std::vector<Tap> taps;
  taps.reserve(outer.size() * inner.size());
  for (const Tap& slow : outer) {
    const Tensor row =
        node.emit("mul", {slow.index, node.number(static_cast<double>(extent), Scalar::I64)});
    for (const Tap& fast : inner) {
      const bool both = slow.weight != nullptr && fast.weight != nullptr;
      const Tensor weight = both ? node.emit("mul", {slow.weight, fast.weight}) : nullptr;
      taps.push_back({.index = node.emit("add", {row, fast.index}), .weight = weight});
    }
  }
  return taps;
}

// Coordinate k of the positions; 0 belongs to the last dimension of the image.
Tensor coordinate(Conversion& node, Tensor grid, int64_t k) {
  Shape begin(grid->rank(), 0);
  Shape size = grid->shape();
  begin.back() = k;
  size.back() = 1;
  return node.slice(grid, std::move(begin), std::move(size), ones(grid->rank()));
}

std::vector<Tensor> convert_grid_sample(Conversion& node) {
  const Tensor x = node.operand(0);
  const Tensor grid = node.operand(1);
  const Sampler sampler = sampler_of(node);
  const size_t rank = x->rank();
  if (rank < 3 || grid->rank() != rank || grid->shape()[0] != x->shape()[0] ||
      grid->shape().back() != static_cast<int64_t>(rank) - 2 ||
      std::min(product(x->shape()), product(grid->shape())) == 0) {
    refuse(fmt::format("places {} for {}", grid->type.to_string(), x->type.to_string()));
  }
  if (rank > 5 || (rank > 4 && sampler.mode == Mode::Cubic)) {
    not_supported(fmt::format("this number of dimensions ({})", x->type.to_string()));
  }
  std::vector<Tap> taps;
  for (size_t d = 2; d < rank; ++d) {
    const Tensor along = coordinate(node, grid, static_cast<int64_t>(rank - 1 - d));
    const std::vector<Tap> own = taps_along(node, sampler, along, x->shape()[d]);
    taps = taps.empty() ? own : combined(node, taps, own, x->shape()[d]);
  }
  Shape last = iota(rank);  // channels last, and back
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  Shape back = iota(rank);
  std::rotate(back.begin() + 1, back.end() - 1, back.end());
  const int64_t elements = product(std::span(x->shape()).subspan(2));
  const Tensor image =
      node.reshape(node.transpose(x, last), {x->shape()[0], elements, x->shape()[1]});
  std::vector<Tensor> terms;
  terms.reserve(taps.size());
  for (const Tap& tap : taps) {
    const Tensor value = node.emit("gather_nd", {{"batch_dims", 1}}, {image, tap.index});
    terms.push_back(tap.weight == nullptr
                        ? value
                        : node.emit("mul", {value, node.cast(tap.weight, x->element())}));
  }
  return {node.result("transpose", {{"perm", back}}, {node.fold("add", terms)})};
}

// Coordinates of the centers of `extent` elements between -1 and 1, or with the first and last at
// those.
double center(int64_t k, int64_t extent, bool align_corners) {
  if (align_corners) {
    return extent == 1 ? -1 : -1 + 2 * static_cast<double>(k) / static_cast<double>(extent - 1);
  }
  return static_cast<double>(2 * k + 1) / static_cast<double>(extent) - 1;
}

// theta[n,d,d+1] times (x, y, .., 1) of each element of an image of that size.
std::vector<Tensor> convert_affine_grid(Conversion& node) {
  const Tensor theta = node.operand(0);
  const Shape size = node.known_integers(1, "size");
  const bool align_corners = node.attributes().integer("align_corners", 0) != 0;
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  if (rank < 2 || rank > 3 || product(size) == 0 ||
      std::ranges::any_of(size, [](int64_t extent) { return extent < 1; }) ||
      theta->shape() != Shape{size[0], rank, rank + 1}) {
    refuse(fmt::format("{} for the size {}", theta->type.to_string(), shape_text(size)));
  }
  const std::span<const int64_t> spatial = std::span(size).subspan(2);
  const int64_t places = product(spatial);
  const graph::TensorType type{.element = theta->element(), .shape = {places, rank + 1}};
  node.charge(type);
  std::vector<std::byte> bytes(
      static_cast<size_t>(places * (rank + 1) * ir::bytes_of(theta->element())));
  for (int64_t place = 0; place < places; ++place) {
    int64_t rest = place;
    for (int64_t k = 0; k < rank; ++k) {  // x is the last dimension
      const int64_t extent = spatial[static_cast<size_t>(rank - 1 - k)];
      ir::write_element(bytes.data(), type.element, place * (rank + 1) + k,
                        center(rest % extent, extent, align_corners));
      rest /= extent;
    }
    ir::write_element(bytes.data(), type.element, place * (rank + 1) + rank, 1);
  }
  const Tensor base = node.constant(graph::Constant::of_bytes(type, std::move(bytes)));
  const Tensor grid =
      node.emit("contract", {{"a", "pk"}, {"b", "nrk"}, {"out", "npr"}}, {base, theta});
  Shape shape{size[0]};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  shape.push_back(rank);
  return {node.result("reshape", {{"shape", shape}}, {grid})};
}

constexpr ConverterRow kRows[] = {
    {"AffineGrid", convert_affine_grid},
    {"GridSample", convert_grid_sample},
};

}  // namespace

std::span<const ConverterRow> grid_converters() { return kRows; }

}  // namespace tilewright::onnx
