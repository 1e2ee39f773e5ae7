#include "feature/encodings.h"

#include "feature/features.h"
#include "feature/knobs.h"

namespace tilewright::feature {

const EncodingTable& encodings() {
  static const EncodingTable table = EncodingTable::built_in("encoding", {
                                                                             features_encoding(),
                                                                             knobs_encoding(),
                                                                         });
  return table;
}

}  // namespace tilewright::feature
