#include "schedule/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/fields_json.h"

namespace tilewright::schedule {
namespace {

// ---- writing ----

template <class S>
std::string step_text(const S& step) {
  std::string out(S::kTag);
  std::apply(
      [&](const auto&... field) {
        const auto write = [&](const auto& f) {
          if (f.required) {
            out += ' ' + field_text(step.*f.member);
          } else if (!(step.*f.member == S{}.*f.member)) {
            out += fmt::format(" {}={}", f.name, field_text(step.*f.member));
          }
        };
        (write(field), ...);
      },
      S::fields());
  return out;
}

template <class S>
Json step_json(const S& step) {
  Json out = Json::object();
  out["step"] = S::kTag;
  std::apply(
      [&](const auto&... field) {
        const auto write = [&](const auto& f) {
          if (f.required || !(step.*f.member == S{}.*f.member)) {
            out[std::string(f.name)] = field_json(step.*f.member);
          }
        };
        (write(field), ...);
      },
      S::fields());
  return out;
}

// ---- reading ----

// Splits a line into words; brackets and parentheses group.
std::vector<std::string_view> tokens_of(std::string_view line) {
  std::vector<std::string_view> tokens;
  size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
      continue;
    }
    const size_t begin = at;
    int depth = 0;
    while (at < line.size()) {
      const char c = line[at];
      if (depth <= 0 && (c == ' ' || c == '\t' || c == '\r')) break;
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      ++at;
    }
    tokens.push_back(line.substr(begin, at - begin));
  }
  return tokens;
}

// The syntax of a field: `stage`, `[up to 7 factors]`, `parallel|vectorize|unroll`.
template <class T>
std::string field_form(std::string_view name, const T*) {
  if constexpr (std::is_enum_v<T>) return all_words(T{});
  return std::string(name);
}
template <class T>
std::string field_form(std::string_view name, const std::optional<T>*) {
  return field_form(name, static_cast<const T*>(nullptr));
}
template <class T, size_t N>
std::string field_form(std::string_view name, const InlineVector<T, N>*) {
  return fmt::format("[up to {} {}]", N, name);
}

// The syntax of a step: `split stage loop [up to 7 factors] (tail=peel)`; optional fields in
// parentheses.
template <class S>
std::string step_form() {
  const S step;
  std::string out(S::kTag);
  std::apply(
      [&](const auto&... field) {
        const auto write = [&](const auto& f) {
          const std::string form = field_form(f.name, &(step.*f.member));
          out += f.required ? ' ' + form : fmt::format(" ({}={})", f.name, form);
        };
        (write(field), ...);
      },
      S::fields());
  return out;
}

// Text of the user for a message, truncated.
std::string quote(std::string_view text) {
  constexpr size_t kLongest = 60;
  return fmt::format("'{}{}'", text.substr(0, kLongest), text.size() > kLongest ? "..." : "");
}

Status check_room(const Trace& trace) {
  if (trace.steps.size() < kMaxSteps) return {};
  return fail(ErrorKind::BadInput, fmt::format("a trace has up to {} steps", kMaxSteps));
}

template <class S>
Result<Step> step_from_tokens(const std::vector<std::string_view>& tokens) {
  S step;
  size_t next = 1;
  std::string problem;
  std::vector<bool> used(tokens.size(), false);
  std::apply(
      [&](const auto&... field) {
        const auto read = [&](const auto& f) {
          if (!problem.empty()) return;
          if (f.required) {
            if (next >= tokens.size()) {
              problem = fmt::format("{} is missing", f.name);
              return;
            }
            used[next] = true;
            const std::string_view token = tokens[next++];
            if (!field_from_text(token, &(step.*f.member))) {
              problem = fmt::format("bad {} {}", f.name, quote(token));
            }
            return;
          }
          for (size_t k = 1; k < tokens.size(); ++k) {
            const std::string_view token = tokens[k];
            if (used[k] || !token.starts_with(f.name) || token.size() <= f.name.size() ||
                token[f.name.size()] != '=') {
              continue;
            }
            used[k] = true;
            if (!field_from_text(token.substr(f.name.size() + 1), &(step.*f.member))) {
              problem = fmt::format("bad {} {}", f.name, quote(token));
            }
            break;
          }
        };
        (read(field), ...);
      },
      S::fields());
  for (size_t k = 1; k < tokens.size() && problem.empty(); ++k) {
    if (!used[k]) problem = fmt::format("{} is one word too many", quote(tokens[k]));
  }
  if (problem.empty()) return Step(step);
  return fail(ErrorKind::BadInput, fmt::format("{}; the form is: {}", problem, step_form<S>()));
}

template <class S>
Result<Step> step_from_object(const Json& json) {
  S step;
  std::string problem;
  std::vector<std::string_view> known = {"step"};
  std::apply(
      [&](const auto&... field) {
        const auto read = [&](const auto& f) {
          known.push_back(f.name);
          const auto found = json.find(std::string(f.name));
          if (found == json.end()) {
            if (f.required && problem.empty()) problem = fmt::format("{} is missing", f.name);
            return;
          }
          if (!field_from_json(*found, &(step.*f.member)) && problem.empty()) {
            problem = fmt::format("bad {} {}", f.name, quote(print_json(*found)));
          }
        };
        (read(field), ...);
      },
      S::fields());
  for (const auto& [name, value] : json.items()) {
    const bool is_field = std::find(known.begin(), known.end(), name) != known.end();
    if (problem.empty() && !is_field) problem = fmt::format("there is no field {}", quote(name));
  }
  if (problem.empty()) return Step(step);
  return fail(ErrorKind::BadInput, fmt::format("{}; the fields are: {}", problem, step_form<S>()));
}

// Calls read<S>() for the step with this tag.
template <class Reader, size_t... K>
Result<Step> with_tag(std::string_view tag, const Reader& reader, std::index_sequence<K...>) {
  Result<Step> result = fail(ErrorKind::BadInput, "");
  bool found = false;
  const auto attempt = [&]<class S>(std::type_identity<S>) {
    if (!found && tag == S::kTag) {
      found = true;
      result = reader.template operator()<S>();
    }
  };
  (attempt(std::type_identity<std::variant_alternative_t<K, Step>>{}), ...);
  if (found) return result;
  const std::vector<std::string_view> tags = {std::variant_alternative_t<K, Step>::kTag...};
  return fail(ErrorKind::BadInput,
              fmt::format("there is no step {}; steps are {}", quote(tag), fmt::join(tags, ", ")));
}
constexpr auto kAllSteps = std::make_index_sequence<std::variant_size_v<Step>>{};

}  // namespace

std::string to_text(const Step& step) {
  return std::visit([](const auto& s) { return step_text(s); }, step);
}

std::string to_text(const Trace& trace) {
  std::string out;
  for (const Step& step : trace.steps) out += to_text(step) + '\n';
  return out;
}

Json to_json(const Trace& trace) {
  Json out = Json::array();
  for (const Step& step : trace.steps) {
    out.push_back(std::visit([](const auto& s) { return step_json(s); }, step));
  }
  return out;
}

Result<Trace> trace_from_text(std::string_view text) {
  Trace trace;
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    line = line.substr(0, line.find('#'));
    const std::vector<std::string_view> tokens = tokens_of(line);
    if (tokens.empty()) continue;
    const auto read = [&]<class S>() { return step_from_tokens<S>(tokens); };
    Result<Step> step = with_tag(tokens[0], read, kAllSteps);
    if (const Status room = check_room(trace); !room) step = std::unexpected(room.error());
    if (!step) {
      return fail(ErrorKind::BadInput, fmt::format("line {}: {}", number, step.error().message));
    }
    trace.steps.push_back(*step);
  }
  return trace;
}

Result<Trace> trace_from_json(const Json& json) {
  if (!json.is_array()) return fail(ErrorKind::BadInput, "a trace is an array of steps");
  Trace trace;
  for (const Json& item : json) {
    const auto tag = item.is_object() ? item.find("step") : item.end();
    if (!item.is_object() || tag == item.end() || !tag->is_string()) {
      return fail(ErrorKind::BadInput,
                  fmt::format("element {}: a step is an object with \"step\"", trace.steps.size()));
    }
    const auto read = [&]<class S>() { return step_from_object<S>(item); };
    Result<Step> step = with_tag(tag->get_ref<const std::string&>(), read, kAllSteps);
    if (const Status room = check_room(trace); !room) step = std::unexpected(room.error());
    if (!step) {
      return fail(ErrorKind::BadInput,
                  fmt::format("element {}: {}", trace.steps.size(), step.error().message));
    }
    trace.steps.push_back(*step);
  }
  return trace;
}

}  // namespace tilewright::schedule
