// Operands of a workload as oneDNN memory. The files are row-major; oneDNN orders the dimensions of
// a convolution (n, c, spatial...) and reads the memory through strides. All operands are f32.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace onednn_peer {

using dnnl::memory;
using Dims = memory::dims;

Dims row_major_strides(const Dims& shape);

memory::desc row_major(const Dims& shape);

// The dimensions of a row-major tensor in another order: {0, 2, 1, 3} makes [b, s, h, d] a tensor
// with the dimensions (b, h, s, d).
memory::desc reordered(const Dims& shape, const std::vector<std::size_t>& order);

// [n, spatial..., c] in memory -> dimensions (n, c, spatial...).
memory::desc channels_last(const Dims& shape);

// [kernel..., ci/g, co] in memory -> dimensions (g, co/g, ci/g, kernel...), without g if it is 1.
memory::desc grouped_weights(const Dims& shape, memory::dim groups);

// The same dimensions in a layout that oneDNN chooses.
memory::desc any(const memory::desc& desc);

// The engine with a stream, and the folder of the inputs.
class Context {
 public:
  Context(const dnnl::engine& engine, std::string folder)
      : engine_(engine), stream_(engine), folder_(std::move(folder)) {}

  const dnnl::engine& engine() const { return engine_; }
  dnnl::stream& stream() { return stream_; }

  // FOLDER/<operand>.bin, unchanged, described by `user`.
  memory load(const std::string& operand, const memory::desc& user);
  // The same elements in the layout `wanted`; `from` itself if it has that layout.
  memory lay_out(const memory& from, const memory::desc& wanted);
  // Permutes the dimensions of a row-major tensor of `shape`. The result is row-major and described
  // by `as`: [2, 3, 5] by {0, 2, 1} is [2, 5, 3], which `as` may describe as [10, 3].
  memory transpose(const memory& from, const Dims& shape, const std::vector<std::size_t>& order,
                   const memory::desc& as);

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::string folder_;
};

}  // namespace onednn_peer
