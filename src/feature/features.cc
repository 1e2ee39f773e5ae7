#include "feature/features.h"

#include "feature/rows.h"
#include "feature/rows_table.h"

namespace tilewright::feature {
namespace {

class Features : public Encoder {
 public:
  explicit Features(const EncodingContext& context) : extractor_(*context.task, *context.machine) {}

  size_t width() const override { return feature_count(); }
  int version() const override { return kFeatureVersion; }
  bool compares_across_tasks() const override { return true; }
  EncodedFrom encoded_from() const override { return EncodedFrom::Program; }

 private:
  bool do_append(const ProgramView& program, Encoded* out) override {
    extractor_.append(*program.tree, out);
    return true;
  }

  FeatureExtractor extractor_;
};

}  // namespace

EncodingRow features_encoding() {
  return make_row<std::unique_ptr<Encoder>, EncodingContext>(
      "features", "numbers of each innermost statement, from the loops (docs/features.md)",
      NoOptions{}, [](const EncodingContext& context, const NoOptions&) {
        return std::make_unique<Features>(context);
      });
}

}  // namespace tilewright::feature
