#include "schedule/trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <variant>

#include "base/json.h"
#include "base/rng.h"
#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

using ::testing::HasSubstr;

// One step of each kind, with every optional field off its default once.
const char* const kAllSteps =
    "split C i [4, 8]\n"
    "split C j [3] tail=mask\n"
    "follow_split C.write i C i 2\n"
    "follow_split C.write j C j 2 tail=overlap\n"
    "follow_fused_split D i C [i, j] 1\n"
    "follow_fused_split D j C [j] 0 tail=pad\n"
    "fuse C [i.0, (j.0,k).1]\n"
    "reorder C [k, i]\n"
    "compute_at C.write C (i,j)\n"
    "compute_inline P\n"
    "compute_root P\n"
    "cache_read A [C, C.write]\n"
    "cache_read A [D] ordinal=7\n"
    "cache_read B [D] scope=shared\n"
    "cache_write C\n"
    "cache_write D scope=register\n"
    "annotate C i.0 parallel\n"
    "bind D i thread_x\n"
    "prefetch C k A 2\n"
    "prefetch_next C k A\n"
    "pack A.read.7 C.write\n"
    "tensorize C j.1 vnni_dot_u8i8\n"
    "rfactor S k.1\n";

TEST(Trace, EveryKindOfStepIsAmongAllSteps) {
  std::set<size_t> kinds;
  for (const Step& step : trace_of(kAllSteps).steps) kinds.insert(step.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<Step>);
}

TEST(Trace, RoundTripsThroughText) {
  EXPECT_EQ(to_text(trace_of(kAllSteps)), kAllSteps);
  EXPECT_EQ(to_text(Trace{}), "");
}

TEST(Trace, RoundTripsThroughJson) {
  const Trace trace = trace_of(kAllSteps);
  const auto json = parse_json(print_json(to_json(trace)));
  ASSERT_TRUE(json);
  const auto again = trace_from_json(*json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, trace);
  EXPECT_EQ(print_json(to_json(trace_of("split C i [4, 8]"))),
            R"([{"step":"split","stage":"C","loop":"i","factors":[4,8]}])");
  EXPECT_EQ(print_json(to_json(trace_of("cache_read A [C] ordinal=2"))),
            R"([{"step":"cache_read","stage":"A","readers":["C"],"ordinal":2}])");
}

TEST(Trace, AcceptsFreeFormatting) {
  const Trace trace = trace_of(
      "# a tile\r\n"
      "\n"
      "  split\tC i [ 4 ,8 ] tail=peel   # eight wide\r\n"
      "reorder C []\n"
      "fuse C [i.0,(a,b)]");
  EXPECT_EQ(to_text(trace), "split C i [4, 8]\nreorder C []\nfuse C [i.0, (a,b)]\n");
}

TEST(Trace, ReadsTheSpellingOfOlderRecords) {
  EXPECT_EQ(to_text(trace_of("annotate C j vectorise")), "annotate C j vectorize\n");
  EXPECT_EQ(trace_of("annotate C j vectorise"), trace_of("annotate C j vectorize"));
}

// The names that loops get from splits and fusions all read back.
TEST(Trace, ReadsEveryNameALoopCanHave) {
  std::string name = "i";
  for (size_t k = 1; k < kMaxLoops; ++k) name = fmt::format("({},j{}).7", name, k);
  check_round_trip("split C " + name + " [2]");
}

TEST(Trace, ExplainsMistakesInText) {
  struct Mistake {
    std::string text;
    std::vector<std::string> says;
  };
  const std::string form =
      "the form is: split stage loop [up to 7 factors] (tail=peel|mask|overlap|pad)";
  const std::string kilobyte(1000, '7');
  const std::vector<Mistake> mistakes = {
      {"splitt C i [4]", {"line 1: there is no step 'splitt'; steps are split, fuse, reorder"}},
      {"cache_write C\n\n# x\nsplit C i\n", {"line 4: factors is missing", form}},
      {"split", {"line 1: stage is missing", form}},
      {"split C i [4] 8", {"line 1: '8' is one word too many", form}},
      {"split C i [4] tail=peel tail=peel", {"'tail=peel' is one word too many"}},
      {"split C i [4] ordinal=1", {"'ordinal=1' is one word too many"}},
      {"split C i [4", {"line 1: bad factors '[4'", form}},
      {"split C i 4]", {"bad factors '4]'"}},
      {"split C i 4", {"bad factors '4'"}},
      {"split C i [4,,8]", {"bad factors '[4,,8]'"}},
      {"split C i [4,]", {"bad factors '[4,]'"}},
      {"split C i [4 8]", {"bad factors '[4 8]'"}},
      {"split C i [4.5]", {"bad factors '[4.5]'"}},
      {"split C i [0x4]", {"bad factors '[0x4]'"}},
      {"split C i [99999999999999999999]", {"bad factors '[99999999999999999999]'"}},
      {"split C i [1,2,3,4,5,6,7,8]", {"bad factors", "up to 7"}},
      {"split C i [4] tail=", {"bad tail 'tail='", "(tail=peel|mask|overlap|pad)"}},
      {"split C i [4] tail=blend", {"bad tail 'tail=blend'", "(tail=peel|mask|overlap|pad)"}},
      {"split C i.10 [4]", {"bad loop 'i.10'"}},
      {"split C i. [4]", {"bad loop 'i.'"}},
      {"split C .0 [4]", {"bad loop '.0'"}},
      {"split C (i) [4]", {"bad loop '(i)'"}},
      {"split C (i,j [4]", {"bad loop"}},
      {"split C (i,j)) [4]", {"bad loop '(i,j))'"}},
      {"split C (i,,j) [4]", {"bad loop '(i,,j)'"}},
      {"split C i-j [4]", {"bad loop 'i-j'"}},
      {"split C " + std::string(5000, '(') + " [4]", {"bad loop '((((", "...'"}},
      {"split C " + std::string(100000, 'i') + " [4]", {"bad loop 'iii", "...'", form}},
      {"split C.wrote i [4]", {"bad stage 'C.wrote'"}},
      {"split C. i [4]", {"bad stage 'C.'"}},
      {"split C.read.0 i [4]", {"bad stage 'C.read.0'"}},
      {"split C.read.01 i [4]", {"bad stage 'C.read.01'"}},
      {"split C.read.256 i [4]", {"bad stage 'C.read.256'"}},
      {"split C.read. i [4]", {"bad stage 'C.read.'"}},
      {"split C.read.1.2 i [4]", {"bad stage 'C.read.1.2'"}},
      {"split C\xc3\xa9 i [4]", {"bad stage"}},
      {"annotate C i paralel",
       {"bad how 'paralel'", "annotate stage loop none|parallel|vectorize|"}},
      {"cache_read A C",
       {"bad readers 'C'", "cache_read stage [up to 8 readers] (ordinal=ordinal)"}},
      {"cache_read A [C] ordinal=x", {"bad ordinal 'ordinal=x'"}},
      {"cache_read A [A,A,A,A,A,A,A,A,A]", {"bad readers", "up to 8"}},
      {"fuse C i j", {"bad loops 'i'", "fuse stage [up to 40 loops]"}},
      {"compute_at P C", {"loop is missing", "compute_at stage target loop"}},
      {"pack B", {"reader is missing", "pack stage reader"}},
      {kilobyte + kilobyte, {"there is no step '777", "...'"}},
      {std::string("\0\0", 2), {"line 1: there is no step"}},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.text.substr(0, 60));
    const auto trace = trace_from_text(mistake.text);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().kind, ErrorKind::BadInput);
    EXPECT_LT(trace.error().message.size(), 300u);
    EXPECT_THAT(trace.error().message, HasSubstr("line "));
    for (const std::string& says : mistake.says) {
      EXPECT_THAT(trace.error().message, HasSubstr(says));
    }
  }
}

TEST(Trace, ListsHoldAsManyItemsAsTheirSizes) {
  const auto list = [](const char* item, size_t count) {
    std::string text = item;
    for (size_t k = 1; k < count; ++k) text += fmt::format(", {}", item);
    return "[" + text + "]";
  };
  check_round_trip("split C i " + list("2", kMaxFactors));
  check_round_trip("cache_read A " + list("C", kMaxReaders));
  const auto refused = [](const Result<Trace>& trace) {
    return trace ? "it is accepted" : trace.error().message;
  };
  const std::string factors = list("2", kMaxFactors + 1);
  const std::string readers = list("C", kMaxReaders + 1), quoted = list("\"C\"", kMaxReaders + 1);
  EXPECT_THAT(refused(trace_from_text("split C i " + factors)),
              HasSubstr(fmt::format("bad factors '{}'; the form is: split stage loop [up to {} ",
                                    factors, kMaxFactors)));
  EXPECT_THAT(refused(trace_from_text("cache_read A " + readers)),
              HasSubstr(fmt::format("bad readers '{}'; the form is: cache_read stage [up to {} ",
                                    readers, kMaxReaders)));
  const auto json = [](const std::string& fields) {
    return trace_from_json(parse_json("[{" + fields + "}]").value());
  };
  EXPECT_THAT(refused(json(R"("step": "split", "stage": "C", "loop": "i", "factors": )" + factors)),
              HasSubstr(fmt::format("split stage loop [up to {} factors]", kMaxFactors)));
  EXPECT_THAT(refused(json(R"("step": "cache_read", "stage": "A", "readers": )" + quoted)),
              HasSubstr(fmt::format("cache_read stage [up to {} readers]", kMaxReaders)));
}

TEST(Trace, ExplainsMistakesInJson) {
  struct Mistake {
    std::string json;
    std::string says;
  };
  const std::vector<Mistake> mistakes = {
      {R"({})", "a trace is an array of steps"},
      {R"("split")", "a trace is an array of steps"},
      {R"([7])", "element 0: a step is an object with \"step\""},
      {R"([{}])", "element 0: a step is an object with \"step\""},
      {R"([{"step": 3}])", "element 0: a step is an object with \"step\""},
      {R"([{"step": "spilt"}])", "element 0: there is no step 'spilt'; steps are split, fuse"},
      {R"([{"step": "cache_write", "stage": "C"}, {"step": "split", "stage": "C", "loop": "i"}])",
       "element 1: factors is missing; the fields are: split stage loop [up to 7 factors]"},
      {R"([{"step": "cache_write", "stage": "C", "stag": "C"}])", "there is no field 'stag'"},
      {R"([{"step": "cache_write", "stage": "C", "": 1}])", "there is no field ''"},
      {R"([{"step": "cache_write", "stage": 7}])", "bad stage '7'"},
      {R"([{"step": "cache_write", "stage": null}])", "bad stage 'null'"},
      {R"([{"step": "cache_write", "stage": ["C"]}])", "bad stage '[\"C\"]'"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": 4}])", "bad factors '4'"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": "[4]"}])", "bad factors"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": [4.0]}])",
       "bad factors '[4.0]'"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": ["4"]}])", "bad factors"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": [true]}])", "bad factors"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": [1,1,1,1,1,1,1,1]}])",
       "up to 7"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": [18446744073709551615]}])",
       "bad factors '[18446744073709551615]'"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": [9223372036854775808]}])",
       "bad factors"},
      {R"([{"step": "split", "stage": "C", "loop": "i", "factors": [1e400]}])", ""},
      {R"([{"step": "split", "stage": "C", "loop": "i j", "factors": [4]}])", "bad loop '\"i j\"'"},
      {R"([{"step": "annotate", "stage": "C", "loop": "i", "how": 1}])", "bad how '1'"},
      {R"([{"step": "cache_read", "stage": "A", "readers": ["C"], "ordinal": "1"}])",
       "bad ordinal"},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.json);
    const auto json = parse_json(mistake.json);
    if (!json) continue;  // refused before it is a trace
    const auto trace = trace_from_json(*json);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().kind, ErrorKind::BadInput);
    EXPECT_THAT(trace.error().message, HasSubstr(mistake.says));
  }
}

TEST(Trace, NumberOfStepsIsLimited) {
  std::string text;
  for (size_t k = 0; k < kMaxSteps; ++k) text += "compute_root C\n";
  const auto longest = trace_from_text(text);
  ASSERT_TRUE(longest) << longest.error().message;
  EXPECT_TRUE(trace_from_json(to_json(*longest)));
  const auto more = trace_from_text(text + "compute_root C\n");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().message, "line 2001: a trace has up to 2000 steps");
  Json json = to_json(*longest);
  json.push_back(json[0]);
  EXPECT_FALSE(trace_from_json(json));
  const Workbench bench("matmul:m=4,n=4,k=4");
  EXPECT_EQ(bench.refusal(text).code, IllegalCode::None);
}

// Any bytes give an error, or a trace that round-trips.
void expect_sane(std::string_view bytes) {
  const auto trace = trace_from_text(bytes);
  if (!trace) {
    ASSERT_THAT(trace.error().message, HasSubstr("line "));
    return;
  }
  const auto again = trace_from_text(to_text(*trace));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(*again, *trace);
  const auto json = trace_from_json(to_json(*trace));
  ASSERT_TRUE(json) << json.error().message;
  ASSERT_EQ(*json, *trace);
}

TEST(Trace, AnyBytesAreATraceOrAnError) {
  Rng rng(1);
  const std::string_view alphabet = "split fuse C.read i.0(),[]=#\n\t 0123456789-\0\xff";
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    const uint64_t length = rng.below(80);
    for (uint64_t k = 0; k < length; ++k) {
      bytes +=
          round % 2 == 0 ? static_cast<char>(rng.below(256)) : alphabet[rng.below(alphabet.size())];
    }
    ASSERT_NO_FATAL_FAILURE(expect_sane(bytes)) << bytes;
  }
}

TEST(Trace, DamagedTextIsATraceOrAnError) {
  Rng rng(2);
  const std::string_view alphabet = " .,()[]=#\n019aiC";
  int legal = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = kAllSteps;
    const uint64_t changes = 1 + rng.below(3);
    for (uint64_t k = 0; k < changes; ++k) {
      const size_t at = rng.below(bytes.size());
      const size_t length = std::min<size_t>(bytes.size() - at, 1 + rng.below(6));
      const char put = alphabet[rng.below(alphabet.size())];
      switch (rng.below(4)) {
        case 0:
          bytes[at] = put;
          break;
        case 1:
          bytes.erase(at, length);
          break;
        case 2:
          bytes.insert(at, 1, put);
          break;
        default:
          bytes.insert(rng.below(bytes.size()), bytes.substr(at, length));
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_sane(bytes)) << bytes;
    legal += trace_from_text(bytes) ? 1 : 0;
  }
  EXPECT_GT(legal, 100);
  EXPECT_LT(legal, 4500);
}

TEST(StageName, RoundTrips) {
  for (const char* text :
       {"C", "C.write", "A.read", "A.read.1", "A.read.255", "S.rfactor", "x_1"}) {
    const auto name = StageName::parse(text);
    ASSERT_TRUE(name) << text;
    EXPECT_EQ(name->text(), text);
  }
  for (const char* text : {"", ".", "C.", ".read", "C.main", "C.read.0", "C.read.-1", "C.read.1x",
                           "C.read.256", "a b", "C..read"}) {
    EXPECT_FALSE(StageName::parse(text)) << text;
  }
}

}  // namespace
}  // namespace tilewright::schedule::testing
