#include "record/line_pipeline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/system_error.h"
#include "record/parse_line.h"

namespace tilewright::record {
namespace {

constexpr size_t kBlock = size_t{4} << 20;
constexpr size_t kLongestLine = size_t{1} << 30;
constexpr size_t kLinesABatch = 256;
constexpr size_t kBatches = 8;
constexpr int kPollMs = 100;  // between checks of the stop token while a pipe is empty

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

struct Batch {
  std::vector<ParsedLine> lines;  // only grows; the first `count` are valid
  size_t count = 0;
};

class InputFile {
 public:
  InputFile(const std::filesystem::path& path, StopToken stop)
      : path_(path.native()),
        stop_(std::move(stop)),
        fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        error_(fd_ < 0 ? errno : 0) {}
  ~InputFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  Result<size_t> read(char* to, size_t room) {
    while (error_ == 0) {
      if (stop_.requested()) {
        error_ = ECANCELED;
        break;
      }
      pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, kPollMs) == 0) continue;
      const ssize_t count = ::read(fd_, to, room);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) error_ = errno;
    }
    return system_error(fmt::format("cannot read {}", path_), error_);
  }

 private:
  std::string path_;
  StopToken stop_;
  int fd_;
  int error_;
};

}  // namespace

ByteReader reader_of_file(const std::filesystem::path& path, const StopToken& stop) {
  auto file = std::make_shared<InputFile>(path, stop);
  return [file](char* to, size_t room) { return file->read(to, room); };
}

ByteReader reader_of_text(std::string_view text) {
  return [text](char* to, size_t room) mutable -> Result<size_t> {
    const size_t count = std::min(room, text.size());
    std::copy_n(text.data(), count, to);
    text.remove_prefix(count);
    return count;
  };
}

struct LinePipeline::Impl {
  explicit Impl(ByteReader source) : reader(std::move(source)) {}

  // -- of the parsing thread --

  void run() {
    Status status = read_all();
    hand_over();
    const std::scoped_lock lock(mutex);
    result = std::move(status);
    ended = true;
    changed.notify_all();
  }

  Status read_all() {
    std::vector<char> buffer(kBlock + LineReader::kPadding);
    size_t filled = 0;  // an incomplete line at the end
    while (true) {
      if (buffer.size() - filled < kBlock / 2 + LineReader::kPadding) {
        if (filled > kLongestLine) {
          return fail(ErrorKind::BadInput,
                      fmt::format("line {} has more than {} bytes", number + 1, kLongestLine));
        }
        buffer.resize(2 * buffer.size());
      }
      const size_t count =
          TRY(reader(buffer.data() + filled, buffer.size() - filled - LineReader::kPadding));
      if (count == 0) {
        feed({buffer.data(), filled});
        return {};
      }
      const std::string_view fresh(buffer.data() + filled, count);
      const size_t last = fresh.rfind('\n');
      const size_t complete = last == std::string_view::npos ? 0 : filled + last + 1;
      filled += count;
      if (!feed({buffer.data(), complete})) return {};
      std::memmove(buffer.data(), buffer.data() + complete, filled - complete);
      filled -= complete;
    }
  }

  // Complete lines, followed by the padding of LineReader; false if no more are wanted.
  bool feed(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number;
      while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
      while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
      if (!line.empty()) parse(line);
      if (filling.count == kLinesABatch && !hand_over()) return false;
    }
    return true;
  }

  void parse(std::string_view line) {
    if (filling.count == filling.lines.size()) filling.lines.emplace_back();
    ParsedLine& parsed = filling.lines[filling.count++];
    parsed.number = number;
    parsed.why.clear();
    const Status status = parser.parse(line, &parsed.line);
    if (status) {
      parsed.id = parser.attempt_id();
    } else {
      parsed.why = status.error().message;
    }
  }

  bool hand_over() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stopped || full.size() < kBatches; });
    if (stopped) return false;
    full.push_back(std::move(filling));
    filling = {};
    if (!spare.empty()) {
      filling = std::move(spare.back());
      spare.pop_back();
    }
    filling.count = 0;
    changed.notify_all();
    return true;
  }

  ByteReader reader;
  LineReader parser;
  Batch filling;
  int64_t number = 0;

  // -- shared --

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Batch> full;
  std::vector<Batch> spare;
  bool ended = false;
  bool stopped = false;
  Status result;

  // -- of the caller --

  Batch current;
  std::thread thread;
};

LinePipeline::LinePipeline(ByteReader reader) : impl_(std::make_unique<Impl>(std::move(reader))) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

LinePipeline::~LinePipeline() {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->stopped = true;
    impl_->changed.notify_all();
  }
  impl_->thread.join();
}

std::span<ParsedLine> LinePipeline::next() {
  std::unique_lock lock(impl_->mutex);
  impl_->spare.push_back(std::move(impl_->current));
  impl_->current = {};
  while (true) {
    impl_->changed.wait(lock, [&] { return impl_->ended || !impl_->full.empty(); });
    if (impl_->full.empty()) return {};
    impl_->current = std::move(impl_->full.front());
    impl_->full.pop_front();
    impl_->changed.notify_all();
    if (impl_->current.count > 0) break;
  }
  return std::span(impl_->current.lines).first(impl_->current.count);
}

Status LinePipeline::status() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->result;
}

}  // namespace tilewright::record
