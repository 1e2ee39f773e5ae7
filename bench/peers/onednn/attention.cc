#include "bench/peers/onednn/attention.h"

#include <cmath>

#include "bench/peers/onednn/products.h"
#include "bench/peers/onednn/rows.h"

namespace onednn_peer {

// Q K^T of Q[b, seq, heads, dim] and K likewise, read in place; softmax in place if requested.
std::vector<Variant> scores(const Request& request) {
  const Dims q = request.shape("Q");
  const Product product{reordered(q, {0, 2, 1, 3}), reordered(q, {0, 2, 3, 1}),
                        row_major(request.shape("S"))};
  const bool normalized = request.op == "transpose_batch_matmul_softmax";
  return in_all_layouts([=](Context& context, Layout layout) -> Program {
    const PlannedProduct planned = plan_product(context, product, context.load("Q", product.a),
                                                context.load("K", product.b), layout);
    Program program{{planned.step()}, laid_out(planned.c, product.c)};
    if (normalized) program.steps.push_back(softmax_over_last(context, planned.c, planned.c));
    return program;
  });
}

// softmax(Q K^T / sqrt(dim)) V; the second product reads the scores in the layout that the first
// one wrote.
std::vector<Variant> attention(const Request& request) {
  const Dims q = request.shape("Q");
  const memory::desc rows = row_major(q), columns = reordered(q, {0, 1, 3, 2});
  const memory::desc scores = row_major({q[0], q[1], q[2], q[2]});
  const Product first{rows, columns, scores, 1.0f / std::sqrt(static_cast<float>(q[3]))};
  return in_all_layouts([=](Context& context, Layout layout) -> Program {
    const PlannedProduct to_scores = plan_product(context, first, context.load("Q", first.a),
                                                  context.load("K", first.b), layout);
    const memory& s = to_scores.c;
    const Product second{s.get_desc(), rows, rows};
    const Layout values = layout == Layout::Plain ? layout : Layout::PackedWeights;
    const PlannedProduct to_rows =
        plan_product(context, second, s, context.load("V", rows), values);
    return {{to_scores.step(), softmax_over_last(context, s, s), to_rows.step()},
            laid_out(to_rows.c, rows)};
  });
}

}  // namespace onednn_peer
