// The oneDNN peer: one workload through oneDNN's own C++ interface, timed by the benches' protocol.
//
// It gets the best oneDNN has: every layout it can choose is tried once at `prepare` and the
// fastest stays; moving operands into the chosen layout is done outside the timed call, activations
// too. The convolution is the direct algorithm, all arithmetic is f32. bench/harness/peers.py
// builds it.

#include <omp.h>

#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "bench/protocol.h"

namespace {

using dnnl::memory;
using Json = nlohmann::json;
using Dims = memory::dims;

// Who chooses the layouts: Plain = row-major as the user has it; PackedWeights = oneDNN for the
// weights; Free = oneDNN for everything.
enum class Layout { Plain, PackedWeights, Free };
constexpr std::array kLayouts = {Layout::Plain, Layout::PackedWeights, Layout::Free};

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::Plain:
      return "plain";
    case Layout::PackedWeights:
      return "packed weights";
    case Layout::Free:
      return "free";
  }
  return "";
}

// A primitive of oneDNN and how it wants its operands. Softmax has no weights.
struct Plan {
  dnnl::primitive primitive;
  memory::desc src, dst;
  std::optional<memory::desc> weights;
  std::string implementation;
};

// The operands as the files hold them: row-major, seen through the dimension order of oneDNN.
struct UserLayout {
  memory::desc src, dst;
  std::optional<memory::desc> weights;
};

memory::desc any(const memory::desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), memory::format_tag::any};
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

memory::desc row_major(const Dims& dims) {
  return {dims, memory::data_type::f32, row_major_strides(dims)};
}

// [n, spatial..., c] in memory -> dimensions (n, c, spatial...).
memory::desc channels_last(const Dims& shape) {
  const Dims strides = row_major_strides(shape);
  Dims dims = {shape.front(), shape.back()};
  Dims order = {strides.front(), strides.back()};
  dims.insert(dims.end(), shape.begin() + 1, shape.end() - 1);
  order.insert(order.end(), strides.begin() + 1, strides.end() - 1);
  return {dims, memory::data_type::f32, order};
}

// [kernel..., ci/g, co] in memory -> dimensions (g, co/g, ci/g, kernel...), without g where it
// is 1.
memory::desc grouped_weights(const Dims& shape, memory::dim groups) {
  const Dims strides = row_major_strides(shape);
  const std::size_t rank = shape.size();
  Dims dims = {shape[rank - 1] / groups, shape[rank - 2]};
  Dims order = {1, strides[rank - 2]};
  dims.insert(dims.end(), shape.begin(), shape.end() - 2);
  order.insert(order.end(), strides.begin(), strides.end() - 2);
  if (groups > 1) {
    dims.insert(dims.begin(), groups);
    order.insert(order.begin(), shape[rank - 1] / groups);
  }
  return {dims, memory::data_type::f32, order};
}

Plan plan_matmul(const dnnl::engine& engine, const UserLayout& user, Layout layout) {
  const bool free = layout == Layout::Free;
  const dnnl::matmul::primitive_desc desc(
      engine, free ? any(user.src) : user.src,
      layout == Layout::Plain ? *user.weights : any(*user.weights),
      free ? any(user.dst) : user.dst);
  return {dnnl::matmul(desc), desc.src_desc(), desc.dst_desc(), desc.weights_desc(),
          desc.impl_info_str()};
}

Plan plan_convolution(const dnnl::engine& engine, const UserLayout& user, Layout layout,
                      const Json& params) {
  const std::size_t spatial = user.src.get_dims().size() - 2;
  const Dims stride(spatial, params.at("stride").get<memory::dim>());
  const Dims dilation(spatial, params.value("dilation", memory::dim{1}) - 1);
  const Dims pad(spatial, params.at("pad").get<memory::dim>());
  const bool free = layout == Layout::Free;
  const dnnl::convolution_forward::primitive_desc desc(
      engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      free ? any(user.src) : user.src, layout == Layout::Plain ? *user.weights : any(*user.weights),
      free ? any(user.dst) : user.dst, stride, dilation, pad, pad);
  return {dnnl::convolution_forward(desc), desc.src_desc(), desc.dst_desc(), desc.weights_desc(),
          desc.impl_info_str()};
}

Plan plan_softmax(const dnnl::engine& engine, const UserLayout& user) {
  const int axis = static_cast<int>(user.src.get_dims().size()) - 1;
  const dnnl::softmax_forward::primitive_desc desc(engine, dnnl::prop_kind::forward_inference,
                                                   dnnl::algorithm::softmax_accurate, user.src,
                                                   user.dst, axis);
  return {dnnl::softmax_forward(desc), desc.src_desc(), desc.dst_desc(), std::nullopt,
          desc.impl_info_str()};
}

void read_operand(const std::string& path, const memory& into) {
  std::ifstream file(path, std::ios::binary);
  const auto bytes = static_cast<std::streamsize>(into.get_desc().get_size());
  if (!file.read(static_cast<char*>(into.get_data_handle()), bytes))
    throw std::runtime_error("cannot read " + path);
}

// One workload in one layout, its operands loaded and laid out.
class Candidate {
 public:
  Candidate(const dnnl::engine& engine, const UserLayout& user, Plan plan,
            const std::string& src_file, const std::string& weights_file)
      : engine_(engine), stream_(engine), user_dst_(user.dst), plan_(std::move(plan)) {
    arguments_[DNNL_ARG_SRC] = load(src_file, user.src, plan_.src);
    if (plan_.weights)
      arguments_[DNNL_ARG_WEIGHTS] = load(weights_file, *user.weights, *plan_.weights);
    arguments_[DNNL_ARG_DST] = memory(plan_.dst, engine_);
  }

  void call() {
    plan_.primitive.execute(stream_, arguments_);
    stream_.wait();
  }

  // The output in the user's row-major layout.
  void write_output(const std::string& path) {
    memory plain(user_dst_, engine_);
    dnnl::reorder(arguments_[DNNL_ARG_DST], plain)
        .execute(stream_, arguments_[DNNL_ARG_DST], plain);
    stream_.wait();
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(plain.get_data_handle()),
               static_cast<std::streamsize>(plain.get_desc().get_size()));
    if (!file) throw std::runtime_error("cannot write " + path);
  }

  const std::string& implementation() const { return plan_.implementation; }

 private:
  memory load(const std::string& path, const memory::desc& user, const memory::desc& wanted) {
    memory plain(user, engine_);
    read_operand(path, plain);
    if (user == wanted) return plain;
    memory packed(wanted, engine_);
    dnnl::reorder(plain, packed).execute(stream_, plain, packed);
    stream_.wait();
    return packed;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  memory::desc user_dst_;
  Plan plan_;
  std::unordered_map<int, memory> arguments_;
};

// The workload's user layouts, operand names and plans by layout.
struct Problem {
  UserLayout user;
  std::string src, weights;
  std::function<Plan(const dnnl::engine&, Layout)> plan;
  std::vector<Layout> layouts{kLayouts.begin(), kLayouts.end()};
};

Problem problem_of(const Json& spec) {
  const auto op = spec.at("workload").at("op").get<std::string>();
  const Json params = spec.at("workload").at("params");
  const auto shape = [&](const char* operand) { return spec.at("shapes").at(operand).get<Dims>(); };
  Problem problem;
  UserLayout& user = problem.user;
  if (op == "matmul" || op == "batch_matmul") {
    user = {row_major(shape("A")), row_major(shape("C")), row_major(shape("B"))};
    problem.src = "A";
    problem.weights = "B";
    problem.plan = [user](const dnnl::engine& engine, Layout layout) {
      return plan_matmul(engine, user, layout);
    };
  } else if (op == "conv1d" || op == "conv2d" || op == "conv3d" || op == "depthwise_conv2d") {
    user = {channels_last(shape("X")), channels_last(shape("Y")),
            grouped_weights(shape("W"), params.value("groups", memory::dim{1}))};
    problem.src = "X";
    problem.weights = "W";
    problem.plan = [user, params](const dnnl::engine& engine, Layout layout) {
      return plan_convolution(engine, user, layout, params);
    };
  } else if (op == "softmax") {
    user = {row_major(shape("X")), row_major(shape("Y")), std::nullopt};
    problem.src = "X";
    problem.plan = [user](const dnnl::engine& engine, Layout) {
      return plan_softmax(engine, user);
    };
    problem.layouts = {Layout::Plain};
  } else {
    throw std::runtime_error("this worker has no " + op);
  }
  return problem;
}

tilewright::bench::Prepared prepare(const std::string& text) {
  const Json spec = Json::parse(text);
  omp_set_num_threads(spec.at("threads").get<int>());
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const Problem problem = problem_of(spec);
  const std::string folder = spec.at("input_dir").get<std::string>() + "/";

  constexpr double kTrialSeconds = 0.1;
  std::shared_ptr<Candidate> best;
  std::string best_layout;
  std::string why_not = "no layout";
  auto best_ns = std::numeric_limits<std::int64_t>::max();
  for (const Layout layout : problem.layouts) {
    try {
      auto candidate = std::make_shared<Candidate>(
          engine, problem.user, problem.plan(engine, layout), folder + problem.src + ".bin",
          folder + problem.weights + ".bin");
      const auto durations_ns =
          tilewright::bench::run_slice([&] { candidate->call(); }, kTrialSeconds);
      const std::int64_t median_ns = durations_ns[(durations_ns.size() - 1) / 2];
      if (median_ns >= best_ns) continue;
      best_ns = median_ns;
      best = std::move(candidate);
      best_layout = name_of(layout);
    } catch (const dnnl::error& e) {  // this layout is not offered; another may be
      why_not = e.what();
    }
  }
  if (!best) throw std::runtime_error("oneDNN: " + why_not);
  if (spec.contains("output_file")) best->write_output(spec.at("output_file"));

  const dnnl_version_t* version = dnnl_version();
  const Json ready = {
      {"version", std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                      std::to_string(version->patch)},
      {"detail", best->implementation() + ", layouts " + best_layout}};
  return {ready.dump(), [best] { best->call(); }};
}

}  // namespace

int main() { tilewright::bench::serve(prepare); }
