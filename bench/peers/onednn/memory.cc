#include "bench/peers/onednn/memory.h"

#include <fstream>
#include <stdexcept>

namespace onednn_peer {

Dims row_major_strides(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

memory::desc row_major(const Dims& shape) {
  return {shape, memory::data_type::f32, row_major_strides(shape)};
}

memory::desc reordered(const Dims& shape, const std::vector<std::size_t>& order) {
  const Dims strides = row_major_strides(shape);
  Dims dims, dim_strides;
  for (const std::size_t d : order) {
    dims.push_back(shape[d]);
    dim_strides.push_back(strides[d]);
  }
  return {dims, memory::data_type::f32, dim_strides};
}

memory::desc channels_last(const Dims& shape) {
  std::vector<std::size_t> order = {0, shape.size() - 1};
  for (std::size_t d = 1; d + 1 < shape.size(); ++d) order.push_back(d);
  return reordered(shape, order);
}

memory::desc grouped_weights(const Dims& shape, memory::dim groups) {
  const std::size_t rank = shape.size();
  Dims split(shape.begin(), shape.end() - 1);  // [kernel..., ci/g, g, co/g]
  split.insert(split.end(), {groups, shape.back() / groups});
  std::vector<std::size_t> order = {rank - 1, rank, rank - 2};
  for (std::size_t d = 0; d + 2 < rank; ++d) order.push_back(d);
  if (groups == 1) order.erase(order.begin());
  return reordered(split, order);
}

memory::desc any(const memory::desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), memory::format_tag::any};
}

memory Context::load(const std::string& operand, const memory::desc& user) {
  memory plain(user, engine_);
  const std::string path = folder_ + "/" + operand + ".bin";
  std::ifstream file(path, std::ios::binary);
  const auto bytes = static_cast<std::streamsize>(user.get_size());
  if (!file.read(static_cast<char*>(plain.get_data_handle()), bytes))
    throw std::runtime_error("cannot read " + path);
  return plain;
}

memory Context::lay_out(const memory& from, const memory::desc& wanted) {
  if (from.get_desc() == wanted) return from;
  memory source = from, target(wanted, engine_);
  dnnl::reorder(source, target).execute(stream_, source, target);
  stream_.wait();
  return target;
}

memory Context::transpose(const memory& from, const Dims& shape,
                          const std::vector<std::size_t>& order, const memory::desc& as) {
  const memory::desc seen = reordered(shape, order);
  memory source(seen, engine_, from.get_data_handle());
  memory result(as, engine_);
  memory target(row_major(seen.get_dims()), engine_, result.get_data_handle());
  dnnl::reorder(source, target).execute(stream_, source, target);
  stream_.wait();
  return result;
}

}  // namespace onednn_peer
