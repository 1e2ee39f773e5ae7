#include "space/sketch_rules.h"

#include "space/rules/chain_nest.h"
#include "space/rules/rfactor.h"
#include "space/rules/row_nest.h"
#include "space/rules/small_rules.h"
#include "space/rules/tile.h"

namespace tilewright::space {

std::vector<SketchRule> sketch_rules(const Target& /*target*/) {
  return {
      always_inline_rule(), simplify_const_index_rule(), rfactor_rule(),       chain_nest_rule(),
      row_nest_rule(),      cache_write_rule(),          tile_and_fuse_rule(), tile_rule(),
      skip_rule()};
}

}  // namespace tilewright::space
