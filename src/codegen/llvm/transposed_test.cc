#include "codegen/llvm/transposed.h"

#include <gtest/gtest.h>
#include <llvm/IR/Constants.h>

namespace tilewright::codegen {
namespace {

// Element c of row r is r * 100 + c; the builder folds shuffles of constants.
std::vector<Value> numbered_square(llvm::LLVMContext& context, uint32_t size) {
  std::vector<Value> rows;
  for (uint32_t r = 0; r < size; ++r) {
    std::vector<uint32_t> row;
    for (uint32_t c = 0; c < size; ++c) row.push_back(r * 100 + c);
    rows.push_back(llvm::ConstantDataVector::get(context, row));
  }
  return rows;
}

TEST(Transposed, RowsBecomeColumns) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> builder(context);
  for (const uint32_t size : {4U, 8U, 16U}) {
    SCOPED_TRACE(size);
    const std::vector<Value> rows = transposed(builder, numbered_square(context, size));
    ASSERT_EQ(rows.size(), size);
    for (uint32_t r = 0; r < size; ++r) {
      const auto* row = llvm::dyn_cast<llvm::ConstantDataVector>(rows[r]);
      ASSERT_NE(row, nullptr);
      for (uint32_t c = 0; c < size; ++c) {
        EXPECT_EQ(row->getElementAsInteger(c), c * 100 + r) << r << ", " << c;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::codegen
