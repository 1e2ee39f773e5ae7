#include "task/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/json.h"
#include "task/suite_data.h"
#include "te/ops/near_names.h"
#include "te/ops/table.h"

namespace tilewright {
namespace {

struct Suite {
  std::vector<SuiteRow> rows;
  Json workloads;  // next to `rows`
};

// The text is embedded in the program, so an error in it is a bug: CHECK.
template <class T>
T value(const Result<T>& result) {
  CHECK(result.has_value(), "suite.json: {}", result.error().message);
  return *result;
}

const Suite& suite() {
  static const Suite loaded = [] {
    const Json json = value(parse_json(kSuiteJson));
    const Json* workloads = find_member(json, "workloads");
    CHECK(workloads != nullptr && workloads->is_array(), "suite.json has no workloads");
    Suite made{.rows = {}, .workloads = *workloads};
    for (const Json& row : *workloads) {
      made.rows.push_back({.name = value(member<std::string>(row, "name")),
                           .op = value(member<std::string>(row, "op")),
                           .flop = static_cast<double>(value(member<int64_t>(row, "flop")))});
    }
    return made;
  }();
  return loaded;
}

struct SuiteName {
  size_t row = 0;
  int64_t batch = 1;
};

std::optional<size_t> find_row(std::string_view name) {
  const auto& rows = suite().rows;
  const auto found = std::ranges::find(rows, name, &SuiteRow::name);
  if (found == rows.end()) return {};
  return static_cast<size_t>(found - rows.begin());
}

// `C2D2.b16` -> the row of C2D2 and 16.
std::optional<SuiteName> parse_name(std::string_view name) {
  if (const auto row = find_row(name)) return SuiteName{.row = *row};
  const size_t dot = name.rfind(".b");
  if (dot == std::string_view::npos) return {};
  const std::string_view digits = name.substr(dot + 2);
  int64_t batch = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), batch);
  const auto row = find_row(name.substr(0, dot));
  if (!row || code != std::errc{} || end != digits.data() + digits.size() || batch < 1 ||
      batch > te::kMaxParameter) {
    return {};
  }
  return SuiteName{.row = *row, .batch = batch};
}

std::unexpected<Error> unknown(std::string_view name) {
  std::vector<std::string> names;
  for (const SuiteRow& row : suite().rows) names.push_back(row.name);
  return fail(ErrorKind::BadInput,
              fmt::format("the suite has no workload '{}'{} (names are such as C2D2 or C2D2.b16)",
                          name, te::did_you_mean(name, names)));
}

// in_spatial: [14, 28] -> h=14, w=28.
void add_extents(te::KeyValues& pairs, const SuiteRow& row, const Json& extents) {
  static const std::vector<std::vector<std::string>> names = {{"l"}, {"h", "w"}, {"d", "h", "w"}};
  CHECK(!extents.empty() && extents.size() <= names.size(), "suite.json: {} has {} dimensions",
        row.name, extents.size());
  const std::vector<std::string>& chosen = names[extents.size() - 1];
  for (size_t d = 0; d < chosen.size(); ++d) {
    pairs.emplace_back(chosen[d], std::to_string(extents[d].get<int64_t>()));
  }
}

// The parameters of a row with the names of the operator table.
Result<te::KeyValues> key_values(const te::Operator& op, const SuiteRow& row, const Json& json,
                                 int64_t batch) {
  te::KeyValues pairs;
  bool multiplied = batch == 1;
  const Json* params = find_member(json, "params");
  CHECK(params != nullptr, "suite.json: {} has no params", row.name);
  for (const auto& [key, param] : params->items()) {
    if (key == "out_spatial") continue;
    if (key == "in_spatial") {
      add_extents(pairs, row, param);
      continue;
    }
    int64_t number = param.get<int64_t>();
    if (key == op.batch && batch != 1) {
      multiplied = true;
      if (__builtin_mul_overflow(number, batch, &number)) number = te::kMaxParameter;
    }
    pairs.emplace_back(key, std::to_string(number));
  }
  if (!multiplied) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} has no batch: {} takes no suffix .b{}", row.name, op.name, batch));
  }
  const std::vector<std::string> constants = json.value("constant", std::vector<std::string>{});
  pairs.emplace_back("constant",
                     constants.empty() ? "none" : fmt::format("{}", fmt::join(constants, "+")));
  return pairs;
}

}  // namespace

const std::vector<SuiteRow>& suite_rows() { return suite().rows; }

bool is_suite_name(std::string_view name) { return parse_name(name).has_value(); }

Result<Workload> suite_workload(std::string_view name) {
  const auto parsed = parse_name(name);
  if (!parsed) return unknown(name);
  const SuiteRow& row = suite().rows[parsed->row];
  const te::Operator* op = te::find_operator(row.op);
  CHECK(op != nullptr, "suite.json: {} has the operator {}, which the table lacks", row.name,
        row.op);
  const auto pairs = TRY(key_values(*op, row, suite().workloads[parsed->row], parsed->batch));
  auto instance = TRY(te::instantiate(*op, pairs));
  return make_workload(instance.dag, instance.constants, std::string(name));
}

}  // namespace tilewright
