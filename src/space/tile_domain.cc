#include "space/tile_domain.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/rounding.h"
#include "heuristic/tile_sizes.h"

namespace tilewright::space {
namespace {

using heuristic::divisors_of;
using heuristic::wastes_little;
using schedule::Factors;

constexpr std::array<int64_t, 18> kMiddleSizes = {2,  3,  4,  5,  6,  7,  8,  10,  12,
                                                  14, 16, 20, 24, 32, 48, 64, 128, 256};

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

// How many choices the levels between the outermost and the innermost get.
enum class Middle : uint8_t { Tails, Exact, Sparse };

class Enumeration {
 public:
  Enumeration(const TileConstraints& constraints, Middle middle)
      : constraints_(constraints), middle_(middle) {}

  std::vector<Factors> run() {
    for (const int64_t size : innermost_sizes()) {
      Factors inner;
      inner.push_back(size);
      add_levels(ceil_div(constraints_.extent, size), inner);
      if (choices_.size() > 4 * kMaxTileChoices) break;
    }
    return std::move(choices_);
  }

 private:
  bool fits(int64_t size) const { return constraints_.run == 0 || constraints_.run % size == 0; }

  std::vector<int64_t> innermost_sizes() const {
    std::vector<int64_t> sizes;
    const int64_t max_size = std::min(constraints_.extent, constraints_.max_innermost);
    if (constraints_.lanes > 0) {
      for (int64_t size = constraints_.lanes; size <= max_size; size += constraints_.lanes) {
        const bool exact = constraints_.extent % size == 0;
        if (fits(size) &&
            (exact || (constraints_.tails && wastes_little(constraints_.extent, size)))) {
          sizes.push_back(size);
        }
      }
      const bool whole = constraints_.extent <= max_size && fits(constraints_.extent);
      if (whole && constraints_.extent % constraints_.lanes != 0)
        sizes.push_back(constraints_.extent);
      if (!sizes.empty()) return sizes;
    }
    for (int64_t size = 1; size <= max_size; ++size) {
      const bool exact = constraints_.extent % size == 0;
      const bool nice = size <= 16 || size % 4 == 0;
      const bool ragged = constraints_.tails && nice && wastes_little(constraints_.extent, size);
      if (fits(size) && (exact || ragged)) sizes.push_back(size);
    }
    return sizes;
  }

  void add_levels(int64_t count, Factors& inner) {
    if (inner.size() == static_cast<size_t>(constraints_.factors)) {
      Factors outside_in;
      for (size_t k = inner.size(); k-- > 0;) outside_in.push_back(inner[k]);
      choices_.push_back(outside_in);
      return;
    }
    for (const int64_t size : middle_sizes(count)) {
      inner.push_back(size);
      add_levels(ceil_div(count, size), inner);
      inner.resize(inner.size() - 1);
    }
  }

  // Sizes that divide; if there are few, also sizes with a small remainder.
  std::vector<int64_t> middle_sizes(int64_t count) const {
    constexpr size_t kFewDivisors = 4;
    std::vector<int64_t> sizes;
    for (const int64_t size : divisors_of(count)) {
      if (middle_ != Middle::Sparse || is_power_of_two(size) || size == count) {
        sizes.push_back(size);
      }
    }
    if (middle_ == Middle::Tails && constraints_.tails && count > 6 &&
        sizes.size() <= kFewDivisors) {
      for (const int64_t size : kMiddleSizes) {
        if (size < count && count % size != 0 && wastes_little(count, size)) sizes.push_back(size);
      }
    }
    return sizes;
  }

  const TileConstraints& constraints_;
  Middle middle_;
  std::vector<Factors> choices_;
};

}  // namespace

void keep_some(schedule::TileDomain* domain) {
  const std::vector<Factors> all = std::move(domain->choices);
  domain->choices.clear();
  const size_t count = std::min(all.size(), kMaxTileChoices);
  domain->choices.reserve(count);
  for (size_t k = 0; k < count; ++k) domain->choices.push_back(all[k * all.size() / count]);
}

schedule::TileDomain tile_domain(const TileConstraints& constraints) {
  std::vector<Factors> choices;
  for (const Middle middle : {Middle::Tails, Middle::Exact, Middle::Sparse}) {
    choices = Enumeration(constraints, middle).run();
    if (choices.size() <= kMaxTileChoices) break;
  }
  std::ranges::sort(choices, [](const Factors& a, const Factors& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  const auto [first, last] = std::ranges::unique(choices);
  choices.erase(first, last);
  if (choices.empty()) {  // nothing fits: not split
    Factors whole;
    for (int k = 0; k < constraints.factors; ++k) whole.push_back(1);
    choices.push_back(whole);
  }
  schedule::TileDomain domain{.choices = std::move(choices), .extent = constraints.extent};
  if (domain.choices.size() > kMaxTileChoices) keep_some(&domain);
  return domain;
}

bool leaves_remainder(const schedule::TileDomain& domain) {
  return std::ranges::any_of(domain.choices, [&](const Factors& factors) {
    return domain.extent % schedule::product_of(factors) != 0;
  });
}

}  // namespace tilewright::space
