#include "measure/shared_operands.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/system_error.h"
#include "oracle/element.h"

namespace tilewright::measure {
namespace {

constexpr size_t kPage = 4096;

struct Sections {
  std::vector<std::pair<size_t, size_t>> parts;  // offset and size, in bytes
  std::vector<std::pair<size_t, size_t>> special;
  size_t total = 0;

  std::pair<size_t, size_t> add(size_t bytes) {
    const size_t offset = total;
    total += (bytes + kPage - 1) / kPage * kPage;
    return {offset, bytes};
  }
};

Sections sections_of(const Workload& workload) {
  Sections sections;
  const auto bytes_of = [&](const Operand& operand) {
    return oracle::bytes_of(workload.dag->tensor(operand.tensor));
  };
  for (const Operand& operand : workload.operands) {
    sections.parts.push_back(sections.add(bytes_of(operand)));
  }
  for (const Operand& operand : workload.operands) {
    const bool output = operand.role == Role::Output;
    sections.special.push_back(sections.add(output ? bytes_of(operand) : 0));
  }
  return sections;
}

std::unexpected<Error> call_error(const char* what, size_t bytes) {
  const int code = errno;
  return system_error(fmt::format("operands of {} bytes: {}", bytes, what), code);
}

}  // namespace

Result<SharedOperands> SharedOperands::create(const Workload& workload) {
  const size_t total = sections_of(workload).total;
  const auto memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * kPage;
  if (total > memory / 2) {  // they exist twice: here and where the kernel runs
    return fail(ErrorKind::Unsupported,
                fmt::format("operands of {} bytes: too large to be measured on a machine with {} "
                            "bytes of memory",
                            total, memory));
  }
  const int fd = memfd_create("tilewright-operands", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return call_error("memfd_create", total);
  if (ftruncate(fd, static_cast<off_t>(total)) != 0) {
    const auto error = call_error("ftruncate", total);
    close(fd);
    return error;
  }
  Result<SharedOperands> operands = attach(workload, fd);
  if (!operands) {
    close(fd);
    return operands;
  }
  operands->fd_ = fd;
  operands->set_writable(true);
  return operands;
}

Result<SharedOperands> SharedOperands::attach(const Workload& workload, int fd) {
  const Sections sections = sections_of(workload);
  struct stat file{};
  if (fstat(fd, &file) != 0) return call_error("fstat", sections.total);
  if (static_cast<size_t>(file.st_size) != sections.total) {
    return fail(ErrorKind::BadInput,
                fmt::format("operands of another workload: {} bytes, this one has {}", file.st_size,
                            sections.total));
  }
  void* at = mmap(nullptr, sections.total, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return call_error("mmap", sections.total);
  SharedOperands operands;
  operands.mapping_ = {static_cast<std::byte*>(at), sections.total};
  for (const auto& [offset, bytes] : sections.parts) {
    operands.sections_.push_back(operands.mapping_.subspan(offset, bytes));
  }
  for (const auto& [offset, bytes] : sections.special) {
    operands.special_.push_back(operands.mapping_.subspan(offset, bytes));
  }
  return operands;
}

SharedOperands::SharedOperands(SharedOperands&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      mapping_(std::exchange(other.mapping_, {})),
      sections_(std::move(other.sections_)),
      special_(std::move(other.special_)) {}

SharedOperands& SharedOperands::operator=(SharedOperands&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(mapping_, other.mapping_);
  std::swap(sections_, other.sections_);
  std::swap(special_, other.special_);
  return *this;
}

SharedOperands::~SharedOperands() {
  if (!mapping_.empty()) munmap(mapping_.data(), mapping_.size());
  if (fd_ >= 0) close(fd_);
}

void SharedOperands::set_writable(bool writable) const {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  CHECK(mprotect(mapping_.data(), mapping_.size(), protection) == 0, "mprotect: {}",
        system_reason(errno));
}

}  // namespace tilewright::measure
