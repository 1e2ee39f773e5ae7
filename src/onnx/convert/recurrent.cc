// LSTM, GRU and RNN: one matrix product for the inputs of all steps, then the steps, written out.
//
//   x [T * B, I] w -> [T * B, gates * H], of which step t reads rows t * B to (t + 1) * B
//   h[t] = cell(those rows, h[t-1] r, c[t-1])
//
// All steps are the same kernels: their slices of rows are views, and h[t] is written into the
// result Y, a concat in place. The number of steps determines the number of calls, not the amount
// of code.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

constexpr int64_t kMaxSteps = 4096;

// ---- activations ----

// An activation of the attribute `activations`, with its parameters.
struct Activation {
  std::string name;  // lower case
  double alpha = 0, beta = 0;
};

struct ActivationRow {
  std::string_view name;
  int parameters = 0;  // alpha, beta
  double alpha = 0, beta = 0;
};

constexpr ActivationRow kActivations[] = {
    {"affine", 2, 1, 0},
    {"elu", 1, 1},
    {"hardsigmoid", 2, 0.2F, 0.5},
    {"leakyrelu", 1, 0.01F},
    {"relu"},
    {"scaledtanh", 2, 1, 1},
    {"sigmoid"},
    {"softplus"},
    {"softsign"},
    {"tanh"},
    {"thresholdedrelu", 1, 1},
};

// The attributes `activations`, `activation_alpha` and `activation_beta`. Only activations with a
// parameter take one from the lists, in order.
std::vector<Activation> read_activations(Conversion& node, size_t directions,
                                         std::span<const std::string_view> usual) {
  const NodeReader& attributes = node.attributes();
  std::vector<std::string> names;
  for (size_t d = 0; d < directions; ++d) names.insert(names.end(), usual.begin(), usual.end());
  if (attributes.has("activations")) {
    names = attributes.texts("activations");
    if (names.size() != directions * usual.size()) {
      refuse(fmt::format("{} activations instead of {}", names.size(), directions * usual.size()));
    }
  }
  const auto given = [&](std::string_view name) {
    return attributes.has(name) ? attributes.numbers(name) : std::vector<double>();
  };
  const std::vector<double> alphas = given("activation_alpha");
  const std::vector<double> betas = given("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> activations;
  for (std::string name : names) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto* const row = std::ranges::find(kActivations, name, &ActivationRow::name);
    if (row == std::end(kActivations)) {
      not_supported(fmt::format("the activation '{}'", shown(name)));
    }
    Activation activation{.name = name, .alpha = row->alpha, .beta = row->beta};
    if (row->parameters > 0 && next_alpha < alphas.size()) activation.alpha = alphas[next_alpha++];
    if (row->parameters > 1 && next_beta < betas.size()) activation.beta = betas[next_beta++];
    activations.push_back(std::move(activation));
  }
  return activations;
}

Tensor activated(Conversion& node, const Activation& by, Tensor x) {
  const auto times = [&](Tensor t, double factor) {
    return node.emit("mul", {t, node.number(factor, t->element())});
  };
  if (by.name == "affine") {
    return node.emit("add", {times(x, by.alpha), node.number(by.beta, x->element())});
  }
  if (by.name == "scaledtanh") return times(node.emit("tanh", {times(x, by.beta)}), by.alpha);
  if (by.name == "hardsigmoid") {
    return node.emit("hard_sigmoid", {{"alpha", by.alpha}, {"beta", by.beta}}, {x});
  }
  if (by.name == "elu") return node.emit("elu", {{"alpha", by.alpha}}, {x});
  if (by.name == "leakyrelu") return node.emit("leaky_relu", {{"alpha", by.alpha}}, {x});
  if (by.name == "thresholdedrelu") {
    return node.emit("thresholded_relu", {{"alpha", by.alpha}}, {x});
  }
  return node.emit(by.name, {x});
}

// ---- arithmetic on states; null is zero ----

Tensor sum(Conversion& node, Tensor a, Tensor b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  return node.emit("add", {a, b});
}

Tensor times(Conversion& node, Tensor a, Tensor b) {
  return a == nullptr || b == nullptr ? nullptr : node.emit("mul", {a, b});
}

Tensor product_of(Conversion& node, Tensor a, Tensor b) {
  if (a == nullptr) return nullptr;
  return node.emit("contract", {{"a", "ik"}, {"b", "kj"}, {"out", "ij"}}, {a, b});
}

bool is_zero(Tensor x) {
  if (!x->is_known()) return false;
  for (int64_t k = 0; k < x->type.elements(); ++k) {
    if (x->constant.number(k) != 0) return false;
  }
  return true;
}

// Part k of the last dimension, in parts of `size`.
Tensor part(Conversion& node, Tensor x, int64_t k, int64_t size, int64_t count = 1) {
  if (x == nullptr) return nullptr;
  Shape begin(x->rank(), 0);
  Shape extents = x->shape();
  begin.back() = k * size;
  extents.back() = count * size;
  return node.slice(x, std::move(begin), std::move(extents), ones(x->rank()));
}

// Rows of the first dimension.
Tensor rows(Conversion& node, Tensor x, int64_t begin, int64_t count) {
  Shape first(x->rank(), 0);
  Shape extents = x->shape();
  first[0] = begin;
  extents[0] = count;
  return node.slice(x, std::move(first), std::move(extents), ones(x->rank()));
}

// Element k of the first dimension, without it.
Tensor element(Conversion& node, Tensor x, int64_t k) {
  Shape shape = x->shape();
  shape.erase(shape.begin());
  return node.reshape(rows(node, x, k, 1), std::move(shape));
}

// ---- cells ----

// One direction of the operator.
struct Direction {
  Tensor r = nullptr;     // [H, gates * H]
  Tensor bias = nullptr;  // [gates * H] of the product with r, if it is not part of `projected`
  Tensor peepholes = nullptr;  // [3 * H] or null
  std::span<const Activation> activations;
  int64_t hidden = 0;
  double clip = 0;  // 0: none
  bool input_forget = false;
  bool reset_after = false;  // GRU: linear_before_reset
};

struct State {
  Tensor h = nullptr, c = nullptr;  // [B, H]; null: zero
};

// A cell: the state after a step. `projected` is x w + b of the step, [B, gates * H].
using Cell = State (*)(Conversion& node, const Direction& of, Tensor projected, State before);

Tensor gate(Conversion& node, const Direction& of, size_t activation, Tensor x) {
  if (of.clip > 0) {
    x = node.emit("clip",
                  {x, node.number(-of.clip, x->element()), node.number(of.clip, x->element())});
  }
  return activated(node, of.activations[activation], x);
}

State lstm_cell(Conversion& node, const Direction& of, Tensor projected, State before) {
  const int64_t size = of.hidden;
  const Tensor z = sum(node, product_of(node, before.h, of.r), projected);
  const auto peephole = [&](int64_t k, Tensor c) {
    return times(node, part(node, of.peepholes, k, size), c);
  };
  const auto input = [&](int64_t k, int64_t of_peephole, Tensor c) {
    return sum(node, part(node, z, k, size), peephole(of_peephole, c));
  };
  const Tensor i = gate(node, of, 0, input(0, 0, before.c));
  Tensor kept = nullptr;
  if (before.c != nullptr) {
    const Tensor f = of.input_forget ? node.emit("sub", {node.number(1, i->element()), i})
                                     : gate(node, of, 0, input(2, 2, before.c));
    kept = node.emit("mul", {f, before.c});
  }
  const Tensor fresh = gate(node, of, 1, part(node, z, 3, size));
  const Tensor c = sum(node, kept, node.emit("mul", {i, fresh}));
  const Tensor o = gate(node, of, 0, input(1, 1, c));
  return {.h = node.emit("mul", {o, gate(node, of, 2, c)}), .c = c};
}

State gru_cell(Conversion& node, const Direction& of, Tensor projected, State before) {
  const int64_t size = of.hidden;
  const auto next = [&](Tensor z, Tensor fresh) {  // (1 - z) fresh + z h
    const Tensor rest = node.emit("sub", {node.number(1, z->element()), z});
    return State{.h = sum(node, node.emit("mul", {rest, fresh}), times(node, z, before.h)),
                 .c = nullptr};
  };
  const Tensor given = part(node, projected, 2, size);
  if (of.reset_after) {
    const Tensor from_h = sum(node, product_of(node, before.h, of.r), of.bias);
    const auto both = [&](int64_t k) {
      Tensor of_h = part(node, from_h, k, size);
      return gate(node, of, 0, sum(node, part(node, projected, k, size), of_h));
    };
    const Tensor reset = times(node, both(1), part(node, from_h, 2, size));
    return next(both(0), gate(node, of, 1, sum(node, given, reset)));
  }
  const Tensor gates = product_of(node, before.h, part(node, of.r, 0, size, 2));
  const Tensor both = gate(node, of, 0, sum(node, gates, part(node, projected, 0, size, 2)));
  const Tensor reset = times(node, part(node, both, 1, size), before.h);
  const Tensor from_h = product_of(node, reset, part(node, of.r, 2, size));
  return next(part(node, both, 0, size), gate(node, of, 1, sum(node, from_h, given)));
}

State rnn_cell(Conversion& node, const Direction& of, Tensor projected, State before) {
  const Tensor z = sum(node, product_of(node, before.h, of.r), projected);
  return {.h = gate(node, of, 0, z), .c = nullptr};
}

// ---- sequences ----

struct Kind {
  int64_t gates = 1;
  std::vector<std::string_view> activations;
  Cell cell = nullptr;
  bool has_c = false;
};

class Recurrence {
 public:
  Recurrence(Conversion& node, const Kind& kind) : node_(node), kind_(kind) {}

  // Y, Y_h and, if the kind has it, Y_c.
  std::vector<Tensor> run() {
    read_attributes();
    read_shapes();
    read_masks();
    std::vector<Tensor> ys, hs, cs;
    for (int64_t d = 0; d < directions_; ++d) {
      const bool backwards = reverse_ || d == 1;
      const State last = run_direction(d, backwards, ys);
      const Shape one{1, batch_, hidden_};
      hs.push_back(node_.reshape(or_zero(last.h), one));
      if (kind_.has_c) cs.push_back(node_.reshape(or_zero(last.c), one));
    }
    std::vector<Tensor> results{nullptr, nullptr};
    if (node_.wants(0)) {  // [T, D, B, H]
      results[0] = node_.concat(ys, 1);
      if (layout_ == 1) results[0] = node_.transpose(results[0], {2, 0, 1, 3});
    }
    const auto joined = [&](const std::vector<Tensor>& states) {
      const Tensor all = node_.concat(states, 0);
      return layout_ == 1 ? node_.transpose(all, {1, 0, 2}) : all;
    };
    if (node_.wants(1)) results[1] = joined(hs);
    if (kind_.has_c) results.push_back(node_.wants(2) ? joined(cs) : nullptr);
    return results;
  }

 private:
  void read_attributes() {
    const NodeReader& attributes = node_.attributes();
    const std::string direction = attributes.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      refuse(fmt::format("direction is '{}'", shown(direction)));
    }
    reverse_ = direction == "reverse";
    directions_ = direction == "bidirectional" ? 2 : 1;
    activations_ = read_activations(node_, static_cast<size_t>(directions_), kind_.activations);
    layout_ = attributes.integer("layout", 0);
    if (layout_ != 0 && layout_ != 1) refuse(fmt::format("layout is {}", layout_));
    clip_ = attributes.number("clip", 0);
    if (clip_ < 0) refuse(fmt::format("clip is {}", clip_));
    input_forget_ = kind_.has_c && attributes.integer("input_forget", 0) != 0;
    reset_after_ = kind_.gates == 3 && attributes.integer("linear_before_reset", 0) != 0;
    if (attributes.has("output_sequence")) attributes.integer("output_sequence");  // of version 1
  }

  void read_shapes() {
    const Tensor x = node_.operand(0);
    const Tensor r = node_.operand(2);
    if (x->rank() != 3 || r->rank() != 3 || r->shape()[2] < 1) {
      refuse(fmt::format("of {} and {}", x->type.to_string(), r->type.to_string()));
    }
    hidden_ = r->shape()[2];
    if (node_.attributes().integer("hidden_size", hidden_) != hidden_) {
      refuse(fmt::format("hidden_size is {} for {}", node_.attributes().integer("hidden_size"),
                         r->type.to_string()));
    }
    x_ = layout_ == 1 ? node_.transpose(x, {1, 0, 2}) : x;
    steps_ = x_->shape()[0];
    batch_ = x_->shape()[1];
    const int64_t width = x_->shape()[2];
    if (steps_ > kMaxSteps) {
      not_supported(fmt::format("{} steps; up to {} are supported", steps_, kMaxSteps));
    }
    const int64_t all = kind_.gates * hidden_;
    want(1, {directions_, all, width});
    want(2, {directions_, all, hidden_});
    if (node_.has(3)) want(3, {directions_, 2 * all});
    if (node_.has(4)) want(4, {batch_});
    if (node_.has(5)) want(5, state_shape());
    if (kind_.has_c && node_.has(6)) want(6, state_shape());
    if (kind_.has_c && node_.has(7)) want(7, {directions_, 3 * hidden_});
  }

  Shape state_shape() const {
    return layout_ == 1 ? Shape{batch_, directions_, hidden_} : Shape{directions_, batch_, hidden_};
  }

  void want(size_t operand, const Shape& shape) {
    if (node_.operand(operand)->shape() == shape) return;
    refuse(fmt::format("operand {} is {}, not {}", operand,
                       node_.operand(operand)->type.to_string(), shape_text(shape)));
  }

  // mask_[t, b]: whether step t of sequence b exists; null if all do.
  void read_masks() {
    if (!node_.has(4)) return;
    const Tensor lengths = node_.operand(4);
    if (lengths->is_known()) {
      const Shape known = lengths->constant.integers();
      if (std::ranges::all_of(known, [&](int64_t length) { return length == steps_; })) return;
    }
    const Tensor wide = node_.reshape(node_.cast(lengths, Scalar::I64), {1, batch_, 1});
    const Tensor step =
        node_.reshape(node_.integers(iota(static_cast<size_t>(steps_))), {steps_, 1, 1});
    mask_ = node_.reshape(node_.emit("less", {step, wide}), {steps_ * batch_, 1});
  }

  Tensor or_zero(Tensor x) {
    return x != nullptr ? x : node_.broadcast(node_.number(0, x_->element()), {batch_, hidden_});
  }

  // The state of the direction in operand k, or null.
  Tensor initial(size_t k, int64_t d) {
    const Tensor all = node_.optional_operand(k);
    if (all == nullptr || is_zero(all)) return nullptr;
    const Tensor first = layout_ == 1 ? node_.transpose(all, {1, 0, 2}) : all;
    return element(node_, first, d);
  }

  // x w + b of all steps, [T * B, gates * H], for the direction.
  Tensor project(int64_t d, Direction& of) {
    const Tensor w = node_.transpose(element(node_, node_.operand(1), d), {1, 0});
    const Tensor flat = node_.reshape(x_, {steps_ * batch_, x_->shape()[2]});
    Tensor projected = product_of(node_, flat, w);
    if (!node_.has(3)) return projected;
    const Tensor biases = element(node_, node_.operand(3), d);
    const int64_t size = kind_.gates * hidden_;
    const Tensor of_x = part(node_, biases, 0, size);
    Tensor of_h = part(node_, biases, 1, size);
    if (of.reset_after) {
      of.bias = node_.reshape(of_h, {1, size});
      of_h = nullptr;
    }
    return sum(node_, projected, sum(node_, of_x, of_h));
  }

  // Steps that do not exist keep the state.
  Tensor kept(Tensor mask, Tensor now, Tensor before) {
    if (mask == nullptr || now == nullptr) return now;
    const Tensor other = before != nullptr ? before : node_.number(0, now->element());
    return node_.emit("where", {mask, now, other});
  }

  // Adds its Y, [T, 1, B, H], to `ys`.
  State run_direction(int64_t d, bool backwards, std::vector<Tensor>& ys) {
    const size_t count = kind_.activations.size();
    Direction of{
        .activations = std::span(activations_).subspan(static_cast<size_t>(d) * count, count),
        .hidden = hidden_,
        .clip = clip_,
        .input_forget = input_forget_,
        .reset_after = reset_after_};
    of.r = node_.transpose(element(node_, node_.operand(2), d), {1, 0});
    if (kind_.has_c && node_.has(7) && !is_zero(node_.operand(7))) {
      of.peepholes = element(node_, node_.operand(7), d);
    }
    const Tensor projected = project(d, of);
    State state{.h = initial(5, d), .c = kind_.has_c ? initial(6, d) : nullptr};
    std::vector<Tensor> all(static_cast<size_t>(steps_));
    for (int64_t k = 0; k < steps_; ++k) {
      const int64_t t = backwards ? steps_ - 1 - k : k;
      const State now = kind_.cell(node_, of, rows(node_, projected, t * batch_, batch_), state);
      const Tensor mask = mask_ == nullptr ? nullptr : rows(node_, mask_, t * batch_, batch_);
      state = {.h = kept(mask, now.h, state.h), .c = kept(mask, now.c, state.c)};
      all[static_cast<size_t>(t)] = kept(mask, now.h, nullptr);
    }
    if (node_.wants(0)) {
      ys.push_back(node_.reshape(node_.concat(all, 0), {steps_, 1, batch_, hidden_}));
    }
    return state;
  }

  Conversion& node_;
  const Kind& kind_;
  int64_t directions_ = 1, layout_ = 0;
  bool reverse_ = false, input_forget_ = false, reset_after_ = false;
  double clip_ = 0;
  std::vector<Activation> activations_;
  Tensor x_ = nullptr;  // [T, B, I]
  int64_t steps_ = 0, batch_ = 0, hidden_ = 0;
  Tensor mask_ = nullptr;  // [T * B, 1]
};

std::vector<Tensor> convert_lstm(Conversion& node) {
  const Kind kind{
      .gates = 4, .activations = {"sigmoid", "tanh", "tanh"}, .cell = lstm_cell, .has_c = true};
  return Recurrence(node, kind).run();
}

std::vector<Tensor> convert_gru(Conversion& node) {
  const Kind kind{.gates = 3, .activations = {"sigmoid", "tanh"}, .cell = gru_cell};
  return Recurrence(node, kind).run();
}

std::vector<Tensor> convert_rnn(Conversion& node) {
  const Kind kind{.gates = 1, .activations = {"tanh"}, .cell = rnn_cell};
  return Recurrence(node, kind).run();
}

constexpr ConverterRow kRows[] = {
    {"GRU", convert_gru},
    {"LSTM", convert_lstm},
    {"RNN", convert_rnn},
};

}  // namespace

std::span<const ConverterRow> recurrent_converters() { return kRows; }

}  // namespace tilewright::onnx
