// The intern table. An entry never moves and is complete before its id is published, so readers
// take no lock: text() is one load of a chunk pointer; child() and fuse() first look at the
// derivations cached in the entry (an array of child ids, a list of fusions). Only new derivations
// and Name(text) lock the map.
#include "base/name.h"

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "base/check.h"

namespace tilewright {
namespace {

constexpr uint32_t kChunkBits = 10;
constexpr uint32_t kChunkSize = 1u << kChunkBits;
constexpr uint32_t kMaxChunks = 1u << 12;  // four million names; a search creates a few thousand
constexpr unsigned kCachedChildren = 8;    // further parts of a split take the slow path

// A fusion that begins with some name, in a list that grows only at its head.
struct Fusion {
  std::vector<uint32_t> ids;
  uint32_t result = 0;
  const Fusion* next = nullptr;
};

struct Entry {
  std::string text;
  std::array<std::atomic<uint32_t>, kCachedChildren> children = {};  // 0: not derived yet
  std::atomic<const Fusion*> fusions = nullptr;
};

constinit std::array<std::atomic<Entry*>, kMaxChunks> chunks = {};

struct Table {
  std::shared_mutex mutex;  // guards everything below and the creation of chunks
  std::unordered_map<std::string_view, uint32_t> ids;
  uint32_t size = 0;

  Table() { add(""); }  // id 0

  // The caller holds the mutex exclusively (or is the constructor).
  uint32_t add(std::string_view text) {
    const uint32_t id = size++;
    CHECK(id >> kChunkBits < kMaxChunks, "the table of names is full at {}", id);
    std::atomic<Entry*>& chunk = chunks[id >> kChunkBits];
    if (id % kChunkSize == 0) chunk.store(new Entry[kChunkSize], std::memory_order_release);
    Entry& entry = chunk.load(std::memory_order_relaxed)[id % kChunkSize];
    entry.text = text;
    ids.emplace(entry.text, id);
    return id;
  }

  uint32_t intern(std::string_view text) {
    {
      const std::shared_lock lock(mutex);
      if (const auto found = ids.find(text); found != ids.end()) return found->second;
    }
    const std::unique_lock lock(mutex);
    if (const auto found = ids.find(text); found != ids.end()) return found->second;
    return add(text);
  }
};

Table& table() {
  static Table& the_table = *new Table;  // never destroyed: text() stays valid
  return the_table;
}

Entry& entry_of(uint32_t id) {
  Entry* chunk = chunks[id >> kChunkBits].load(std::memory_order_acquire);
  if (chunk == nullptr) [[unlikely]] {  // the empty name, before any other was created
    table();
    chunk = chunks[id >> kChunkBits].load(std::memory_order_acquire);
  }
  return chunk[id % kChunkSize];
}

const Fusion* find_fusion(const Fusion* fusion, std::span<const Name> names) {
  for (; fusion != nullptr; fusion = fusion->next) {
    if (fusion->ids.size() != names.size()) continue;
    size_t k = 0;
    while (k < names.size() && fusion->ids[k] == names[k].id()) ++k;
    if (k == names.size()) return fusion;
  }
  return nullptr;
}

}  // namespace

Name::Name(std::string_view text) : id_(text.empty() ? 0 : table().intern(text)) {}

const std::string& Name::text() const { return entry_of(id_).text; }

Name Name::child(unsigned part) const {
  Entry& entry = entry_of(id_);
  if (part < kCachedChildren) {
    const uint32_t cached = entry.children[part].load(std::memory_order_acquire);
    if (cached != 0) [[likely]] {
      Name result;
      result.id_ = cached;
      return result;
    }
  }
  const Name result(fmt::format("{}.{}", entry.text, part));
  if (part < kCachedChildren) entry.children[part].store(result.id_, std::memory_order_release);
  return result;
}

Name Name::fuse(std::span<const Name> names) {
  CHECK(!names.empty(), "a fusion has at least one name");
  Entry& first = entry_of(names.front().id_);
  const Fusion* head = first.fusions.load(std::memory_order_acquire);
  Name result;
  if (const Fusion* known = find_fusion(head, names)) [[likely]] {
    result.id_ = known->result;
    return result;
  }

  std::string text = "(";
  for (const Name& name : names) {
    if (text.size() > 1) text += ',';
    text += name.text();
  }
  text += ')';
  result = Name(text);

  // Two threads may add the same fusion; both nodes carry the same result, so that is harmless.
  Fusion* node = new Fusion{.ids = {}, .result = result.id_, .next = head};
  for (const Name& name : names) node->ids.push_back(name.id_);
  while (!first.fusions.compare_exchange_weak(node->next, node, std::memory_order_release,
                                              std::memory_order_acquire)) {
  }
  return result;
}

}  // namespace tilewright
