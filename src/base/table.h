// Table: an ordered list of rows that are selected by name, with options: explorers, cost models,
// encodings. A row has a name, a one-line description, options with defaults (base/options.h) and a
// factory. Selection: the name of a row with its options.
//
//   const Selection chosen = TRY(explorers().parse("evolution:population=512"));
//   const auto explorer = TRY(explorers().make(chosen, context));
//   chosen.text()                        // evolution:population=512
//
// A value. A test or an embedding program copies a built-in table and adds rows to the copy;
// several rows may share a factory with different defaults. Rows of the library's tables are
// built-in, also in copies; all others are custom. Immutable after construction: threads may share
// it.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/options.h"

namespace tilewright {

// Canonical: equal selections have equal texts, however the user wrote them. An option that selects
// a row of another table is canonical if Table::parse was given the canonical text of that table.
struct Selection {
  std::string name;
  std::string options{};  // as written by print_options

  std::string text() const { return options.empty() ? name : name + ":" + options; }
  bool operator==(const Selection&) const = default;
};

template <class Product, class Context>
struct TableRow {
  std::string name;
  std::string what;
  std::vector<OptionInfo> options;
  // `nested` makes selections among the options canonical; null: they stay as written.
  std::function<Result<std::string>(std::string_view options, const CanonicalText& nested)>
      canonical;
  std::function<Result<Product>(const Context& context, std::string_view options)> make;
};

// A row whose options are an aggregate with a field list. `make(context, options)` returns a
// Product or a Result of one.
template <class Product, class Context, class Options, class Make>
TableRow<Product, Context> make_row(std::string name, std::string what, const Options& defaults,
                                    Make make) {
  TableRow<Product, Context> row;
  row.options = describe_options(defaults);
  row.canonical = [name, defaults](std::string_view text,
                                   const CanonicalText& nested) -> Result<std::string> {
    Options options = TRY(parse_options(name, text, defaults));
    if (nested) TRY(canonicalize_nested(name, nested, &options));
    return print_options(options, defaults);
  };
  row.make = [name, defaults, make](const Context& context,
                                    std::string_view text) -> Result<Product> {
    return make(context, TRY(parse_options(name, text, defaults)));
  };
  row.name = std::move(name);
  row.what = std::move(what);
  return row;
}

// The description of a row, for messages and help.
struct TableEntry {
  std::string_view name, what;
  const std::vector<OptionInfo>* options;
};
std::string table_names(const std::vector<TableEntry>& entries);  // `evolution, random, beam`
// One line per row, followed by one line per option: name, default and meaning.
std::string table_text(const std::vector<TableEntry>& entries);
// The same as rows of a table in Markdown.
std::string table_markdown(const std::vector<TableEntry>& entries);

template <class Product, class Context>
class Table {
 public:
  using Row = TableRow<Product, Context>;

  // A table of the caller: all rows are custom. `noun` names a row in messages: `cost model`.
  Table(std::string_view noun, std::vector<Row> rows) : noun_(noun), rows_(std::move(rows)) {}

  // A table of the library. The products of its rows change only with the versions of the library.
  static Table built_in(std::string_view noun, std::vector<Row> rows) {
    Table table(noun, std::move(rows));
    table.built_in_ = table.rows_.size();
    return table;
  }

  // Adds a custom row with a unique name.
  void add(Row row) {
    CHECK(find(row.name) == nullptr, "two rows '{}'", row.name);
    rows_.push_back(std::move(row));
  }

  const std::vector<Row>& rows() const { return rows_; }
  const Row* find(std::string_view name) const {
    const auto found = std::ranges::find(rows_, name, &Row::name);
    return found != rows_.end() ? &*found : nullptr;
  }
  // False for a custom row and for an unknown name.
  bool is_built_in(std::string_view name) const {
    const Row* const row = find(name);
    return row != nullptr && static_cast<size_t>(row - rows_.data()) < built_in_;
  }

  // NAME or NAME:OPTION=VALUE,...
  Result<Selection> parse(std::string_view text, const CanonicalText& nested = {}) const {
    const size_t colon = std::min(text.find(':'), text.size());
    const Row* const row = TRY(row_of(text.substr(0, colon)));
    const std::string_view options = text.substr(std::min(colon + 1, text.size()));
    std::string canonical = TRY(row->canonical(options, nested));
    return Selection{.name = row->name, .options = std::move(canonical)};
  }
  Result<Product> make(const Selection& selection, const Context& context) const {
    const Row* const row = TRY(row_of(selection.name));
    return row->make(context, selection.options);
  }

  std::vector<TableEntry> entries() const {
    std::vector<TableEntry> entries;
    entries.reserve(rows_.size());
    for (const Row& row : rows_) entries.push_back({row.name, row.what, &row.options});
    return entries;
  }

 private:
  Result<const Row*> row_of(std::string_view name) const {
    if (const Row* const row = find(name)) return row;
    return fail(ErrorKind::BadInput, "there is no " + noun_ + " '" + std::string(name) +
                                         "'; there are " + table_names(entries()));
  }

  std::string noun_;
  std::vector<Row> rows_;
  size_t built_in_ = 0;  // number of built-in rows, which come first
};

}  // namespace tilewright
