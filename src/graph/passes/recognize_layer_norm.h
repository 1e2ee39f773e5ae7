// Norms that are spelled out, and what is multiplied and added behind. They go over the last
// dimensions; in a model with convolutions one over another dimension, the channels, is put between
// transposes, which channels_last takes away.
//
//   d = x - mean(x); d / sqrt(mean(d * d) + eps)     ->   layer_norm(x; axis, epsilon)
//   x * rsqrt(mean(x * x) + eps)                     ->   rms_norm(x; axis, epsilon)
//   layer_norm(x) * w, + b                           ->   layer_norm(x, w, b)
//   cast(rms_norm(cast(x, f32)), f16)                ->   rms_norm(x), which computes in f32
//
// By permission `reassociate`.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_layer_norm(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
