#include "toy_encoding.h"

#include <cmath>

namespace tilewright::toys {
namespace {

class Splits : public feature::Encoder {
 public:
  size_t width() const override { return 3; }
  int version() const override { return 1; }
  bool compares_across_tasks() const override { return true; }

 private:
  bool do_append(const feature::ProgramView& program, feature::Encoded* out) override {
    uint32_t rows = 0;
    for (const schedule::Step& step : program.trace->steps) {
      const auto* const split = std::get_if<schedule::Split>(&step);
      if (split == nullptr || split->factors.empty()) continue;
      const float size = std::log2(static_cast<float>(split->factors.back()));
      out->values.insert(out->values.end(), {size, size * size, 1});
      ++rows;
    }
    if (rows == 0) {  // a program has at least one row
      out->values.insert(out->values.end(), {0, 0, 0});
      ++rows;
    }
    out->begin.push_back(out->begin.back() + rows);
    return true;
  }
};

}  // namespace

feature::EncodingRow toy_encoding() {
  return make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
      "splits", "the last factor of each split", NoOptions{},
      [](const feature::EncodingContext&, const NoOptions&) { return std::make_unique<Splits>(); });
}

}  // namespace tilewright::toys
