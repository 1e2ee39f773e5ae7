// HashTable: a flat hash table with Hash128 keys. Keys are already hashes and never zero. Several
// threads may look up concurrently while none inserts. Pointers are valid until the next insert.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace tilewright::search {

template <class Value>
class HashTable {
 public:
  size_t size() const { return size_; }
  size_t bytes() const { return slots_.size() * sizeof(Slot); }

  const Value* find(const Hash128& key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  Value* find(const Hash128& key) {
    return const_cast<Value*>(std::as_const(*this).find(key));  // NOLINT: both are ours
  }

  // The value of the key, and whether it is new.
  std::pair<Value*, bool> insert(const Hash128& key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.key == key) return {&slot.value, false};
    slot.key = key;
    slot.value = Value{};
    ++size_;
    return {&slot.value, true};
  }

  void clear() {  // keeps the memory
    if (size_ == 0) return;
    for (Slot& slot : slots_) slot.key = {};
    size_ = 0;
  }

 private:
  struct Slot {
    Hash128 key;
    Value value{};
  };

  // The slot of the key, or the free slot where it belongs.
  size_t place_of(const Hash128& key) const {
    const size_t mask = slots_.size() - 1;
    size_t place = static_cast<size_t>(key.low) & mask;
    while (slots_[place].key != key && slots_[place].key != Hash128{}) place = (place + 1) & mask;
    return place;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != Hash128{}) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

}  // namespace tilewright::search
