// The sanitizer that this code is compiled with. GCC defines a macro for each, clang a feature.
//
//   if (kThreadSanitizer) GTEST_SKIP() << "signals are delivered late";
#pragma once

#if defined(__has_feature)
#define TILEWRIGHT_HAS_FEATURE(name) __has_feature(name)
#else
#define TILEWRIGHT_HAS_FEATURE(name) 0
#endif

namespace tilewright {

#if defined(__SANITIZE_ADDRESS__) || TILEWRIGHT_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || TILEWRIGHT_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

// Either one. Both need terabytes of address space and handle signals themselves.
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

// For time limits in tests: an upper bound of how much longer code takes. The same numbers are in
// cmake/settings.cmake.
inline constexpr int kSanitizerSlowdown = kThreadSanitizer ? 15 : kAddressSanitizer ? 5 : 1;

}  // namespace tilewright

#undef TILEWRIGHT_HAS_FEATURE
