#include "base/table.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace tilewright {
namespace {

enum class Color { Red, Green };
constexpr std::array<std::string_view, 2> kColors = {"red", "green"};
std::span<const std::string_view> option_words(Color) { return kColors; }

struct Paint {
  size_t coats = 2;
  int offset = -1;
  double share = 0.5;
  bool glossy = false;
  Color color = Color::Green;
  std::string brand = "any";

  static constexpr auto fields() {
    return std::tuple(option("coats", &Paint::coats, "of paint", {1, 9}),
                      option("offset", &Paint::offset, "in pixels"),
                      option("share", &Paint::share, "of the fence", {0, 1}),
                      option("glossy", &Paint::glossy, "shines"),
                      option("color", &Paint::color, "of it"),
                      option("brand", &Paint::brand, "whose", {}, "maker"));
  }
  bool operator==(const Paint&) const = default;
};

std::string error_of(std::string_view text) {
  const Result<Paint> paint = parse_options<Paint>("paint", text);
  return paint ? "it was read" : paint.error().message;
}

TEST(Options, TextRoundTrips) {
  const Paint paint{
      .coats = 3, .offset = -7, .share = 0.25, .glossy = true, .color = Color::Red, .brand = "x"};
  const std::string text = "coats=3,offset=-7,share=0.25,glossy=true,color=red,brand=x";
  EXPECT_EQ(print_options(paint), text);
  EXPECT_EQ(parse_options<Paint>("paint", text).value(), paint);
  EXPECT_EQ(print_options(Paint{}), "");
  EXPECT_EQ(parse_options<Paint>("paint", "").value(), Paint{});
}

TEST(Options, TheTextIsCanonical) {
  const Paint paint = parse_options<Paint>("paint", "share=2.5e-1,coats=2,glossy=true").value();
  EXPECT_EQ(print_options(paint), "share=0.25,glossy=true");
  // Against the defaults of another row.
  EXPECT_EQ(print_options(paint, Paint{.share = 0.25}), "glossy=true");
}

struct Fence {
  int height = 1;
  NestedSelection paint{"thick"};

  static constexpr auto fields() {
    return std::tuple(option("height", &Fence::height, "of it"),
                      option("paint", &Fence::paint, "on it"));
  }
  std::string fault() const { return height == 9 && paint.text == "thin" ? "too high" : ""; }
};

TEST(Options, ANestedSelectionSeparatesItsOptionsBySlashes) {
  const std::string text = "height=2,paint=thin:coats=3/glossy=true";
  const Fence fence = parse_options<Fence>("fence", text).value();
  EXPECT_EQ(fence.paint.text, "thin:coats=3,glossy=true");
  EXPECT_EQ(print_options(fence), text);
  EXPECT_EQ(print_options(parse_options<Fence>("fence", "paint=thick").value()), "");
}

TEST(Options, ContradictionsAreRejected) {
  EXPECT_TRUE(parse_options<Fence>("fence", "height=9").has_value());
  EXPECT_TRUE(parse_options<Fence>("fence", "paint=thin").has_value());
  EXPECT_EQ(parse_options<Fence>("fence", "height=9,paint=thin").error().message,
            "fence: too high");
}

TEST(Options, FormerNamesAreReadAndNotWritten) {
  const Paint paint = parse_options<Paint>("paint", "maker=x").value();
  EXPECT_EQ(paint.brand, "x");
  EXPECT_EQ(print_options(paint), "brand=x");
}

TEST(Options, ErrorsNameTheOptionAndLegalValues) {
  EXPECT_EQ(error_of("coat=1"),
            "paint has no option 'coat'; there are coats, offset, share, glossy, color, brand");
  EXPECT_EQ(error_of("coats=0"), "paint: coats=0: it must be a whole number from 1 to 9");
  EXPECT_EQ(error_of("coats=-1"), "paint: coats=-1: it must be a whole number from 1 to 9");
  EXPECT_EQ(error_of("coats=2.5"), "paint: coats=2.5: it must be a whole number from 1 to 9");
  EXPECT_EQ(error_of("offset=99999999999"), "paint: offset=99999999999: it must be a whole number");
  EXPECT_EQ(error_of("share=nan"), "paint: share=nan: it must be a number from 0 to 1");
  EXPECT_EQ(error_of("share="), "paint: share=: it must be a number from 0 to 1");
  EXPECT_EQ(error_of("glossy=yes"), "paint: glossy=yes: it must be true or false");
  EXPECT_EQ(error_of("color=blue"), "paint: color=blue: it must be one of red, green");
  EXPECT_EQ(error_of("coats"), "paint: 'coats' is not an option; write OPTION=VALUE");
  EXPECT_EQ(error_of("coats=1,coats=2"), "paint: coats is given twice");
  EXPECT_EQ(parse_options<NoOptions>("air", "a=1").error().message,
            "air has no option 'a'; it has none");
}

using Fences = Table<std::unique_ptr<std::string>, int>;

Fences some_fences() {
  const auto make = [](int height, const Paint& paint) {
    return std::make_unique<std::string>(std::to_string(height) + "/" + print_options(paint));
  };
  return Fences::built_in(
      "fence", {make_row<std::unique_ptr<std::string>, int>("thin", "one coat will do",
                                                            Paint{.coats = 1}, make),
                make_row<std::unique_ptr<std::string>, int>("thick", "two", Paint{}, make)});
}

TEST(Table, ParsesAndMakes) {
  const Fences fences = some_fences();
  const Selection thin = fences.parse("thin:glossy=true,coats=1").value();
  EXPECT_EQ(thin.text(), "thin:glossy=true");
  EXPECT_EQ(*fences.make(thin, 3).value(), "3/coats=1,glossy=true");
  EXPECT_EQ(fences.parse("thick").value().text(), "thick");
  EXPECT_EQ(fences.parse("thick:").value().text(), "thick");
  EXPECT_EQ(fences.parse("fat").error().message, "there is no fence 'fat'; there are thin, thick");
  EXPECT_EQ(fences.parse("thin:x=1").error().message.substr(0, 22), "thin has no option 'x'");
  EXPECT_EQ(fences.make({.name = "fat"}, 3).error().kind, ErrorKind::BadInput);
}

TEST(Table, ANestedSelectionIsCanonicalByItsTable) {
  using Houses = Table<int, int>;
  const Houses houses("house", {make_row<int, int>("old", "with a fence", Fence{},
                                                   [](int, const Fence&) { return 1; })});
  const auto canonical = [](std::string_view text) -> Result<std::string> {
    return TRY(some_fences().parse(text)).text();
  };
  const auto parsed = [&](std::string_view text) { return houses.parse(text, canonical)->text(); };
  for (const char* plain : {"old", "old:", "old:paint=thick", "old:paint=thick:",
                            "old:paint=thick:coats=2", "old:paint=thick:coats=2/glossy=false"}) {
    EXPECT_EQ(parsed(plain), "old") << plain;
  }
  EXPECT_EQ(parsed("old:paint=thin:glossy=true/coats=3"), "old:paint=thin:coats=3/glossy=true");
  EXPECT_EQ(parsed("old:paint=thin:coats=1,height=1"), "old:paint=thin");
  EXPECT_EQ(houses.parse("old:paint=fat", canonical).error().message,
            "old: there is no fence 'fat'; there are thin, thick");
}

TEST(Table, AcceptsCustomRows) {
  Fences fences = some_fences();
  fences.add(make_row<std::unique_ptr<std::string>, int>(
      "none", "nothing", NoOptions{},
      [](int, const NoOptions&) -> Result<std::unique_ptr<std::string>> {
        return fail(ErrorKind::Unsupported, "there is nothing");
      }));
  EXPECT_TRUE(fences.is_built_in("thin"));
  EXPECT_FALSE(fences.is_built_in("none"));
  EXPECT_FALSE(fences.is_built_in("fat"));
  EXPECT_FALSE(Fences("fence", fences.rows()).is_built_in("thin"));  // whatever its factory is
  EXPECT_EQ(fences.make(fences.parse("none").value(), 1).error().message, "there is nothing");
  EXPECT_EQ(table_names(fences.entries()), "thin, thick, none");
  EXPECT_TRUE(
      table_text(fences.entries()).starts_with("thin: one coat will do\n  coats=1: of paint\n"));
  EXPECT_NE(table_markdown(fences.entries()).find("| | `share` | 0.5 | of the fence |\n"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright
