#include "target/target.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/check.h"
#include "target/host_features.h"

namespace tilewright {
namespace {

constexpr std::string_view kCuda = "cuda";

struct AbiLevel {
  std::string_view text;
  std::string_view features;
};

// The levels of the x86-64 ABI, restricted to features in the table.
constexpr std::array<AbiLevel, 4> kLevels = {{
    {"x86-64-v4", "avx512f,avx512cd,avx512bw,avx512dq,avx512vl"},
    {"x86-64-v3", "avx2,fma,f16c"},
    {"x86-64-v2", "sse4.2"},
    {"x86-64", ""},
}};

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::BadInput, std::move(message));
}

Result<Target> validated(const CpuTarget& target) {
  if (target.threads < 1 || target.threads > kMaxThreads) {
    return bad(fmt::format("a target has 1 to {} threads, not {}", kMaxThreads, target.threads));
  }
  const int widest = widest_vector_bits(target.features);
  const int bits = target.vector_bits;
  if (bits != 128 && bits != 256 && bits != 512) {
    return bad(fmt::format("vector_bits is 128, 256 or 512, not {}", bits));
  }
  if (bits > widest && target.arch != CpuArch::X86_64) {
    return bad(fmt::format("vector_bits={}: {} has {}", bits, arch_text(target.arch), widest));
  }
  if (bits > widest) {
    return bad(fmt::format("vector_bits={} needs {}; these features allow {}", bits,
                           bits == 512 ? "avx512f" : "avx", widest));
  }
  return target;
}

Result<int> parse_number(std::string_view key, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return bad(fmt::format("target: {} is a number, not '{}'", key, text));
  }
  return value;
}

// `x86-64:avx2,fma` or `x86-64-v3`, or both: `x86-64-v3:avxvnni`; `aarch64`.
Result<CpuTarget> parse_cpu(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string_view more = text.substr(std::min(colon + 1, text.size()));
  if (colon < text.size() && more.empty()) {
    return bad(fmt::format("target '{}': say CPU features after the colon, or leave it out", text));
  }
  if (name == arch_text(CpuArch::Aarch64)) {
    if (more.empty()) return CpuTarget{.arch = CpuArch::Aarch64};
    return bad(fmt::format("'{}' is not a CPU feature of aarch64; none are known", more));
  }
  for (const AbiLevel& level : kLevels) {
    if (level.text != name) continue;
    std::string list(level.features);
    if (!more.empty()) {
      if (!list.empty()) list += ',';
      list += more;
    }
    const FeatureSet features = TRY(parse_features(list));
    return CpuTarget{.features = features, .vector_bits = widest_vector_bits(features)};
  }
  return bad(
      fmt::format("target '{}' is unknown; it begins with x86-64, x86-64-v2, x86-64-v3, x86-64-v4, "
                  "aarch64 or cuda:sm_",
                  name));
}

// `cuda:sm_90a`.
Result<Target> parse_cuda(std::string_view text) {
  text.remove_prefix(kCuda.size());
  if (text.empty()) return bad("target cuda: say the compute capability, such as cuda:sm_90a");
  if (const size_t end = text.find(';'); end != std::string_view::npos) {
    return bad(fmt::format("target: '{}' is unknown; a CUDA device has a compute capability only",
                           text.substr(end + 1)));
  }
  const ComputeCapability capability = TRY(parse_compute_capability(text.substr(1)));
  return CudaTarget{.capability = capability};
}

bool names_cuda(std::string_view text) {
  return text.starts_with(kCuda) &&
         (text.size() == kCuda.size() || text[kCuda.size()] == ':' || text[kCuda.size()] == ';');
}

Status check_features(const CpuTarget& cpu, const Target& target) {
  if (cpu.arch != kHostArch) {
    return fail(ErrorKind::Unsupported, fmt::format("this machine is {}, the target {} is not",
                                                    arch_text(kHostArch), print_target(target)));
  }
  const FeatureSet missing = cpu.features.minus(host_features());
  if (missing.empty()) return {};
  return fail(ErrorKind::Unsupported,
              fmt::format("this machine cannot execute {}, which the target {} uses",
                          missing.text(), print_target(target)));
}

std::string print_cpu(const CpuTarget& cpu) {
  std::string text(arch_text(cpu.arch));
  if (!cpu.features.empty()) text += ":" + cpu.features.text();
  text += fmt::format(";threads={}", cpu.threads);
  if (cpu.vector_bits != widest_vector_bits(cpu.features)) {
    text += fmt::format(";vector_bits={}", cpu.vector_bits);
  }
  return text;
}

}  // namespace

int Target::vector_registers() const {
  const CpuTarget* host = cpu();
  if (host != nullptr) return host->vector_registers();
  return static_cast<int>(bytes(MemoryScope::Register)) / vector_bytes();
}

int64_t Target::max_extent(ThreadAxis axis) const {
  const CudaTarget* device = cuda();
  if (device == nullptr || axis == ThreadAxis::None) return 0;
  const auto dimension = static_cast<size_t>(dimension_of(axis));
  if (is_block(axis)) return device->limits().grid[dimension];
  if (is_thread(axis)) return device->limits().block[dimension];
  return std::numeric_limits<int64_t>::max();
}

int64_t Target::bytes(MemoryScope scope) const {
  return std::visit([scope](const auto& kind) { return kind.bytes(scope); }, kind_);
}

Target Target::with_threads(int threads) const {
  Target changed = *this;
  if (auto* host = std::get_if<CpuTarget>(&changed.kind_)) host->threads = threads;
  return changed;
}

Target Target::with_vector_bits(int bits) const {
  Target changed = *this;
  auto* host = std::get_if<CpuTarget>(&changed.kind_);
  if (host == nullptr) return changed;
  CHECK(bits <= widest_vector_bits(host->features), "{} has no vectors of {} bits",
        print_target(*this), bits);
  host->vector_bits = bits;
  return changed;
}

Target make_target(FeatureSet features, int threads) {
  return CpuTarget{
      .features = features, .vector_bits = widest_vector_bits(features), .threads = threads};
}

Target host_target(int threads) {
  const FeatureSet features = host_features();
  return CpuTarget{.arch = kHostArch,
                   .features = features,
                   .vector_bits = widest_vector_bits(features),
                   .threads = threads};
}

Status check_runs_here(const Target& target) {
  if (const CpuTarget* cpu = target.cpu()) return check_features(*cpu, target);
  return fail(ErrorKind::Unsupported,
              fmt::format("this program drives no CUDA device, which the target {} needs",
                          print_target(target)));
}

std::string print_target(const Target& target) {
  if (const CpuTarget* cpu = target.cpu()) return print_cpu(*cpu);
  return fmt::format("{}:{}", kCuda, target.cuda()->capability.text());
}

Result<Target> parse_target(std::string_view text) {
  if (names_cuda(text)) return parse_cuda(text);
  const size_t architecture_end = std::min(text.find(';'), text.size());
  CpuTarget target = TRY(parse_cpu(text.substr(0, architecture_end)));

  text.remove_prefix(architecture_end);
  bool has_threads = false, has_vector_bits = false;
  while (!text.empty()) {
    text.remove_prefix(1);  // the semicolon
    const std::string_view field = text.substr(0, text.find(';'));
    text.remove_prefix(field.size());
    const size_t equals = field.find('=');
    const std::string_view key = field.substr(0, equals);
    if (equals == std::string_view::npos || (key != "threads" && key != "vector_bits")) {
      return bad(fmt::format("target: '{}' is unknown; known: threads=N and vector_bits=N", field));
    }
    if (std::exchange(key == "threads" ? has_threads : has_vector_bits, true)) {
      return bad(fmt::format("target: {} is given twice", key));
    }
    const int value = TRY(parse_number(key, field.substr(equals + 1)));
    (key == "threads" ? target.threads : target.vector_bits) = value;
  }
  return validated(target);
}

}  // namespace tilewright
