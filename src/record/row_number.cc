#include "record/row_number.h"

#include "base/check.h"
#include "record/database.h"

namespace tilewright::record {

int64_t put_candidate(Database& database, int64_t task, const Hash128& program, int64_t shape,
                      std::string_view numbers) {
  const Hash128 content = Hasher()
                              .add_signed(task)
                              .add(program.high)
                              .add(program.low)
                              .add_signed(shape)
                              .add_text(numbers)
                              .finish();
  for (int64_t number = first_number(content); number <= last_number(content); ++number) {
    database
        .statement(
            "INSERT OR IGNORE INTO candidates(id, task, program, shape, numbers) "
            "VALUES (?, ?, ?, ?, ?)")
        .with(number, task, program, shape, Blob{numbers})
        .run();
    if (database.failed() || database.changes() > 0) return number;
    Statement& there =
        database.statement("SELECT task, program, shape, numbers FROM candidates WHERE id = ?")
            .with(number);
    const bool same = there.next() && there.integer(0) == task && there.hash(1) == program &&
                      there.integer(2) == shape && there.text(3) == numbers;
    there.reset();
    if (same || database.failed()) return number;
  }
  CHECK(false, "{} candidates have hashes next to each other", kMaxTries);
  return 0;
}

}  // namespace tilewright::record
