#include "record/parse_line.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/json.h"
#include "record/permissions.h"
#include "record/print_line.h"

namespace tilewright::record {
namespace {

namespace ondemand = simdjson::ondemand;

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::BadInput, std::move(message));
}
// Not malformed, but from another version of this program.
std::unexpected<Error> not_known(std::string message) {
  return fail(ErrorKind::Unsupported, std::move(message));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool parse_hash(std::string_view text, Hash128* hash) {
  if (text.size() != 32) return false;
  *hash = {};
  for (size_t k = 0; k < 32; ++k) {
    const int digit = hex_digit(text[k]);
    if (digit < 0) return false;
    uint64_t& word = k < 16 ? hash->high : hash->low;
    word = word << 4 | static_cast<uint64_t>(digit);
  }
  return true;
}

// ---- values: true when it is one of that sort ----

bool read(ondemand::value& value, int64_t* out) { return value.get_int64().get(*out) == 0; }

bool read(ondemand::value& value, double* out) {
  return value.get_double().get(*out) == 0 && std::isfinite(*out);
}

bool read(ondemand::value& value, Hash128* out) {
  std::string_view text;
  return value.get_string().get(text) == 0 && parse_hash(text, out);
}

bool read_hex(ondemand::value& value, std::string* out) {
  ondemand::object object;
  std::string_view hex;
  if (value.get_object().get(object) || object["hex"].get_string().get(hex)) return false;
  if (hex.size() % 2 != 0) return false;
  out->clear();
  for (size_t k = 0; k < hex.size(); k += 2) {
    const int high = hex_digit(hex[k]);
    const int low = hex_digit(hex[k + 1]);
    if (high < 0 || low < 0) return false;
    *out += static_cast<char>(high << 4 | low);
  }
  return !simdjson::validate_utf8(*out);  // otherwise it is written as a string
}

bool read(ondemand::value& value, std::string* out) {
  std::string_view text;
  ondemand::json_type type{};
  if (value.type().get(type)) return false;
  if (type == ondemand::json_type::object) return read_hex(value, out);
  if (value.get_string().get(text)) return false;
  out->assign(text);
  return true;
}

bool read(ondemand::value& value, std::vector<double>* out) {
  out->clear();
  ondemand::array array;
  if (value.get_array().get(array)) return false;
  for (auto item : array) {
    double number = 0;
    if (item.get_double().get(number) || !std::isfinite(number)) return false;
    out->push_back(number);
  }
  return true;
}

// ---- members ----

// The members of one type of line by name, in the order in which they are written. They usually
// occur in that order, so the search starts after the last one found.
template <size_t N>
class Members {
 public:
  explicit Members(const std::array<std::string_view, N>& names) : names_(names) {}

  // N for an unknown name.
  size_t find(std::string_view name) {
    for (size_t k = 0; k < N; ++k) {
      const size_t at = (next_ + k) % N;
      if (names_[at] != name) continue;
      next_ = at + 1;
      return at;
    }
    return N;
  }
  bool first_time(size_t at) {
    const uint64_t bit = uint64_t{1} << at;
    const bool first = (seen_ & bit) == 0;
    seen_ |= bit;
    return first;
  }
  bool has(size_t at) const { return (seen_ >> at & 1) != 0; }

 private:
  const std::array<std::string_view, N>& names_;
  size_t next_ = 0;
  uint64_t seen_ = 0;
};

// `"name":value`, as in the line except for the escapes of the name.
bool raw_member(std::string_view name, ondemand::value& value, std::string* out) {
  out->clear();
  print_json_text(name, out);
  *out += ':';
  std::string_view raw;
  if (simdjson::to_json_string(value).get(raw)) return false;
  *out += raw;
  return true;
}

std::string join_members(const std::vector<std::string>& members) {
  std::string object;
  for (const std::string& member : members) {
    object += object.empty() ? '{' : ',';
    object += member;
  }
  return object.empty() ? object : object + '}';
}

// Calls visit(index, value) for each member in `names`; the others become `extra`.
template <size_t N, class Visit>
Status read_members(ondemand::object& object, const std::array<std::string_view, N>& names,
                    size_t required, std::string* extra, const Visit& visit) {
  Members<N> members(names);
  std::vector<std::string> others;
  for (auto field : object) {
    std::string_view name;
    ondemand::value value;
    if (field.unescaped_key().get(name) || field.value().get(value)) {
      return bad("malformed JSON");
    }
    const size_t at = members.find(name);
    if (at == N) {
      if (!raw_member(std::string(name), value, &others.emplace_back())) {
        return bad("malformed JSON");
      }
      continue;
    }
    if (!members.first_time(at)) return bad(fmt::format("member '{}' is there twice", name));
    if (!visit(at, value)) return bad(fmt::format("member '{}' is not as it should be", names[at]));
  }
  for (size_t k = 0; k < required; ++k) {
    if (!members.has(k)) return bad(fmt::format("member '{}' is missing", names[k]));
  }
  extra->clear();
  if (!others.empty()) {
    std::ranges::sort(others);
    *extra = join_members(others);
    if (Result<Json> valid = parse_json(*extra); !valid) return bad(valid.error().message);
  }
  return {};
}

// In each list the required members come first; `type` and `v`, which were read before, last.
constexpr std::array<std::string_view, 3> kTargetNames = {"text", "type", "v"};
constexpr std::array<std::string_view, 7> kTaskNames = {"key",    "workload", "text", "licences",
                                                        "target", "type",     "v"};
constexpr std::array<std::string_view, 6> kRunNames = {"id",      "start_us", "command",
                                                       "version", "type",     "v"};
constexpr std::array<std::string_view, 6> kTrajectoryNames = {"key",     "run",  "trials",
                                                              "seconds", "type", "v"};
constexpr std::array<std::string_view, 23> kAttemptNames = {
    "run",        "sequence",       "task",     "program",  "trace",   "machine",
    "protocol",   "code_generator", "start_us", "end_us",   "verdict", "latency_ns",
    "samples_ns", "text",           "build_ns", "check_ns", "time_ns", "disturbed",
    "clock",      "load",           "id",       "type",     "v"};

Status parse_target_line(ondemand::object& object, TargetLine* out) {
  return read_members(object, kTargetNames, 1, &out->extra, [&](size_t at, ondemand::value& value) {
    return at != 0 || read(value, &out->text);
  });
}

Status parse_task_line(ondemand::object& object, TaskLine* out) {
  std::string permissions;
  TRY(read_members(object, kTaskNames, 5, &out->extra, [&](size_t at, ondemand::value& value) {
    switch (at) {
      case 0:
        return read(value, &out->task.key);
      case 1:
        return read(value, &out->task.workload);
      case 2:
        return read(value, &out->task.text);
      case 3:
        return read(value, &permissions);
      case 4:
        return read(value, &out->task.target);
      default:
        return true;
    }
  }));
  const FloatPermissions known = TRY(parse_permissions(permissions));
  out->task.permissions = known;
  if (print_permissions(known) != permissions) return bad("member 'licences' is not in order");
  return {};
}

Status parse_run_line(ondemand::object& object, RunLine* out) {
  return read_members(object, kRunNames, 4, &out->extra, [&](size_t at, ondemand::value& value) {
    switch (at) {
      case 0:
        return read(value, &out->run.id);
      case 1:
        return read(value, &out->run.start_us);
      case 2:
        return read(value, &out->run.command);
      case 3:
        return read(value, &out->run.version);
      default:
        return true;
    }
  });
}

Status parse_trajectory_line(ondemand::object& object, TrajectoryLine* out) {
  CompletedBudget& completed = out->completed;
  TRY(read_members(object, kTrajectoryNames, 4, &out->extra,
                   [&](size_t at, ondemand::value& value) {
                     switch (at) {
                       case 0:
                         return read(value, &out->key);
                       case 1:
                         return read(value, &out->run);
                       case 2:
                         return read(value, &completed.trials);
                       case 3:
                         return read(value, &completed.seconds);
                       default:
                         return true;
                     }
                   }));
  if (completed.trials < 0) return bad("member 'trials' is less than 0");
  if (!std::isfinite(completed.seconds) || std::signbit(completed.seconds)) {
    return bad("member 'seconds' is not a number of 0 or more");
  }
  return {};
}

// All members except three belong to the machine, in their order.
Status parse_machine_line(ondemand::object& object, MachineLine* out) {
  std::vector<std::string> members;
  bool has_id = false;
  for (auto field : object) {
    std::string_view name;
    ondemand::value value;
    if (field.unescaped_key().get(name) || field.value().get(value)) return bad("malformed JSON");
    if (name == "type" || name == "v") continue;
    if (name == "id") {
      if (has_id || !read(value, &out->id)) return bad("member 'id' is not as it should be");
      has_id = true;
    } else if (!raw_member(std::string(name), value, &members.emplace_back())) {
      return bad("malformed JSON");
    }
  }
  if (!has_id) return bad("member 'id' is missing");
  out->content = members.empty() ? "{}" : join_members(members);
  if (Result<Json> valid = parse_json(out->content); !valid) return bad(valid.error().message);
  return {};
}

}  // namespace

struct LineReader::Impl {
  ondemand::parser parser;
  std::string protocol_text, verdict_text;
  std::string last_protocol_text;
  Protocol last_protocol;
  Hash128 id;  // of the last attempt

  Status parse_attempt(ondemand::object& object, Attempt* out);
  Status parse_known(std::string_view line, Line* out);
};

Status LineReader::Impl::parse_attempt(ondemand::object& object, Attempt* out) {
  std::optional<Hash128> written_id;
  Verdict& verdict = out->verdict;
  Conditions& now = out->conditions;
  TRY(read_members(object, kAttemptNames, 20, &out->extra, [&](size_t at, ondemand::value& value) {
    switch (at) {
      case 0:
        return read(value, &out->run);
      case 1:
        return read(value, &out->sequence);
      case 2:
        return read(value, &out->task);
      case 3:
        return read(value, &out->program);
      case 4:
        return read(value, &out->trace);
      case 5:
        return read(value, &out->machine);
      case 6:
        return read(value, &protocol_text);
      case 7:
        return read(value, &out->code_generator);
      case 8:
        return read(value, &out->start_us);
      case 9:
        return read(value, &out->end_us);
      case 10:
        return read(value, &verdict_text);
      case 11:
        return read(value, &verdict.latency_ns);
      case 12:
        return read(value, &verdict.samples_ns);
      case 13:
        return read(value, &verdict.text);
      case 14:
        return read(value, &now.build_ns);
      case 15:
        return read(value, &now.check_ns);
      case 16:
        return read(value, &now.time_ns);
      case 17:
        return read(value, &now.disturbed);
      case 18:
        return read(value, &now.clock);
      case 19:
        return read(value, &now.load);
      case 20:
        return read(value, &written_id.emplace());
      default:
        return true;
    }
  }));
  if (protocol_text != last_protocol_text) {
    const Result<Protocol> protocol = parse_protocol(protocol_text);
    if (!protocol) return not_known(protocol.error().message);
    last_protocol = *protocol;
    last_protocol_text = protocol_text;
  }
  out->protocol = last_protocol;
  const Result<VerdictKind> kind = parse_verdict_kind(verdict_text);
  if (!kind) return not_known(kind.error().message);
  verdict.kind = *kind;
  TRY(check_attempt(*out));
  id = out->id();
  if (written_id && *written_id != id) {
    return bad(
        fmt::format("the id {} is not that of its content: damaged or edited (without the "
                    "member 'id' it would be taken)",
                    written_id->hex()));
  }
  return {};
}

Status LineReader::Impl::parse_known(std::string_view line, Line* out) {
  ondemand::document document;
  if (parser.iterate(line.data(), line.size(), line.size() + kPadding).get(document)) {
    return bad("malformed JSON");
  }
  ondemand::object object;
  if (document.get_object().get(object)) return bad("not a complete JSON object");
  std::string_view type;
  if (object["type"].get_string().get(type)) return bad("no member 'type' that is a string");
  const std::string kind(type);
  int64_t version = 1;
  if (const auto error = object["v"].get_int64().get(version); error) {
    if (error != simdjson::NO_SUCH_FIELD) return bad("member 'v' is not an integer");
    version = 1;
  }
  if (version < 1) return bad("member 'v' is less than 1");
  if (version > kLineVersion) return not_known("a newer version");
  if (object.reset().error()) return bad("malformed JSON");
  Status status;
  if (kind == "attempt") {
    if (!std::holds_alternative<Attempt>(*out)) *out = Attempt();
    status = parse_attempt(object, &std::get<Attempt>(*out));
  } else if (kind == "task") {
    status = parse_task_line(object, &out->emplace<TaskLine>());
  } else if (kind == "target") {
    status = parse_target_line(object, &out->emplace<TargetLine>());
  } else if (kind == "machine") {
    status = parse_machine_line(object, &out->emplace<MachineLine>());
  } else if (kind == "run") {
    status = parse_run_line(object, &out->emplace<RunLine>());
  } else if (kind == "trajectory") {
    status = parse_trajectory_line(object, &out->emplace<TrajectoryLine>());
  } else {
    return not_known("an unknown type");
  }
  if (status && document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return bad("something follows the object");
  }
  return status;
}

LineReader::LineReader() : impl_(std::make_unique<Impl>()) {}
LineReader::~LineReader() = default;
const Hash128& LineReader::attempt_id() const { return impl_->id; }

Status LineReader::parse(std::string_view line, Line* out) {
  const Status status = impl_->parse_known(line, out);
  if (status || status.error().kind != ErrorKind::Unsupported) return status;
  // Kept unchanged if it is valid JSON.
  if (Result<Json> valid = parse_json(line); !valid) return bad(valid.error().message);
  *out = ForeignLine{std::string(line)};
  return {};
}

Result<Line> parse_line(std::string_view line) {
  std::string padded;
  padded.reserve(line.size() + LineReader::kPadding);
  padded = line;
  LineReader reader;
  Line out;
  TRY(reader.parse(padded, &out));
  return out;
}

Status check_attempt(const Attempt& attempt) {
  const Conditions& now = attempt.conditions;
  const std::array<std::pair<std::string_view, double>, 6> times = {
      {{"latency_ns", attempt.verdict.latency_ns},
       {"build_ns", now.build_ns},
       {"check_ns", now.check_ns},
       {"time_ns", now.time_ns},
       {"clock", now.clock},
       {"load", now.load}}};
  for (const auto& [name, value] : times) {
    if (!std::isfinite(value) || std::signbit(value)) {
      return bad(fmt::format("member '{}' is a number from 0 on, not {}", name, value));
    }
  }
  for (const double sample : attempt.verdict.samples_ns) {
    if (!std::isfinite(sample)) return bad("member 'samples_ns' has a number that is not finite");
  }
  if (attempt.extra.empty()) return {};
  // Canonical, so that it round-trips.
  std::string padded;
  padded.reserve(attempt.extra.size() + LineReader::kPadding);
  padded = attempt.extra;
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object object;
  std::string again;
  if (parser.iterate(padded.data(), padded.size(), padded.size() + LineReader::kPadding)
          .get(document) ||
      document.get_object().get(object)) {
    return bad("member 'extra' is not a JSON object");
  }
  const Status status = read_members(object, kAttemptNames, 0, &again,
                                     [](size_t, ondemand::value&) { return false; });
  if (!status) return bad("extra: " + status.error().message);
  if (again != attempt.extra || padded.contains('\n'))
    return bad("extra: its members are not sorted, or not on one line");
  return {};
}

}  // namespace tilewright::record
