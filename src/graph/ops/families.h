// The rows of the operator table: one function per family, which is one file of this folder.
#pragma once

#include <span>

#include "graph/op_table.h"

namespace tilewright::graph {

std::span<const OpDef> map_ops();       // of several operands, elementwise
std::span<const OpDef> unary_ops();     // functions of one operand
std::span<const OpDef> quantize_ops();  // quantize_linear, dequantize_linear, batch_norm
std::span<const OpDef> move_ops();      // reshape, transpose, slice, concat, pad, tile, ...
std::span<const OpDef> index_ops();     // gather, scatter, one_hot
std::span<const OpDef> resize_ops();
std::span<const OpDef> reduce_ops();  // reduce, arg_reduce, cum_sum
std::span<const OpDef> softmax_ops();
std::span<const OpDef> norm_ops();  // layer_norm, rms_norm, group_norm, lrn, lp_norm
std::span<const OpDef> pool_ops();
std::span<const OpDef> contract_ops();
std::span<const OpDef> attention_ops();
std::span<const OpDef> conv_ops();  // conv, conv_transpose
std::span<const OpDef> winograd_ops();

}  // namespace tilewright::graph
