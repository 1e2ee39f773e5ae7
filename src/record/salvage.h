// salvage: reads a store whose file is damaged or truncated. All work is done on a private copy in
// the temporary folder; the file is only read.
//
//   const Salvaged saved = TRY(salvage("cut.db", error));
//   export_ndjson(saved.store, ...);    what could be read
//
// Every row is saved that SQLite can still find from the root of its table, if the rows that it
// refers to are saved too. An attempt whose content is not that of its id is lost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/stop_token.h"
#include "base/temporary_folder.h"
#include "record/store.h"

namespace tilewright::record {

struct Salvaged {
  TemporaryFolder folder;  // of the copy
  Store store;             // the saved rows, to be read
  std::string damage;      // in words: "it has 90 of its 100 pages"
  int64_t lost = 0;        // rows that were found, but cannot be read or lack another row
};

// `why`: the error of opening or reading the file. It is returned if the file is not a store that
// this version can read. Another error says that nothing can be read. A stop is an error.
Result<Salvaged> salvage(const std::filesystem::path& path, const Error& why,
                         const StopToken& stop = {});

}  // namespace tilewright::record
