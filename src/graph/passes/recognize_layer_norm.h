// Recognizes decomposed norms over the last dimensions, and absorbs the scale and bias after them.
// In a model with convolutions, a norm over channels in another dimension is put between
// transposes, which channels_last removes.
//
//   d = x - mean(x); d / sqrt(mean(d * d) + eps)     ->   layer_norm(x; axis, epsilon)
//   x * rsqrt(mean(x * x) + eps)                     ->   rms_norm(x; axis, epsilon)
//   layer_norm(x) * w, + b                           ->   layer_norm(x, w, b)
//   cast(rms_norm(cast(x, f32)), f16)                ->   rms_norm(x), which computes in f32
//
// Permission `reassociate`.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_layer_norm(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
