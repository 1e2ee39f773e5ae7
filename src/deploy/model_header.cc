#include "deploy/model_header.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "base/utf8.h"
#include "deploy/runtime_text.h"

namespace tilewright::deploy {
namespace {

std::string macro_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    const bool plain = letter < 128 && std::isalnum(letter) != 0;
    name += plain ? static_cast<char>(std::toupper(letter)) : '_';
  }
  return name;
}

// Text from a model inside a comment, made unable to end it or to begin another.
std::string comment_text(std::string_view text) {
  std::string safe;
  for (const char c : clean_utf8(text)) {
    const char last = safe.empty() ? ' ' : safe.back();
    safe += (c == '/' && last == '*') || (c == '*' && last == '/') ? ' ' : c;
  }
  return safe;
}

// One line per tensor, with its index; names that are equal in C get the index as a suffix.
std::string places(const std::string& prefix, std::string_view kind,
                   const std::vector<ProgramTensor>& tensors) {
  std::string text = fmt::format("\n#define {}_{}_COUNT {}\n", prefix, kind, tensors.size());
  std::set<std::string> taken = {"COUNT"};
  for (size_t k = 0; k < tensors.size(); ++k) {
    std::string name = macro_name(tensors[k].name);
    while (!taken.insert(name).second) name += fmt::format("_{}", k);
    text += fmt::format("#define {}_{}_{} {} /* {}: {}, {} bytes */\n", prefix, kind, name, k,
                        comment_text(tensors[k].name), tensors[k].type.to_string(),
                        tensors[k].type.bytes());
  }
  return text;
}

}  // namespace

std::string model_header(const Program& program, std::string_view file_name) {
  const std::string prefix = macro_name(program.name);
  const std::string guard = macro_name(file_name) + "_";
  std::string text = fmt::format("{}\n", model_abi_text());
  text += fmt::format("#ifndef {0}\n#define {0}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
                      guard);
  text += fmt::format("extern const TilewrightModelApi {}_model;\n", program.name);
  text += "\n/* Places in the arrays of pointers that run takes. */";
  text += places(prefix, "INPUT", program.inputs);
  text += places(prefix, "OUTPUT", program.outputs);
  text += fmt::format("\n#ifdef __cplusplus\n}}\n#endif\n#endif /* {} */\n", guard);
  return text;
}

}  // namespace tilewright::deploy
