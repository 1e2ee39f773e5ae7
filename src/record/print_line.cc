#include "record/print_line.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <cmath>
#include <iterator>

#include "record/permissions.h"

namespace tilewright::record {
namespace {

// Writes members behind each other; begins with the type.
class ObjectWriter {
 public:
  ObjectWriter(std::string_view type, std::string* out) : out_(*out) {
    out_ += "{\"type\":\"";
    out_ += type;
    fmt::format_to(std::back_inserter(out_), "\",\"v\":{}", kLineVersion);
  }

  void name(std::string_view name) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
  }
  void text(std::string_view member, std::string_view value) {
    name(member);
    print_json_text(value, &out_);
  }
  void hash(std::string_view member, const Hash128& value) {
    name(member);
    fmt::format_to(std::back_inserter(out_), "\"{:016x}{:016x}\"", value.high, value.low);
  }
  void integer(std::string_view member, int64_t value) {
    name(member);
    fmt::format_to(std::back_inserter(out_), "{}", value);
  }
  void real(std::string_view member, double value) {
    name(member);
    number(value);
  }
  void number(double value) {  // the shortest that reads back the same
    if (value == 0 && std::signbit(value)) {
      out_ += "-0.0";
    } else {
      fmt::format_to(std::back_inserter(out_), "{}", value);
    }
  }
  // The members of an object that is already text, or empty.
  void members(std::string_view object) {
    if (object.size() > 2) {
      out_ += ',';
      out_ += object.substr(1, object.size() - 2);
    }
  }

 private:
  std::string& out_;
};

std::string print(const TargetLine& line) {
  std::string out;
  ObjectWriter writer("target", &out);
  writer.text("text", line.text);
  writer.members(line.extra);
  return out + '}';
}

std::string print(const TaskLine& line) {
  std::string out;
  ObjectWriter writer("task", &out);
  writer.hash("key", line.task.key);
  writer.hash("workload", line.task.workload);
  writer.text("text", line.task.text);
  writer.text("licences", print_permissions(line.task.permissions));
  writer.text("target", line.task.target);
  writer.members(line.extra);
  return out + '}';
}

std::string print(const MachineLine& line) {
  std::string out;
  ObjectWriter writer("machine", &out);
  writer.hash("id", line.id);
  writer.members(line.content);
  return out + '}';
}

std::string print(const RunLine& line) {
  std::string out;
  ObjectWriter writer("run", &out);
  writer.hash("id", line.run.id);
  writer.integer("start_us", line.run.start_us);
  writer.text("command", line.run.command);
  writer.text("version", line.run.version);
  writer.members(line.extra);
  return out + '}';
}

std::string print(const TrajectoryLine& line) {
  std::string out;
  ObjectWriter writer("trajectory", &out);
  writer.hash("key", line.key);
  writer.hash("run", line.run);
  writer.integer("trials", line.completed.trials);
  writer.real("seconds", line.completed.seconds);
  writer.members(line.extra);
  return out + '}';
}

std::string print(const Attempt& attempt) {
  std::string out;
  print_attempt(attempt, &out);
  return out;
}

std::string print(const ForeignLine& line) { return line.text; }

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string hex_of(std::string_view bytes) {
  std::string digits;
  for (const char c : bytes) {
    fmt::format_to(std::back_inserter(digits), "{:02x}", static_cast<unsigned char>(c));
  }
  return digits;
}

void print_json_text(std::string_view text, std::string* out) {
  if (!is_utf8(text)) {
    *out += fmt::format("{{\"hex\":\"{}\"}}", hex_of(text));
    return;
  }
  *out += '"';
  size_t done = 0;
  for (size_t k = 0; k < text.size(); ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text, done, k - done);
    done = k + 1;
    *out += '\\';
    switch (c) {
      case '\n':
        *out += 'n';
        break;
      case '\t':
        *out += 't';
        break;
      case '\r':
        *out += 'r';
        break;
      case '"':
      case '\\':
        *out += static_cast<char>(c);
        break;
      default:
        fmt::format_to(std::back_inserter(*out), "u{:04x}", c);
    }
  }
  out->append(text, done, text.size() - done);
  *out += '"';
}

void print_attempt(const Attempt& attempt, std::string* out) {
  ObjectWriter writer("attempt", out);
  writer.hash("id", attempt.id());
  writer.hash("run", attempt.run);
  writer.integer("sequence", attempt.sequence);
  writer.hash("task", attempt.task);
  writer.hash("program", attempt.program);
  writer.text("trace", attempt.trace);
  writer.hash("machine", attempt.machine);
  writer.text("protocol", print_protocol(attempt.protocol));
  writer.integer("code_generator", attempt.code_generator);
  writer.integer("start_us", attempt.start_us);
  writer.integer("end_us", attempt.end_us);
  writer.text("verdict", text_of(attempt.verdict.kind));
  writer.real("latency_ns", attempt.verdict.latency_ns);
  writer.name("samples_ns");
  *out += '[';
  for (size_t k = 0; k < attempt.verdict.samples_ns.size(); ++k) {
    if (k > 0) *out += ',';
    writer.number(attempt.verdict.samples_ns[k]);
  }
  *out += ']';
  writer.text("text", attempt.verdict.text);
  writer.real("build_ns", attempt.conditions.build_ns);
  writer.real("check_ns", attempt.conditions.check_ns);
  writer.real("time_ns", attempt.conditions.time_ns);
  writer.integer("disturbed", attempt.conditions.disturbed);
  writer.real("clock", attempt.conditions.clock);
  writer.real("load", attempt.conditions.load);
  writer.members(attempt.extra);
  *out += '}';
}

std::string print_line(const Line& line) {
  return std::visit([](const auto& one) { return print(one); }, line);
}

}  // namespace tilewright::record
