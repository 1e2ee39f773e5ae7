#include "base/name.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"

namespace tilewright {
namespace {

TEST(Name, EmptyIsTheDefault) {
  EXPECT_TRUE(Name().empty());
  EXPECT_EQ(Name(), Name(""));
  EXPECT_EQ(Name().text(), "");
}

TEST(Name, EqualTextsShareOneName) {
  EXPECT_EQ(Name("i"), Name(std::string("i")));
  EXPECT_NE(Name("i"), Name("j"));
  EXPECT_EQ(Name("oc").text(), "oc");
  EXPECT_EQ(&Name("oc").text(), &Name("oc").text());
}

TEST(Name, DerivedNamesEqualSpelledOnes) {
  const Name i("i");
  EXPECT_EQ(i.child(0), Name("i.0"));
  EXPECT_EQ(Name("i.0"), i.child(0));  // the cached way
  EXPECT_EQ(i.child(1).child(0).text(), "i.1.0");
  EXPECT_EQ(i.child(7).text(), "i.7");
  EXPECT_EQ(i.child(8).text(), "i.8");  // beyond the cache
  EXPECT_EQ(i.child(123), Name("i.123"));
}

TEST(Name, FusesAnyNumber) {
  const Name a("a");
  const Name b("b.0");
  EXPECT_EQ(Name::fuse(std::array{a, b}).text(), "(a,b.0)");
  EXPECT_EQ(Name::fuse(std::array{a, b}), Name("(a,b.0)"));
  EXPECT_EQ(Name::fuse(std::array{b, a}).text(), "(b.0,a)");
  EXPECT_EQ(Name::fuse(std::array{a, b, a}).text(), "(a,b.0,a)");
  EXPECT_EQ(Name::fuse(std::array{a}).text(), "(a)");
  EXPECT_EQ(Name::fuse(std::array{Name::fuse(std::array{a, b}), a}).text(), "((a,b.0),a)");
  EXPECT_THROW(Name::fuse({}), InternalError);
}

TEST(Name, OldNamesSurviveManyNewOnes) {
  const Name first("survivor");
  const std::string* text = &first.text();
  for (int k = 0; k < 5000; ++k) Name("filler" + std::to_string(k));
  EXPECT_EQ(Name("survivor"), first);
  EXPECT_EQ(&first.text(), text);
  EXPECT_EQ(Name("filler4999").text(), "filler4999");
}

TEST(Name, ThreadsAgree) {
  constexpr int kThreads = 4;
  constexpr unsigned kRoots = 200;
  std::vector<std::vector<Name>> seen(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&seen, t] {
      for (unsigned k = 0; k < kRoots; ++k) {
        const Name root("root" + std::to_string(k));
        const Name left = root.child(k % 10);
        const Name right = root.child(1 + k % 10);
        const Name fused = Name::fuse(std::array{left, right});
        seen[t].insert(seen[t].end(), {root, left, right, fused, fused.child(0)});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 1; t < kThreads; ++t) EXPECT_EQ(seen[t], seen[0]);
  for (size_t k = 0; k < seen[0].size(); ++k) EXPECT_EQ(Name(seen[0][k].text()), seen[0][k]);
}

}  // namespace
}  // namespace tilewright
