// Random Graphs before and after all passes, and after each of them alone. A failure prints its
// seed and the Graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <set>

#include "base/rng.h"
#include "graph/passes/constant_math.h"
#include "graph/passes/model_testing.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

// Grows a Graph node by node; every step picks a value and something to do with it.
class Grower {
 public:
  explicit Grower(uint64_t seed) : rng_(seed) {
    values_.push_back(g_.input("x", random_shape()));
    if (rng_.chance(0.5)) values_.push_back(g_.input("y", g_.shape(values_[0])));
  }

  Graph grow(int steps) {
    for (int i = 0; i < steps; ++i) step();
    std::vector<ValueId> outputs = {values_.back()};
    if (rng_.chance(0.5)) outputs.push_back(any());
    return g_.finish(outputs);
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(rng_.uniform() * static_cast<double>(n)); }
  size_t index(size_t n) { return static_cast<size_t>(below(static_cast<int64_t>(n))); }
  ValueId any() { return values_[index(values_.size())]; }
  ValueId recent() { return rng_.chance(0.7) ? values_.back() : any(); }
  const Shape& shape(ValueId x) const { return g_.shape(x); }
  static int64_t elements(const Shape& s) {
    return std::accumulate(s.begin(), s.end(), int64_t{1}, std::multiplies<>());
  }
  Shape random_shape() {
    Shape s;
    const int64_t rank = 2 + below(3);
    for (int64_t i = 0; i < rank; ++i) s.push_back(1 + below(4));
    return s;
  }

  void step() {
    const ValueId x = recent();
    const Shape s = shape(x);
    ValueId y = kNone;
    switch (below(14)) {
      case 0:
      case 1:
        y = unary(x);
        break;
      case 2:
      case 3:
        y = binary(x);
        break;
      case 4:
      case 5:
        y = transpose(x);
        break;
      case 6:
        y = reshape(x);
        break;
      case 7:
        y = move(x);
        break;
      case 8:
        y = reduce(x);
        break;
      case 9:
        y = rows(x);
        break;
      case 10:
      case 11:
        y = contract(x);
        break;
      default:
        y = window(x);
        break;
    }
    if (y != kNone) values_.push_back(y);
  }

  ValueId unary(ValueId x) {
    constexpr std::array kOps = {"relu", "tanh", "sigmoid", "neg", "abs"};
    return g_.add(kOps[index(kOps.size())], {x});
  }

  // Each dimension kept or 1, some of the first left out.
  Shape broadcastable(const Shape& s) {
    Shape b = s;
    for (int64_t& extent : b) extent = rng_.chance(0.5) ? 1 : extent;
    const size_t dropped = index(s.size() + 1);
    return {b.begin() + static_cast<std::ptrdiff_t>(dropped), b.end()};
  }

  ValueId binary(ValueId x) {
    constexpr std::array kOps = {"add", "mul", "sub", "max", "add", "mul"};
    const char* op = kOps[index(kOps.size())];
    ValueId other = g_.weights(broadcastable(shape(x)));
    if (rng_.chance(0.3)) {
      for (const ValueId v : values_) {
        if (shape(v) == shape(x)) other = v;
      }
    } else if (rng_.chance(0.2)) {
      other = g_.mean(x, {below(static_cast<int64_t>(shape(x).size()))});
    }
    if (shape(x).empty()) other = g_.number(2);
    return rng_.chance(0.5) ? g_.add(op, {x, other}) : g_.add(op, {other, x});
  }

  ValueId transpose(ValueId x) {
    Shape perm(shape(x).size());
    std::iota(perm.begin(), perm.end(), 0);
    for (size_t i = perm.size(); i > 1; --i) std::swap(perm[i - 1], perm[index(i)]);
    return perm.empty() ? kNone : g_.transpose(x, perm);
  }

  ValueId reshape(ValueId x) {
    Shape s = shape(x);
    if (s.empty()) return g_.reshape(x, {1});
    const size_t at = index(s.size());
    const auto here = s.begin() + static_cast<std::ptrdiff_t>(at);
    if (rng_.chance(0.4) && at + 1 < s.size()) {  // join
      s[at] *= s[at + 1];
      s.erase(here + 1);
    } else if (s.size() > 5) {
      s = {elements(s)};
    } else if (s[at] % 2 == 0) {  // split
      s[at] /= 2;
      s.insert(s.begin() + static_cast<std::ptrdiff_t>(at), 2);
    } else {
      s.insert(here, 1);
    }
    return g_.reshape(x, s);
  }

  ValueId move(ValueId x) {
    const Shape& s = shape(x);
    if (s.empty() || elements(s) > 400) return kNone;
    const size_t at = index(s.size());
    Shape before(s.size(), 0);
    Shape size = s;
    Shape step(s.size(), 1);
    switch (below(5)) {
      case 0:
        return g_.add("concat", {x, x, unary(x)}, {{"axis", static_cast<int64_t>(at)}});
      case 1:
        step[at] = rng_.chance(0.3) ? -1 : 1;
        before[at] = step[at] < 0 ? s[at] - 1 : below(s[at]);
        size[at] = step[at] < 0 ? s[at] : s[at] - before[at];
        return g_.add("slice", {x}, {{"begin", before}, {"size", size}, {"step", step}});
      case 2:
        before[at] = 1;
        return g_.add("pad", {x}, {{"before", before}, {"after", before}, {"mode", "edge"}});
      case 3:
        step[at] = 2;
        return g_.add("tile", {x}, {{"repeats", step}});
      default:
        if (s[at] == 1) size[at] = 3;
        if (s.size() < 5) size.insert(size.begin(), 2);
        return g_.add("broadcast", {x}, {{"shape", size}});
    }
  }

  ValueId reduce(ValueId x) {
    constexpr std::array kKinds = {"mean", "max", "sum"};
    Shape axes;
    for (size_t i = 0; i < shape(x).size(); ++i) {
      if (rng_.chance(0.3)) axes.push_back(static_cast<int64_t>(i));
    }
    if (axes.empty() || axes.size() == shape(x).size()) return kNone;
    return g_.add("reduce", {x},
                  {{"kind", kKinds[index(kKinds.size())]},
                   {"axes", axes},
                   {"keep", int64_t{rng_.chance(0.5) ? 1 : 0}}});
  }

  ValueId rows(ValueId x) {
    const Shape& s = shape(x);
    if (s.empty()) return kNone;
    const int64_t axis = below(static_cast<int64_t>(s.size()));
    switch (below(4)) {
      case 0:
        return g_.add("softmax", {x}, {{"axis", axis}});
      case 1:
        return g_.add("cum_sum", {x}, {{"axis", axis}});
      case 2: {
        const Shape last(s.begin() + axis, s.end());
        return g_.add("layer_norm", {x, g_.weights(last), g_.weights(last)},
                      {{"axis", axis}, {"epsilon", 0.1}});
      }
      default:
        return s.size() < 2 ? kNone : g_.batch_norm(x);
    }
  }

  // With constant weights or with itself transposed in letters.
  ValueId contract(ValueId x) {
    const Shape& s = shape(x);
    if (s.empty() || s.size() > 5 || elements(s) > 400) return kNone;
    const std::string letters = std::string("abcdef").substr(0, s.size());
    const size_t at = index(s.size());
    std::string out = letters;
    if (rng_.chance(0.3)) {  // products of all pairs along one dimension
      std::string other = letters;
      other[at] = 'z';
      out += 'z';
      return elements(s) * s[at] > 400 || s.size() > 4
                 ? kNone
                 : g_.add("contract", {x, unary(x)}, {{"a", letters}, {"b", other}, {"out", out}});
    }
    out[at] = 'j';
    std::swap(out[at], out.back());
    const bool turned = rng_.chance(0.5);
    const ValueId w = g_.weights(turned ? Shape{3, s[at]} : Shape{s[at], 3});
    const std::string inner = {letters[at]};
    const std::string b = turned ? "j" + inner : inner + "j";
    const ValueId product = g_.add("contract", {x, w}, {{"a", letters}, {"b", b}, {"out", out}});
    return rng_.chance(0.5) ? product : g_.add("mul", {product, g_.number(0.5)});
  }

  ValueId window(ValueId x) {
    const Shape& s = shape(x);
    if (s.size() < 3 || s.size() > 5 || elements(s) > 200) return kNone;
    if (s.size() == 4 && rng_.chance(0.3)) return g_.max_pool(x, 3, 1 + below(2));
    if (s.size() == 4 && rng_.chance(0.2)) return g_.conv_transpose(x, 2, 2, 2, 0);
    const ValueId y =
        g_.conv_first(x, s[1], {.kernel = 1 + 2 * below(2), .groups = rng_.chance(0.3) ? s[1] : 1});
    if (rng_.chance(0.4)) return g_.batch_norm(y);
    return rng_.chance(0.2) ? g_.classifier(y, 3) : y;
  }

  Exported g_;
  Rng rng_;
  std::vector<ValueId> values_;
};

int64_t number_of_graphs() {
  const char* given = std::getenv("TILEWRIGHT_RANDOM_GRAPHS");  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr ? 150 : std::atoll(given);
}

// Results that consist of rounding errors only are not compared.
bool is_stable(const Graph& graph, const std::vector<Constant>& inputs,
               const std::vector<Constant>& outputs) {
  std::vector<Constant> nearby;
  for (const Constant& input : inputs) {
    std::vector<double> numbers = numbers_of(input);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] += i % 2 == 0 ? 1e-6 : -1e-6;
    nearby.push_back(of_numbers(input.type(), numbers));
  }
  return largest_error(outputs, evaluate_graph(graph, nearby)) < 1e-4;
}

TEST(RandomGraphs, ComputeTheSameAfterPasses) {
  for (int64_t seed = 0; seed < number_of_graphs(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = Grower(static_cast<uint64_t>(seed)).grow(8 + static_cast<int>(seed % 9));
    const std::vector<Constant> inputs = random_inputs(graph, 3);
    const std::vector<Constant> before = evaluate_graph(graph, inputs);
    if (!is_stable(graph, inputs, before)) continue;
    const auto all = run_passes(graph, {});
    ASSERT_TRUE(all.has_value()) << all.error().message << "\n" << graph.to_string();
    ASSERT_LT(largest_error(before, evaluate_graph(*all, inputs)), 1e-3)
        << graph.to_string() << "became\n"
        << all->to_string();
    std::set<std::string_view> seen;
    for (const Pass& pass : all_passes()) {
      if (!seen.insert(pass.name).second) continue;
      const Graph changed = after(graph, pass.run);
      if (changed.to_string() == graph.to_string()) continue;
      ASSERT_LT(largest_error(before, evaluate_graph(changed, inputs)), 1e-3) << pass.name << "\n"
                                                                              << graph.to_string();
    }
  }
}

}  // namespace
}  // namespace tilewright::graph
