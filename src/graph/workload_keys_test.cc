// Kernels of each kind have the keys that stores already hold, and loops of the names that stored
// traces refer to. A difference here makes records of earlier versions useless: it needs a reason
// and, for keys, a new version of them.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "graph/op_table.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;
using Types = std::vector<std::optional<TensorType>>;

TensorType of(std::vector<int64_t> shape, Scalar element = Scalar::F32) {
  return {.element = element, .shape = std::move(shape)};
}

Attributes letters(const char* a, const char* b, const char* out) {
  return {{"a", std::string(a)}, {"b", std::string(b)}, {"out", std::string(out)}};
}

Attributes heads(const char* q, const char* k, const char* v, const char* out) {
  return {{"q", std::string(q)},
          {"k", std::string(k)},
          {"v", std::string(v)},
          {"out", std::string(out)}};
}

Attributes with(Attributes attributes, const Attributes& more) {
  for (const auto& [name, value] : more.all()) attributes.set(name, value);
  return attributes;
}

// The key of the Dag, and a hash of its JSON form, which has all names.
struct Identity {
  std::string key, names;
  bool operator==(const Identity&) const = default;
};

std::ostream& operator<<(std::ostream& stream, const Identity& identity) {
  return stream << '"' << identity.key << "\", \"" << identity.names << '"';
}

Identity identity_of(const std::shared_ptr<const te::Dag>& dag) {
  const Workload workload = dag_workload(dag, {});
  return {.key = workload.key().hex(), .names = Hasher().add_text(workload.text).finish().hex()};
}

struct NodeCase {
  std::string op;
  Attributes attributes;
  Types operands;
  Identity identity;
};

TEST(WorkloadKeys, OfNodes) {
  const std::optional<TensorType> none;
  const NodeCase cases[] = {
      {"softmax",
       {},
       {of({8, 16})},
       {"aaf08efedf1414731bbdeccf963c027a", "b8bba34a464ffc8f2ab19a93c3e269a3"}},
      {"softmax",
       {{"axis", 1}},
       {of({2, 3, 4, 5}, Scalar::F16)},
       {"ce30c880179e7782c00f76bb121629fd", "7478b94ad7d830c5130c425a45345ce4"}},
      {"softmax",
       {{"axis", 0}, {"log", 1}},
       {of({7, 5})},
       {"150836a981bc549e8ce2d7252e9ff9ed", "34e4adbada61ad21ea4e8638ff17a538"}},
      {"softmax",
       {{"log", 1}},
       {of({3, 4, 5}, Scalar::BF16)},
       {"f4245ea0b67d66157073371810d6ffd8", "d14503999513aa7b303db2fc4b234167"}},
      {"layer_norm",
       {},
       {of({8, 16}), of({16}), of({16})},
       {"ae0eadd0647b6c710a58fce6e716bc92", "675e54046b45ace7ed288c16ba92bc5b"}},
      {"layer_norm",
       {{"axis", 1}, {"epsilon", 1e-6}},
       {of({2, 3, 4}, Scalar::F16), of({3, 4}, Scalar::F16), none},
       {"8ceb3cd25b25eeed69e299dfd209098a", "f0fac1359cd01d930b2ac9b71537e3a5"}},
      {"layer_norm",
       {{"axis", 1}},
       {of({2, 3, 4}), none, of({1, 4})},
       {"499b90d875a6772f5a76f8d2118d6b39", "30b4142a29239360e0434cac2a290ddd"}},
      {"rms_norm",
       {},
       {of({2, 8, 16}), of({16})},
       {"f8748ed52a36be8287495dc97d0cd98e", "00a004ce54976a2622261da6db26520a"}},
      {"rms_norm",
       {{"axis", 1}},
       {of({2, 8, 16}, Scalar::F64)},
       {"5fff108ff56e9a0493950ef53b7aa721", "1235631a15c754e13467368c764b78a4"}},
      {"group_norm",
       {{"groups", 1}},
       {of({2, 6, 5}), of({6}), of({6})},
       {"704bedea1c2bb93c15065987344a03c4", "2b2390ddb4aadd99f73a99323d33287b"}},
      {"group_norm",
       {{"groups", 3}},
       {of({2, 6, 5, 4}), of({6}), of({6})},
       {"51c0b500cb43d6e2e951437626153f1c", "6fcb3cd8518e79dfcf71f3ef811863f4"}},
      {"group_norm",
       {{"groups", 6}},
       {of({2, 6, 5, 4}, Scalar::F16)},
       {"df86ea27dbe7f842b7bdc256e01a36b4", "ce078b3f4363ececcdff508c62f076fb"}},
      {"group_norm",
       {{"groups", 6}},
       {of({2, 6})},
       {"dd45170f3cbf6eb33c5b33ea097d7f4b", "0be5e591cf1fa1e2d0e0da0daba0476e"}},
      {"group_norm",
       {{"groups", 2}, {"axis", 3}},
       {of({2, 5, 4, 6}), of({6})},
       {"eb07b550e01f78d67c5414b5f2093d71", "b90fc92bb8831867113cc98fcaef3f54"}},
      {"lrn",
       {{"size", 3}},
       {of({2, 6, 5, 4})},
       {"f3e2613d1fbde3e9bbbd1be13b8fb035", "689a703d89fd4fc26d0e13605163ef95"}},
      {"lp_norm",
       {{"axis", 1}, {"p", 1}},
       {of({2, 6, 5})},
       {"d29be1bd44f19de63f23fcc73148cc2d", "086ce16d56ca33a98a94fcd2d5db715f"}},
      {"lp_norm",
       {},
       {of({2, 6, 5}, Scalar::F16)},
       {"e5e0a1323005aa29161ee2856eb7b241", "515154422dcc4049fdd2653bb7fc06eb"}},
      {"contract",
       letters("ik", "kj", "ij"),
       {of({8, 16}), of({16, 4})},
       {"2e3035d235df0565db6ed8c3c882e76e", "39aaee804cfa4c41a650baa9d80e11ca"}},
      {"contract",
       letters("bik", "kj", "bij"),
       {of({2, 8, 16}, Scalar::F16), of({16, 4}, Scalar::F16)},
       {"9c7fec5330377763f3615501cc42c4fa", "4c6a9ccc256bb94864a9ebd7f3c09c25"}},
      {"contract",
       letters("bhid", "bhjd", "bhij"),
       {of({2, 3, 8, 16}), of({2, 1, 5, 16})},
       {"9603bd6910bead4ed9bbf94672d94683", "e21770666661b0a5c8c936212715ef26"}},
      {"contract",
       letters("iK", "kK", "iKk"),
       {of({8, 16}), of({5, 16})},
       {"c10bb5f34f744b5d6a74c4bd7fab56bf", "9e3b8444b94d92b234a88a73f1fd95dd"}},
      {"contract",
       letters("ii", "j", "ij"),
       {of({4, 4}), of({5})},
       {"f98df30e2f44864c8b99ebf92c25da06", "ac2742518b8eb72c541ec79369c47cb8"}},
      {"contract",
       letters("ik", "kj", "ij"),
       {of({8, 16}, Scalar::U8), of({16, 4}, Scalar::I8)},
       {"3d93da6ce742aef85648c6a20fffa5b7", "c89a14abef1dba463fbb5c9dc96fc4c1"}},
      {"attention",
       heads("bhid", "bhjd", "bhje", "bhie"),
       {of({2, 3, 8, 16}), of({2, 3, 5, 16}), of({2, 3, 5, 4})},
       {"36b71bb8786c6065cc3b4aa9b3ed0547", "b5f9666d9dfdb34b43bc550c17642acf"}},
      {"attention",
       with(heads("bigrd", "bjgd", "bjge", "bigre"), {{"scale", 0.25}}),
       {of({1, 8, 2, 3, 16}), of({1, 5, 2, 16}), of({1, 5, 2, 4}), of({8, 1, 5})},
       {"eab77a97107e879e7228aea137d7224d", "e74304e65a6e69760ffdd236bf2aa9b9"}},
      {"attention",
       with(heads("bhid", "bhjd", "bhje", "bhie"),
            {{"scores", std::string("hbij")}, {"hidden", -1e4}, {"nan_is_zero", 1}}),
       {of({2, 3, 8, 16}, Scalar::F16), of({2, 3, 5, 16}, Scalar::F16),
        of({2, 3, 5, 4}, Scalar::F16), of({1, 1, 8, 5}, Scalar::Bool), of({5}, Scalar::F16)},
       {"2ea28a11befe1d2750a5a2c92126b2e9", "e5cd21b74425216cf2031042316b6e99"}},
      {"attention",
       with(heads("id", "jd", "je", "ie"), {{"hidden", -1e4}, {"visible", 0}}),
       {of({8, 16}), of({5, 16}), of({5, 4}), none, of({8, 5}, Scalar::Bool)},
       {"4c0c20587e6f499b2cf78fc8cc5a8f16", "5674ce7ce0ea0b5327a651be8c848e4f"}},
      {"reduce",
       {{"kind", std::string("sum")}, {"axes", std::vector<int64_t>{0, 2}}},
       {of({3, 4, 5})},
       {"dd4997dfc426b9f5d15e4467c8c62309", "89fcc3bd4178cfd1df7a583a2488f1d6"}},
      {"reduce",
       {{"kind", std::string("mean")}, {"axes", std::vector<int64_t>{1}}, {"keep", 1}},
       {of({3, 4, 5}, Scalar::F16)},
       {"ebb277c7e99598ec0d45a0d0f970659b", "86ec04db2da770b76a5c309e04580c98"}},
      {"reduce",
       {{"kind", std::string("l2")}, {"axes", std::vector<int64_t>{0, 1}}},
       {of({3, 4})},
       {"835a14e57b6bf396e5759239329f3a3d", "3f5bc9ac6de737f473073fa0d130bf2f"}},
      {"arg_reduce",
       {{"axis", 1}},
       {of({3, 4, 5})},
       {"e2e9a9ddadb903143f252de3547559c7", "1a1a28515359d0e409653d78726c1230"}},
      {"pool",
       {{"kernel", std::vector<int64_t>{2, 2}}, {"channels_last", 1}},
       {of({1, 6, 6, 3})},
       {"f3132f4e4ab77d3dfef1d5acff89fef0", "af3086b5681964b2119debf21cbe3133"}},
      {"conv",
       {{"channels_last", 1},
        {"pad_begin", std::vector<int64_t>{1, 1}},
        {"pad_end", std::vector<int64_t>{1, 1}}},
       {of({1, 8, 8, 4}), of({3, 3, 4, 6})},
       {"b5cc9efb90fd00b1765243ac88790748", "c450655bf8b31db43a7692a32bc8aec4"}},
      {"conv",
       {},
       {of({1, 4, 8, 8}), of({6, 4, 3, 3})},
       {"4a97863d0193524c01005834912a1363", "913d4dd7a52471ba811ec66e62c2dd36"}},
      {"conv",
       {{"channels_last", 1}, {"groups", 4}},
       {of({1, 8, 8, 4}), of({3, 3, 1, 4})},
       {"28f3206fbe1b1f876e524eb4df334edd", "c7501e94e5b7781adc1cabd6838282dd"}},
      {"conv_transpose",
       {{"stride", std::vector<int64_t>{2, 2}}},
       {of({1, 4, 5, 5}), of({4, 6, 3, 3})},
       {"c7cfed3f3100800677a357d1ca4f0d04", "0b8b937edc035f42d5ce593d721ff143"}},
      {"conv_winograd",
       {{"pad", 1}},
       {of({1, 8, 8, 4}), of({6, 6, 4, 8})},
       {"4167f94cbdff044330703e1e88278f2e", "f5d7872b0e429526d17eb8ecf0bc3b3d"}},
      {"add",
       {},
       {of({3, 4}), of({4})},
       {"4120f5b05c6546b1f4d4ace2be41be31", "b493df3fdaa4c50e47ad7bd36fad5566"}},
      {"gelu",
       {},
       {of({3, 4})},
       {"26b1e7ae99b46b7f9cdc466976cf1861", "61bdf40059bcff16922fb6dffd03d52a"}},
      {"transpose",
       {{"perm", std::vector<int64_t>{1, 0}}},
       {of({3, 4})},
       {"2a81752db59478792929c0fbed35492f", "7d2ca474258a3430871d3b205e9fa6d4"}},
      {"resize",
       {{"mode", std::string("linear")}, {"to", std::vector<int64_t>{1, 2, 8, 8}}},
       {of({1, 2, 4, 4})},
       {"084ac203c67a0a3f3c75e63e70049d81", "e04c674ffcf1ff03487c46f228a900fd"}},
      {"quantize_linear",
       {},
       {of({3, 4}), of({1}), of({1}, Scalar::I8)},
       {"0c1aaf8eada50b136c59dffdf0b2d070", "451186c4e3b934e8319542f871a68dd3"}},
  };
  for (const NodeCase& one : cases) {
    const OpDef* op = find_op(one.op);
    ASSERT_NE(op, nullptr) << one.op;
    const auto dag = op->define(one.attributes, one.operands);
    ASSERT_TRUE(dag.has_value()) << dag.error().message;
    EXPECT_EQ(identity_of(*dag), one.identity) << one.op << ": " << one.attributes.to_string();
  }
}

TEST(WorkloadKeys, OfOperators) {
  const std::pair<std::string, Identity> cases[] = {
      {"matmul:m=8,n=4,k=16",
       {"2e3035d235df0565db6ed8c3c882e76e", "39aaee804cfa4c41a650baa9d80e11ca"}},
      {"matmul:m=8,n=4,k=16,transpose_a=1,transpose_b=1,dtype=f16",
       {"b237920aee6a288fe2206a344e192e20", "b91fa8885cf945d3cd4664037c606eac"}},
      {"matmul:m=8,n=4,k=16,dtype=u8,dtype_b=i8",
       {"3d93da6ce742aef85648c6a20fffa5b7", "c89a14abef1dba463fbb5c9dc96fc4c1"}},
      {"batch_matmul:b=2,m=8,n=4,k=16",
       {"65643a15fe1e9009036b0ce0eef8753c", "ec5b8429b2d08fb55f8572ae488a1e6a"}},
      {"batch_matmul:b=1,m=8,n=1,k=16,transpose_a=1",
       {"939857d40bbb163f6337ffbdb5a47a71", "5d07b7edb04c6bf7d6778fa1581935be"}},
      {"norm:b=2,m=5,n=7",
       {"f4d6431d2ac27c0af9f036e5372fc43b", "b209321966a9081461f9415a09e5e907"}},
      {"layer_norm:m=8,n=16",
       {"ae0eadd0647b6c710a58fce6e716bc92", "c5f9c71618aac26bd0e88acf80bb394e"}},
      {"layer_norm:m=8,n=16,eps=1e-6,dtype=bf16",
       {"2dd5a5b60064c386b63c7c1b30845cf3", "bb3b8e93df92a7e53f7d85d13e5f0e81"}},
      {"rms_norm:m=8,n=16",
       {"0918e7902fe6620ecf915e38e98c6ddb", "d8ef5c0694fd8866f7c65c849a0fa905"}},
      {"softmax:m=8,n=16",
       {"aaf08efedf1414731bbdeccf963c027a", "63f2858a693c32664a318cd5ebc69163"}},
      {"softmax:m=8,n=16,dtype=f16",
       {"c9c8ff2adb34ea82cd8cf0a41141ce46", "ccb77997d5cedf566922f1c8013902a0"}},
      {"log_softmax:m=8,n=16",
       {"424af82174fc805a5aae82be7521194c", "c607f97220fd749d4f42e458b5e622bb"}},
      {"transpose_batch_matmul:b=2,heads=3,seq=8,dim=4",
       {"faf160d67fbfcb67cdcf9517449fcc10", "b84c9df5d218a935953113099ecc5ceb"}},
      {"transpose_batch_matmul:seq=8,dim=4,dtype=i8",
       {"2ce1bfb8916b9b2af444ff3412eeda19", "a9049f819fd19937166157f7b7aaa427"}},
      {"transpose_batch_matmul_softmax:b=2,heads=3,seq=8,dim=4",
       {"e9adf22d7ae970d14cf74c08445e4daa", "415727093207a72c0384abee8d78c9f8"}},
      {"attention:b=2,heads=3,seq=8,dim=4",
       {"1b2e1dcf211ac45e44bebe63ff8f8f8d", "d7084f3d356ca725caa5cd030c9859d8"}},
      {"attention:heads=3,seq=8,dim=4,dtype=f16",
       {"8a52b27eff5315ccec2f342af69c4d8a", "e9f8dc9b4c4b9f7022c116b547b179f5"}},
      {"attention_online:b=2,heads=3,seq=8,dim=4,block=4",
       {"0d06ba386effb4e5bab768edb715e1f9", "c8d9cdd87253f4dca760d38e03fc7298"}},
      {"attention_online:heads=3,seq=10,dim=4,block=4,dtype=f16",
       {"90e0ff2f0e936c17e30434733e99028d", "d7d22658991114f7f3d6936ebff50a8d"}},
  };
  for (const auto& [text, identity] : cases) {
    const auto workload = parse_workload(text);
    ASSERT_TRUE(workload.has_value()) << workload.error().message;
    EXPECT_EQ(identity_of(workload->dag), identity) << text;
  }
}

}  // namespace
}  // namespace tilewright::graph
