#include "app/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"
#include "record/record_testing.h"

namespace tilewright::app {
namespace {

std::string npy(std::string header, std::string_view data) {
  header += '\n';
  std::string file = "\x93NUMPY";
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 0xFFU);
  file += static_cast<char>(header.size() >> 8U);
  return file + header + std::string(data);
}

std::string_view bytes_of(const graph::Constant& constant) {
  return {reinterpret_cast<const char*>(constant.bytes().data()), constant.bytes().size()};
}

TEST(Npy, RoundTrips) {
  const record::testing::ScratchFolder folder;
  const std::string data = "0123456789abcdef01234567";
  const graph::TensorType type{.element = ir::Scalar::F32, .shape = {2, 3}};
  ASSERT_TRUE(write_npy(folder.path() / "x.npy", type, data).has_value());
  const auto read = read_npy(folder.path() / "x.npy", ir::Scalar::F32);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->type(), type);
  EXPECT_EQ(bytes_of(*read), data);
}

TEST(Npy, AnArrayOfU16IsOneOfBf16IfThatIsWanted) {
  const record::testing::ScratchFolder folder;
  const std::string data("\1\0\0\x80", 4);
  for (const ir::Scalar element : {ir::Scalar::U16, ir::Scalar::BF16}) {
    const graph::TensorType type{.element = element, .shape = {2}};
    ASSERT_TRUE(write_npy(folder.path() / "x.npy", type, data).has_value());
    const auto read = read_npy(folder.path() / "x.npy", element);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->type(), type);
    EXPECT_EQ(bytes_of(*read), data);
  }
  const auto other = read_npy(folder.path() / "x.npy", ir::Scalar::I16);
  ASSERT_TRUE(other.has_value()) << other.error().message;
  EXPECT_EQ(other->type().element, ir::Scalar::U16);
  EXPECT_EQ(other->integer(1), 32768);
}

TEST(Npy, ReadsScalarsAndColumnMajor) {
  const std::string one("\1\0\0\0\0\0\0\0", 8);
  const auto whole = parse_npy(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", one),
                               "s", ir::Scalar::I64);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->integer(0), 1);
  const auto turned =
      parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "abcdef"), "f",
                ir::Scalar::U8);
  ASSERT_TRUE(turned.has_value());
  EXPECT_EQ(bytes_of(*turned), "acebdf");
}

TEST(Npy, RejectsMalformedArrays) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  const std::pair<std::string, const char*> cases[] = {
      {"", "not a .npy"},
      {"\x93NUMPY\x01", "not a .npy"},
      {npy(good, "abc"), "has 4 bytes, but the file has 3"},
      {npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "abcd"), "not supported"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""), "is not valid"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", ""),
       "is not valid"},
      {npy("{'descr': '<f4'}", "abcd"), "not understood"},
      {std::string("\x93NUMPY\x09") + npy(good, "abcd").substr(7), "version 9"},
      {npy(good, "abcd").substr(0, 30), "cut off"}};
  for (const auto& [bytes, part] : cases) {
    const auto read = parse_npy(bytes, "x.npy", ir::Scalar::F32);
    ASSERT_FALSE(read.has_value()) << part;
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace tilewright::app
