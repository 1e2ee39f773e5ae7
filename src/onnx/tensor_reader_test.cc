#include "onnx/tensor_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "onnx/model_testing.h"

namespace tilewright::onnx {
namespace {

using graph::Constant;
using ir::Scalar;
using ::onnx::TensorProto;
using testing::HasSubstr;

Result<Constant> read(const TensorProto& tensor) {
  return TensorReader(nullptr, {}, int64_t{1} << 20).read(tensor);
}

TensorProto make(int type, const std::vector<int64_t>& shape) {
  TensorProto tensor;
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(shape.begin(), shape.end());
  return tensor;
}

TEST(TensorReaderTest, ElementsInTypedFields) {
  TensorProto halves = make(TensorProto::FLOAT16, {2});
  halves.add_int32_data(0x3C00);
  halves.add_int32_data(0xC000);
  const auto read_halves = read(halves);
  ASSERT_TRUE(read_halves.has_value());
  EXPECT_EQ(read_halves->number(0), 1);
  EXPECT_EQ(read_halves->number(1), -2);

  TensorProto bytes = make(TensorProto::INT8, {2});
  bytes.add_int32_data(-3);
  bytes.add_int32_data(127);
  EXPECT_EQ(read(bytes)->integers(), (std::vector<int64_t>{-3, 127}));

  TensorProto wide = make(TensorProto::INT64, {});
  wide.add_int64_data((int64_t{1} << 60) + 1);
  EXPECT_EQ(read(wide)->integer(0), (int64_t{1} << 60) + 1);

  TensorProto words = make(TensorProto::UINT32, {});
  words.add_uint64_data(4294967295);
  EXPECT_EQ(read(words)->integer(0), 4294967295);
  TensorProto shorts = make(TensorProto::UINT16, {});
  shorts.add_int32_data(65535);
  EXPECT_EQ(read(shorts)->integer(0), 65535);

  TensorProto few = make(TensorProto::INT64, {2});
  few.add_int64_data(1);
  EXPECT_THAT(read(few).error().message, HasSubstr("it is i64[2] and has 1 elements"));
}

TEST(TensorReaderTest, FourBitIntegersAreWidened) {
  TensorProto raw = make(TensorProto::INT4, {3});
  raw.set_raw_data(std::string("\xF1\x07", 2));
  EXPECT_EQ(read(raw)->integers(), (std::vector<int64_t>{1, -1, 7}));
  TensorProto field = make(TensorProto::UINT4, {3});
  field.add_int32_data(0xF1);
  field.add_int32_data(0x07);
  EXPECT_EQ(read(field)->integers(), (std::vector<int64_t>{1, 15, 7}));
  EXPECT_EQ(read(field)->type().element, Scalar::U8);
}

TEST(TensorReaderTest, NonzeroBoolsAreOne) {
  TensorProto tensor = make(TensorProto::BOOL, {3});
  tensor.set_raw_data(std::string("\x00\x01\x7F", 3));
  EXPECT_EQ(read(tensor)->integers(), (std::vector<int64_t>{0, 1, 1}));
}

TEST(TensorReaderTest, UnsupportedTypes) {
  const auto tensor = read(make(TensorProto::FLOAT8E4M3FN, {1}));
  ASSERT_FALSE(tensor.has_value());
  EXPECT_EQ(tensor.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(tensor.error().message, HasSubstr("float8e4m3fn"));
  EXPECT_THAT(read(make(12345, {1})).error().message, HasSubstr("type 12345"));
}

TEST(TensorReaderTest, TotalSizeOfConstantsIsLimited) {
  TensorReader reader(nullptr, {}, 100);
  TensorProto tensor = make(TensorProto::FLOAT, {20});
  tensor.set_raw_data(std::string(80, '\0'));
  EXPECT_TRUE(reader.read(tensor).has_value());
  EXPECT_TRUE(reader.read(tensor).has_value()) << "the same again takes nothing";
  const TensorProto another = tensor;
  EXPECT_THAT(reader.read(another).error().message, HasSubstr("too much memory"));
}

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "model/below");
    write("secret", "outside of the folder");
    const float values[] = {0, 1, 2, 3};
    std::string bytes(sizeof values, '\0');
    std::memcpy(bytes.data(), values, sizeof values);
    write("model/weights", bytes);
    write("model/below/weights", bytes);
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  Result<Constant> read(const std::string& location, const std::string& offset = "",
                        const std::string& length = "") const {
    TensorProto tensor = make(TensorProto::FLOAT, {2});
    tensor.set_data_location(TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair{"location", location}, {"offset", offset}, {"length", length}}) {
      if (value.empty()) continue;
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return TensorReader(nullptr, {folder_ / "model"}, 1000).read(tensor);
  }

  const TemporaryFolder folder_ = make_scratch_folder("tilewright-external-").value();
};

TEST_F(ExternalDataTest, RangesOfAFile) {
  const auto part = read("weights", "8", "8");
  ASSERT_TRUE(part.has_value()) << part.error().message;
  EXPECT_EQ(part->number(0), 2);
  EXPECT_EQ(part->number(1), 3);
  EXPECT_TRUE(read("below/weights").has_value());
  const auto odd = read("weights", "1", "8");  // not aligned: copied
  ASSERT_TRUE(odd.has_value());
}

TEST_F(ExternalDataTest, PathsOutsideTheModelFolderAreRejected) {
  std::filesystem::create_symlink(folder_ / "secret", folder_ / "model/link");
  for (const std::string location :
       {"../secret", "below/../../secret", "/etc/passwd", "link", ".", ""}) {
    const auto tensor = read(location);
    EXPECT_FALSE(tensor.has_value()) << location;
  }
  EXPECT_THAT(read("../secret").error().message,
              HasSubstr("not a file in the folder of the model"));
}

TEST_F(ExternalDataTest, RangesOutOfBounds) {
  EXPECT_THAT(read("weights", "12", "8").error().message, HasSubstr("which has 16"));
  EXPECT_THAT(read("weights", "18446744073709551608").error().message, HasSubstr("offset"));
  EXPECT_THAT(read("weights", "-8").error().message, HasSubstr("offset"));
  EXPECT_THAT(read("weights", "0", "4").error().message, HasSubstr("4 bytes of external data"));
  EXPECT_THAT(read("missing").error().message, HasSubstr("missing"));
}

}  // namespace
}  // namespace tilewright::onnx
