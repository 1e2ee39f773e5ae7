// Descriptor: owns a file descriptor of the system and closes it on destruction. A negative number,
// as open() returns after an error, owns nothing. Movable; used by one thread at a time.
//
//   const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
//   if (!file) return system_error(path, errno);
#pragma once

#include <cstddef>
#include <span>

namespace tilewright {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  // For files where an error of closing matters: 0, or -1 with errno. 0 if it owns nothing.
  int close();

 private:
  int number_ = -1;
};

// Writes all bytes, repeating partial and interrupted writes. False with errno after an error.
[[nodiscard]] bool write_all(const Descriptor& file, std::span<const std::byte> bytes);

}  // namespace tilewright
