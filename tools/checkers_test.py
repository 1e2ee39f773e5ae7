"""Tests of the checkers: each test plants one violation in a small tree."""

# size: one test class per checker, all on the same small trees

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_code
import check_headers
import check_layers
import check_sizes
import check_words
import checking
import run_tidy

TABLE = """
# a comment
folder   | purpose | may include | third-party only here
base     | b       | -           | nlohmann
ir       | i       | base        | isl (tests)
gen/llvm | g       | ir          | llvm
gen      | g       | base, ir (tests) | -
"""


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("tools/layers.txt", TABLE)
        self.write("src/base/a.h", "#include <nlohmann/json.hpp>\n")
        self.write("src/ir/b.h", '#include <vector>\n#include "base/a.h"\n')
        self.write("src/gen/c.cc", '#include "gen/c.h"\n#include "base/a.h"\n')
        self.write("src/gen/llvm/d.cc", '#include <llvm/IR/IRBuilder.h>\n#include "ir/b.h"\n')

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def layers(self):
        return check_layers.check_tree(self.root)


class Layers(Tree):
    def test_a_sound_tree_passes(self):
        self.write("src/gen/llvm/e.cc", '#include "base/a.h"\n')  # through ir
        self.write("src/ir/b_test.cc", "#include <isl/map.h>\n")
        self.assertEqual(self.layers(), [])

    def test_an_include_upwards(self):
        self.write("src/base/bad.cc", 'int x;\n#include "ir/b.h"\n')
        self.assertEqual(
            self.layers(),
            ["src/base/bad.cc:2: base may not include ir; it may include nothing"],
        )

    def test_a_sibling_and_a_subfolder(self):
        self.write("src/gen/bad.cc", '#include "gen/llvm/d.h"\n')
        self.write("src/gen/llvm/bad.cc", '  #  include "gen/c.h"\n')
        self.assertEqual(
            self.layers(),
            [
                "src/gen/bad.cc:1: gen may not include gen/llvm; it may include base",
                "src/gen/llvm/bad.cc:1: gen/llvm may not include gen; it may include base, ir",
            ],
        )

    def test_a_folder_for_tests_in_the_product(self):
        self.write("src/gen/good_test.cc", '#include "ir/b.h"\n')
        self.write("src/gen/good_testing.h", '#include "ir/b.h"\n')
        self.assertEqual(self.layers(), [])
        self.write("src/gen/bad.cc", '#include "ir/b.h"\n')
        self.assertEqual(
            self.layers(), ["src/gen/bad.cc:1: gen may not include ir; it may include base"]
        )

    def test_a_folder_of_tests_with_a_row(self):
        self.write("tests/toy/free.cc", '#include "gen/llvm/d.h"\n')
        self.write("tools/layers.txt", TABLE + "tests/toy/part | p | ir | -\n")
        self.write("tests/toy/part/good.cc", '#include "tests/toy/part/a.h"\n#include "base/a.h"\n')
        self.assertEqual(self.layers(), [])
        self.write("tests/toy/part/bad.cc", '#include "a.h"\n#include "gen/c.h"\n')
        self.assertEqual(
            self.layers(),
            [
                'tests/toy/part/bad.cc:1: write "tests/toy/part/a.h": includes are rooted at the root of the tree',
                "tests/toy/part/bad.cc:2: tests/toy/part may not include gen; it may include base, ir",
            ],
        )

    def test_a_direct_row_excludes_subfolders(self):
        self.write("tools/layers.txt", TABLE + "top | t | gen/llvm (direct) | -\n")
        self.write("src/top/good.cc", '#include "gen/llvm/d.h"\n#include "base/a.h"\n')
        self.write("src/top/good_test.cc", '#include "ir/b.h"\n')
        self.assertEqual(self.layers(), [])
        self.write("src/top/bad.cc", '#include "ir/b.h"\n')
        self.assertEqual(
            self.layers(),
            ["src/top/bad.cc:1: top may not include ir; it may include base, gen/llvm"],
        )

    def test_rows_above_a_direct_row_exclude_subfolders_too(self):
        rows = "top | t | gen/llvm (direct) | -\nroof | r | top | -\n"
        self.write("tools/layers.txt", TABLE + rows)
        self.write("src/top/good.cc", '#include "gen/llvm/d.h"\n')
        self.write("src/roof/bad.cc", '#include "ir/b.h"\n')
        self.assertEqual(
            self.layers(),
            ["src/roof/bad.cc:1: roof may not include ir; it may include base, gen/llvm, top"],
        )

    def test_an_unknown_mark(self):
        self.write("tools/layers.txt", TABLE.replace("(tests)", "(sometimes)", 1))
        self.assertEqual(
            self.layers(),
            ["tools/layers.txt: isl (sometimes): marks are (tests), (direct)"],
        )

    def test_the_program_includes_the_application_alone(self):
        table = check_layers.Table((checking.ROOT / "tools/layers.txt").read_text())
        self.assertEqual(table.reach["cli"], {"cli", "app", "base"})

    def test_a_library_in_the_wrong_folder(self):
        self.write("src/ir/bad.cc", "#include <llvm-c/Core.h>\n#include <nlohmann/json.hpp>\n")
        self.assertEqual(
            self.layers(),
            [
                "src/ir/bad.cc:1: only gen/llvm may use llvm",
                "src/ir/bad.cc:2: only base may use nlohmann",
            ],
        )

    def test_a_library_for_tests_in_the_product(self):
        self.write("src/ir/bad.cc", "#include <isl/map.h>\n")
        self.assertEqual(
            self.layers(), ["src/ir/bad.cc:1: isl is for the tests of ir only"]
        )

    def test_an_include_not_rooted_at_src(self):
        self.write("src/ir/bad.cc", '#include "b.h"\n')
        self.assertEqual(
            self.layers(), ['src/ir/bad.cc:1: write "ir/b.h": includes are rooted at src/']
        )

    def test_a_folder_without_a_row_and_a_row_without_a_folder(self):
        self.write("src/extra/x.cc", "\n")
        (self.root / "src/ir/b.h").unlink()
        problems = self.layers()
        self.assertIn("src/extra/x.cc:1: extra has no row in tools/layers.txt", problems)
        self.assertIn("tools/layers.txt: ir has a row but no sources", problems)

    def test_a_table_that_is_not_in_order(self):
        self.write("tools/layers.txt", TABLE.replace("| base     ", "| gen      ", 1))
        self.assertIn("ir may include gen, which has no row above", self.layers()[0])

    def test_a_table_with_a_broken_row(self):
        self.write("tools/layers.txt", TABLE + "x | y\n")
        self.assertEqual(self.layers(), ["tools/layers.txt: not 4 cells: x | y"])


class Code(Tree):
    def test_try_inside_braces(self):
        self.write("src/base/a.cc", "  return Pair{.first = one(), .second = TRY(two())};\n")
        self.write("src/base/b.cc", "  return Pair{\n      .first = TRY(one())};\n")
        found = check_code.check_tree(self.root)
        self.assertEqual([line.split(": ")[0] for line in found], ["src/base/a.cc:1", "src/base/b.cc:2"])

    def test_try_in_any_initializer(self):
        for line in (
            "P p{L(), TRY(bad())};",
            "return P{TRY(bad()), L()};",
            "L a[] = {L(), (TRY(bad()), L())};",
            "f({.a = L(), .b = {1, TRY(bad())}});",
            "const P p = {L(),\n           TRY(bad())};",
            "if (x) { return {one(), TRY(bad())}; }",
            "auto p = P{[] { int y; return y; }(), TRY(bad())};",
        ):
            with self.subTest(line=line):
                found = list(check_code.tries_in_braces(f"Status f() {{\n  {line}\n}}\n"))
                self.assertEqual(found, [3 if line.endswith("\n           TRY(bad())};") else 2])
        for line in (
            "f(L(), TRY(good()));",
            "P p(L(), TRY(good()));",
            "return std::pair(L(), TRY(good()));",
            "auto p = new P(L(), TRY(good()));",
            "f({L(), g(TRY(good()))});",
            "auto p = P{.f = [&] { return TRY(good()); }};",
            "if (x) { TRY(good()); }",
            "for (const auto& one : TRY(good())) { use(one); }",
            "x = (TRY(good()));",
            'say("{", TRY(good()));  // {TRY(',
            "char c = '{'; int n = 1'000; TRY(good()); c = '}';",
            'const char* s = R"({, )"; TRY(good());',
            "switch (x) { case 1: return TRY(good()); default: break; }",
            "if (TRY(good())) { if (TRY(better())) { use(); } }",
        ):
            with self.subTest(line=line):
                self.assertEqual(check_code.tries_in_braces(f"Status f() {{\n  {line}\n}}\n"), [])
        self.assertEqual(check_code.tries_in_braces("#define TRY(...) \\\n  ({ x, TRY(y) })\nint x;\n"), [])

    def test_dynamic_cast(self):
        self.write("src/base/a.cc", "auto* one = dynamic_cast<One*>(any);\n")
        self.assertEqual(len(check_code.check_tree(self.root)), 1)

    def test_reasons_and_features_of_the_system_have_one_place(self):
        for line, path, count in (
            ("return std::strerror(errno);", "src/measure/a.cc", 1),
            ("text += std::generic_category().message(code);", "src/record/a.cc", 1),
            ("text += std::generic_category().message(code);", "src/base/system_error.cc", 0),
            ('names = {"strerror"};', "src/codegen/llvm/a.cc", 0),
            ('bool wide() { return __builtin_cpu_supports("avx2"); }', "src/target/a.h", 1),
        ):
            self.write(path, line + "\n")
            self.assertEqual(len(check_code.check_tree(self.root)), count, line)
            (self.root / path).unlink()

    def test_verdicts_are_looked_up_in_one_place(self):
        line = "const auto* const found = known_.peek(program);\n"
        for path, count in (("src/tune/a.cc", 1), ("src/measure/proposal.cc", 0), ("src/tune/a_test.cc", 0)):
            self.write(path, line)
            self.assertEqual(len(check_code.check_tree(self.root)), count, path)
            (self.root / path).unlink()

    def test_instruction_sets(self):
        lines = [
            "#include <immintrin.h>",
            "#include <cpuid.h>",
            "if (target.has(Feature::Avx512f)) return 64;",
            'return "avx2+fma";',
            '__attribute__((target("sse4.2"))) void f();',
            "_mm_mfence();",
            "__m256i sum;",
            'capability("amx_int8");',
            "if (is_x86(target)) return;",
            "header.e_machine = EM_X86_64;",
            "case R_X86_64_PC32:",
            'intrinsic("vnni_dot_u8i8");',
            "#if defined(__aarch64__)",
            'feature("neon");',
            "bool has_sve();",
            'asm("vmovaps %zmm0, %xmm1");',
            "set_mxcsr(0);",
            'return "sm_90";',
            'fetch("https://x86.org");',  # a comment does not begin inside a string
        ]
        for line in lines:
            self.write("src/measure/a.cc", line + "\n")
            found = check_code.check_tree(self.root)
            self.assertEqual([line.split(": ")[0] for line in found], ["src/measure/a.cc:1"], line)
        self.write(
            "src/measure/a.cc",
            "int assets = max_memory;  // as AVX-512 has it\n"
            "/* On x86,\n   mxcsr. */ int harm_9, dimm, sved, resve;\n"
            "#include <map>  // neon\n",
        )
        for path in (
            "src/target/a.cc",
            "src/codegen/llvm/a.h",
            "src/codegen/c/a.cc",
            "src/runtime/abi/a.h",
            "src/runtime/host/elf_loader.cc",
            "src/schedule/intrinsics.cc",
            "src/lower/a_test.cc",
            "src/codegen/a_testing.h",
            "tests/a.cc",
        ):
            self.write(path, "\n".join(lines) + "\n")
        self.assertEqual(check_code.check_tree(self.root), [])
        self.write("src/codegen/a.cc", lines[2] + "\n")
        self.assertEqual(len(check_code.check_tree(self.root)), 1)

    def test_flags_below_the_command_line(self):
        lines = [
            'fail(kind, "give it by --input x=FILE");',
            'fmt::format("{}", "a \\"quoted\\" text", "use --cost");',
            'fail(kind, "make one with `tilewright compile`");',
            'fail(kind, "it is damaged: run `records check`");',
            'fail(kind, "// not a comment: --input");',
        ]
        for line in lines:
            self.write("src/app/a.cc", line + "\n")
            found = check_code.check_tree(self.root)
            self.assertEqual([line.split(": ")[0] for line in found], ["src/app/a.cc:1"], line)
        self.write("src/app/a.cc", 'f("a", --x, "b");  // --input is "--input"\ng("a -- b, a--", --x);\n')
        for path in ("src/cli/a.cc", "src/app/peers_run.cc", "src/app/a_test.cc", "bench/a.cc"):
            self.write(path, "\n".join(lines) + "\n")
        self.assertEqual(check_code.check_tree(self.root), [])

    def test_calls_of_lower_folders_in_the_program(self):
        for line in (
            "text += runtime::fma_instructions();",
            'return {{"loss", cost::loss_name(file.loss)}};',
            "auto store = record::Store::open(path);",
        ):
            self.write("src/cli/a.cc", line + "\n")
            found = check_code.check_tree(self.root)
            self.assertEqual([line.split(": ")[0] for line in found], ["src/cli/a.cc:1"], line)
            self.write("src/app/a.cc", line + "\n")
            self.write("src/cli/a_test.cc", line + "\n")
            self.write("src/cli/a.cc", "")
            self.assertEqual(check_code.check_tree(self.root), [], line)
        self.write(
            "src/cli/a.cc",
            "// runtime::fma_instructions()\n"
            "const record::Verdict& verdict = attempt.verdict;\n"
            "const auto kind = static_cast<record::VerdictKind>(k);\n"
            "const tune::Trial* winner = result.winning_trial();\n"
            "app::space_parts(target);\n"
            "const schedule::TileDomain domain{};\n"
            "measure_again();\n",
        )
        self.assertEqual(check_code.check_tree(self.root), [])

    def test_calls_that_are_found_by_their_arguments(self):
        self.write(
            "src/record/a.h",
            "std::string_view text_of(VerdictKind kind);\n"
            "inline bool is_failure(VerdictKind kind) { return kind > VerdictKind::Censored; }\n"
            "std::string print(Protocol protocol);\n"
            "struct Store {\n  std::string path() const;\n};\n",
        )
        self.write("src/record/a_testing.h", "int draw(int seed);\n")
        self.write("src/app/a.h", "std::string verdict_name(VerdictKind kind);\nint print(int x);\n")
        for line in (
            "text += text_of(verdict.kind);",
            "if (!is_failure(kind)) ++valid;",
            "return is_failure(kind);",
            "return {text_of(kind),\n   2};",
        ):
            self.write("src/cli/a.cc", f"int f() {{\n  {line}\n}}\n")
            found = check_code.check_tree(self.root)
            self.assertEqual([line.split(": ")[0] for line in found], ["src/cli/a.cc:2"], line)
        self.write(
            "src/cli/a.cc",
            "int f() {\n"
            '  text += verdict_name(kind) + "text_of(kind)";  // text_of(kind)\n'
            "  store.path();\n  print(x);\n  path(x);\n  draw(1);\n  row.text_of(kind);\n}\n",
        )
        self.write("src/cli/b.cc", "std::string text_of(Row row) {\n}\nint f() { return text_of(row); }\n")
        self.assertEqual(check_code.check_tree(self.root), [])

    def test_errors_that_are_passed_on(self):
        for line in (
            "if (!x) return x.error();",
            "if (!x) return std::unexpected(x.error());",
            "if (!x) return std::unexpected(std::move(x).error());",
            "if (!x) {\n    return std::unexpected(x.error());\n  }",
            "if (!one.status) return std::unexpected(one.status.error());",
            "if (const auto x = f({}); !x) return std::unexpected(x.error());",
            "if (Status x = f(a, b); !x) return x;",
        ):
            self.write("src/base/a.cc", f"Status f() {{\n  {line}\n}}\n")
            with self.subTest(line=line):
                (problem,) = check_code.check_tree(self.root)
                self.assertTrue(problem.startswith("src/base/a.cc:2: pass an error on with TRY"))
        for line in (
            "TRY(x);",
            "if (!x) return y.error();",
            "if (!x) return fail(x.error().kind, message);",
            "if (!x) return bad(x.error());",
            "if (!x) return x.error().message;",
            "if (!x && stop.requested()) return std::unexpected(x.error());",
            "if (Result<int> x = f(); !x) return bad(x.error().message);",
            "if (x) return x;",
            "// if (!x) return x.error();",
        ):
            self.write("src/base/a.cc", f"Status f() {{\n  {line}\n}}\n")
            with self.subTest(line=line):
                self.assertEqual(check_code.check_tree(self.root), [])

    def test_allowed_uses_of_try(self):
        self.write("src/base/a.cc", "  pair.first = TRY(one());\n  push(TRY(two()));  // .x = TRY(\n")
        self.assertEqual(check_code.check_tree(self.root), [])


class Sources(unittest.TestCase):
    """Of the repository itself."""

    def test_every_checker_of_code_reads_the_same_folders(self):
        formatted = re.search(r"find ((?:\w+ )+)\\\( -name '\*\.cc'", (checking.ROOT / "dev").read_text())
        folders = set(formatted[1].split())
        self.assertEqual(folders, set(check_code.FOLDERS))
        self.assertEqual(folders, set(run_tidy.FOLDERS))
        self.assertLessEqual(folders, set(check_sizes.FOLDERS))
        self.assertLessEqual(folders, set(check_words.FOLDERS))


class Sizes(Tree):
    def test_the_limit(self):
        self.write("src/ir/long.cc", "int x;\n" * 700)
        self.assertEqual(check_sizes.check_tree(self.root), [])
        self.write("src/ir/long.cc", "int x;\n" * 701)
        (problem,) = check_sizes.check_tree(self.root)
        self.assertTrue(problem.startswith("src/ir/long.cc: 701 lines; divide it"))

    def test_a_reason_near_the_top_excuses(self):
        self.write("src/ir/long.cc", "// size: one table, read as one\n" + "int x;\n" * 900)
        self.assertEqual(check_sizes.check_tree(self.root), [])
        self.write("src/ir/long.cc", "// size:\n" + "int x;\n" * 900)
        self.assertEqual(len(check_sizes.check_tree(self.root)), 1)
        self.write("src/ir/long.cc", "int x;\n" * 900 + "// size: one table, read as one\n")
        self.assertEqual(len(check_sizes.check_tree(self.root)), 1)


class Headers(Tree):
    def problems(self, source, path="src/ir/b.cc"):
        self.write("src/ir/b.h", "int declared(int x);\n")
        self.write(path, f"namespace ir {{\n{source}}}  // namespace ir\n")
        return [problem.split(",")[0] for problem in check_headers.check_tree(self.root)]

    def test_a_function_declared_elsewhere(self):
        self.assertEqual(self.problems("int declared(int x) {\n  return x;\n}\n"), [])
        self.assertEqual(
            self.problems("const Result<int>& other(int x,\n         int y) {\n  return x;\n}\n"),
            ["src/ir/b.cc:2: declare other in b.h"],
        )

    def test_a_source_without_a_header(self):
        source = "int lonely() { return 1; }\n"
        self.assertEqual(
            self.problems(source, "src/ir/c.cc"), ["src/ir/c.cc:2: declare lonely in c.h"]
        )
        (self.root / "src/ir/c.cc").unlink()
        self.assertEqual(self.problems(source, "src/ir/c_test.cc"), [])
        self.assertEqual(self.problems(source, "src/graph/ops/c.cc"), [])

    def test_what_needs_no_declaration(self):
        self.assertEqual(
            self.problems(
                "int later(int x);\n"
                "static int own() {\n}\n"
                "int Class::member(int x) {\n}\n"
                "Class::Class(int x) : member_(x), other_(x) {\n}\n"
                "namespace {\nint hidden() {\n}\n}  // namespace\n"
                "const int kTable[] = {call(1)};\n"
                "int main() {\n}\n"
            ),
            [],
        )


class Pages(unittest.TestCase):
    """Of the repository itself."""

    def pages(self):
        return [*checking.ROOT.glob("*.md"), *checking.ROOT.glob("docs/*.md")]

    def assert_exists(self, page, path, folders):
        """`x` and `NAME` in a path are placeholders; an extension may be missing, as in `src/feature/limits`."""
        if re.search(r"(?:^|[/_])(?:x|NAME)\.", path):
            return
        found = any((folder / name).exists() for folder in folders for name in (path, path + ".h"))
        self.assertTrue(found, f"{page.name}: no {path}")

    def test_named_paths_exist(self):
        for page in self.pages():
            text = page.read_text()
            for path in re.findall(r"`((?:src|docs|tests|bench|tools|examples|cmake)/[\w./-]+)`", text):
                self.assert_exists(page, path, [checking.ROOT])
            for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
                self.assert_exists(page, path, [page.parent])

    def test_paths_in_comments_exist(self):
        sources = [
            file
            for folder in ("src", "tests", "bench", "examples")
            for file in (checking.ROOT / folder).rglob("*")
            if file.suffix in (".h", ".cc", ".c")
        ]
        path_in_text = re.compile(r"(?<![\w./-])(?:\w+/)+[a-z]\w*(?:\.[a-z]+)+\b")
        found = 0
        for file in sources:
            for comment in re.findall(r"//.*", file.read_text()):
                for path in path_in_text.findall(comment):
                    if re.search(r"\.(?:h|cc|c|in|py|md|txt|cmake)$", path):
                        self.assert_exists(file, path, [checking.ROOT, checking.ROOT / "src"])
                        found += 1
        self.assertGreater(found, 100)

    def test_headers_of_the_glossary_exist(self):
        page = checking.ROOT / "docs/glossary.md"
        paths = [
            path
            for line in page.read_text().splitlines()
            if line.startswith("| ") and line.endswith(" |")
            for path in re.findall(r"`([\w./-]+/[\w./-]+)`", line.split(" | ")[-1])
        ]
        self.assertGreater(len(paths), 50)
        for path in paths:
            self.assert_exists(page, path, [checking.ROOT / "src", checking.ROOT])


class Words(Tree):
    def problems(self, text, path="src/ir/word.cc"):
        self.write(path, text)
        return check_words.check_tree(self.root)

    def test_established_words_pass(self):
        self.assertEqual(self.problems("// Vectorizes precise exercises; otherwise a license is one.\n"), [])
        self.assertEqual(self.problems("// One line per node; one of a kernel's operands is a row.\n"), [])

    def test_replaced_names(self):
        self.assertEqual(
            self.problems("int x;\nTileWish w = readings_of(x);\n"),
            [
                "src/ir/word.cc:2: 'TileWish'; write TileConstraints",
                "src/ir/word.cc:2: 'readings_of'; write accesses_to",
            ],
        )

    def test_words_inside_identifiers(self):
        for text in (
            "bool is_vectorised;",
            "void VectoriseLoops();",
            "struct Licences {};",
            "int neighbour_count;",
        ):
            self.assertEqual(len(self.problems(text)), 1, text)

    def test_prefixes_of_bounds(self):
        for text in ("int most_bytes;", "constexpr int kMostRows = 1;", "LEAST_GAIN = 2", "least_ns_ = 0;"):
            self.assertEqual(len(self.problems(text)), 1, text)
        for text in ("constexpr int kMost = 1;", "int f(size_t most, int k);", "int f(int least = -1);"):
            self.assertEqual(len(self.problems(text)), 1, text)
        self.assertEqual(len(self.problems("def f(x, most):")), 1)
        self.assertEqual(self.problems("double least = min(a, b);"), [])
        self.assertEqual(self.problems("int almost_there, at_least; // the most bytes"), [])
        self.assertEqual(self.problems('{"least_ns", 1}', "src/cli/verb_bench.cc"), [])

    def test_some_names_hold_for_one_folder(self):
        self.assertEqual(self.problems("struct Program {};"), [])
        self.assertEqual(len(self.problems("struct Program {};", "src/graph/word.cc")), 1)

    def test_explorers_propose_and_receive_reports(self):
        self.assertEqual(self.problems("int told = asked;", "bench/word.cc"), [])
        self.assertEqual(len(self.problems("int told = asked;")), 2)
        self.assertEqual(len(self.problems("Set asked_;", "tests/toys/word_test.cc")), 3)

    def test_one_a_line(self):
        for text in ("// builders, one a cpu", "// once a row", "// One step a line", "// 16 a batch"):
            self.assertEqual(len(self.problems(text)), 1, text)

        for text in ("// 4 bytes a cycle", "// nanoseconds a call", "// numbers a query of one head"):
            self.assertEqual(len(self.problems(text)), 1, text)

    def test_idioms_inside_identifiers(self):
        for text in (
            "bool asks_for_json;",
            "asked_s = 1",
            "Order order_beside();",
            "int kSecondsBesideCalls;",
            "Tensor read_anew();",
            "def die_in_the_midst():",
            "while (for_ever) {}",
            "once_more = 1",
            "int elements_a_vector;",
            "double allocations_a_call;",
            "Protocol in_turns;",
        ):
            self.assertEqual(len(self.problems(text)), 1, text)
        self.assertEqual(self.problems("int tasks_of, masked_lanes, anewton; // besides"), [])

    def test_idioms_count_in_prose_only(self):
        idioms = ("// so many lanes", "// a buffer of its own", "// nobody reads it", "// hardly any")
        for text in idioms:
            self.assertEqual(self.problems(text, "src/ir/word_test.cc"), [], text)
            self.assertEqual(self.problems(text, "bench/harness/word_test.py"), [], text)
        for text in idioms:
            self.assertEqual(len(self.problems(text)), 1, text)

    def test_stored_forms_are_allowed_where_they_are_stored(self):
        self.assertEqual(self.problems('R"(licences TEXT)"', "src/record/schema.cc"), [])
        self.assertEqual(
            self.problems('R"(licences TEXT)"', "src/deploy/schema.cc"),
            ["src/deploy/schema.cc:1: 'licences'; write permission (FloatPermissions), or license"],
        )

    def test_documents_count_too(self):
        self.assertEqual(
            self.problems("The behaviour of a query that sees no key.\n", "docs/page.md"),
            [
                "docs/page.md:1: 'behaviour'; write -or",
                "docs/page.md:1: 'sees no key'; write fully masked query",
            ],
        )


# Each source is clean except for the faults that its comments name.
SOURCES = {
    "a.cc": """#include "ir/a.h"
namespace t {
namespace {
struct Options {
  int size = 0;
};
constexpr int kRows = 1;
int scale(Options options) { return options.size * kRows; }
}  // namespace
int first(int x) { return scale({.size = x}); }
}  // namespace t
""",
    "b.cc": """#include "ir/a.h"
#include "ir/a.h"
namespace t {
namespace {
struct Options {
  double size = 0;
};
constexpr double kRows = 2;
double scale(Options options) { return options.size * kRows; }
}  // namespace
double second(double x) { return scale({.size = x}); }
}  // namespace t
""",  # the second include
    "c.cc": """#include "ir/a.h"
namespace t {
namespace {
int BadName(int x) { return x; }
struct Options {
  Box* box = nullptr;
};
}  // namespace
bool third(int x) { return BadName(x) == x && x == x; }
Box* fourth(bool none) { return none ? Options{}.box : 0; }
}  // namespace t
""",  # BadName, 0 for a pointer, x == x
    "d.cc": """#include "ir/a.h"
namespace t {
using other::Thing;
int fifth(int x) {
  if (x > 0);
  return x;
}
}  // namespace t
""",  # using, the semicolon
    "e.cc": """#include "ir/a.h"
namespace t {
using other::Thing;
int sixth(Thing thing) { return thing.x; }
}  // namespace t
""",
}
HEADER = """#pragma once
namespace t {
struct Box {
  int x = 0;
};
}  // namespace t
namespace other {
struct Thing {
  int x = 0;
};
}  // namespace other
"""


@unittest.skipUnless(shutil.which("clang-tidy-19"), "no clang-tidy-19")
class TidyRuns(Tree):
    """The real .clang-tidy over planted faults."""

    def setUp(self):
        super().setUp()
        here = pathlib.Path(__file__).resolve().parent
        for name in (".clang-tidy", "tools/run_tidy.py", "tools/clang_tidy_nightly"):
            self.write(name, (here.parent / name).read_text())
        self.write("src/ir/a.h", HEADER)
        for name, text in SOURCES.items():
            self.write(f"src/ir/{name}", text)
        flags = f"c++ -I{self.root}/src -std=c++20"
        paths = [self.root / "src/ir" / name for name in SOURCES]
        entries = [
            {"directory": str(self.root), "file": str(p), "command": f"{flags} -o {p}.o -c {p}"}
            for p in paths
        ]
        self.write("build/release/compile_commands.json", json.dumps(entries))

    def tidy(self, *flags):
        command = [sys.executable, "-B", str(self.root / "tools/run_tidy.py"), *flags]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.stderr, "")
        findings = re.findall(
            rf"{self.root}/(\S+?):(\d+):\d+: error: .* \[([\w-]+)", result.stdout
        )
        return result.returncode, set(findings), result.stdout

    def test_units_report_what_single_files_do(self):
        alone = self.tidy("--unit-size", "1")
        self.assertEqual(
            alone[:2],
            (
                1,
                {
                    ("src/ir/b.cc", "2", "readability-duplicate-include"),
                    ("src/ir/c.cc", "4", "readability-identifier-naming"),
                    ("src/ir/c.cc", "9", "misc-redundant-expression"),
                    ("src/ir/c.cc", "10", "modernize-use-nullptr"),
                    ("src/ir/d.cc", "3", "misc-unused-using-decls"),
                    ("src/ir/d.cc", "5", "bugprone-suspicious-semicolon"),
                },
            ),
        )
        shutil.rmtree(self.root / "build/release/tidy")
        together = self.tidy()
        self.assertEqual(together[:2], alone[:2])
        units = list((self.root / "build/release/tidy").glob("unit_*.cc"))
        self.assertEqual(len(units), 1)  # a, c and e
        self.assertIn("src/ir/a.cc: clean", together[2])

    def test_clean_files_are_not_read_again(self):
        self.tidy()
        code, findings, text = self.tidy()
        self.assertEqual(code, 1)
        self.assertEqual({path for path, *_ in findings}, {f"src/ir/{n}.cc" for n in "bcd"})
        self.assertNotIn("src/ir/a.cc", text)
        for name in "bcd":
            self.write(f"src/ir/{name}.cc", '#include "ir/a.h"\n')
        self.assertEqual(self.tidy()[:2], (0, set()))
        self.assertEqual(self.tidy()[2], "")

    def test_a_fault_in_a_header(self):
        self.write("src/ir/a.h", HEADER + "inline int Wrong() { return 1; }\n")
        code, findings, _ = self.tidy(*(str(self.root / f"src/ir/{n}.cc") for n in "ae"))
        self.assertEqual(code, 1)
        self.assertIn("src/ir/a.h", {path for path, *_ in findings})

    def test_a_unit_that_does_not_parse_is_read_file_by_file(self):
        # Two functions of the same name that are not recognized as private.
        odd = '#include "ir/a.h"\nnamespace t { namespace {\n int odd() { return 1; }\n} }\n'
        more = "namespace t {\nint %s() { return odd(); }\n}  // namespace t\n"
        self.write("src/ir/a.cc", odd + more % "one")
        self.write("src/ir/e.cc", odd + more % "two")
        files = [str(self.root / f"src/ir/{n}.cc") for n in "ae"]
        self.assertEqual(self.tidy(*files)[:2], (0, set()))

    def test_the_nightly_checks(self):
        self.write("src/ir/a.cc", '#include "ir/a.h"\nint _Reserved = 0;\n')
        path = str(self.root / "src/ir/a.cc")
        self.assertNotIn("bugprone-reserved-identifier", self.tidy(path)[2])
        self.assertIn("bugprone-reserved-identifier", self.tidy("--nightly", path)[2])


FAKE_DEV = """#!/bin/bash
echo "dev $*"
case "$*" in *tsan*) exit 1 ;; *asan*) exit 77 ;; esac
"""


class Nightly(Tree):
    """tools/nightly with a ./dev that does nothing."""

    def setUp(self):
        super().setUp()
        here = pathlib.Path(__file__).resolve().parent
        self.write("tools/nightly", (here / "nightly").read_text())
        self.write("dev", FAKE_DEV)
        (self.root / "dev").chmod(0o755)

    def nightly(self, *words):
        command = ["bash", str(self.root / "tools/nightly"), *words]
        result = subprocess.run(command, capture_output=True, text=True)
        return result.returncode, result.stdout, result.stderr

    def test_the_list(self):
        code, out, err = self.nightly("--list")
        self.assertEqual((code, err), (0, ""))
        listed = [line.split()[0] for line in out.splitlines()]
        defined = re.findall(r"^step_([\w-]+)\(\)", (self.root / "tools/nightly").read_text(), re.M)
        self.assertEqual(listed, defined)
        self.assertIn("differential", listed)

    def test_every_fuzzer_of_the_repository_runs(self):
        built = [
            f"build/fuzz/{file.parent.relative_to(checking.ROOT)}/{name}"
            for file in checking.ROOT.glob("src/**/CMakeLists.txt")
            for name in re.findall(r"^tilewright_fuzzer\((\w+)", file.read_text(), re.M)
        ]
        text = (self.root / "tools/nightly").read_text()
        self.assertCountEqual(re.findall(r"^  fuzz (\S+)", text, re.M), built)
        self.assertIn("build/fuzz/src/record/tilewright_ndjson_fuzz", built)

    def test_wrong_use(self):
        code, out, err = self.nightly("release", "tidi")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("there is no step 'tidi'; the steps are: release differential", err)
        self.assertEqual(
            self.nightly("--sed", "7"),
            (2, "", "nightly: there is no flag '--sed'; try tools/nightly --help\n"),
        )
        self.assertEqual(
            self.nightly("--seed", "x")[::2], (2, "nightly: --seed needs a number: --seed 7\n")
        )
        self.assertFalse((self.root / "build/nightly").exists())  # nothing ran

    def test_the_verdicts(self):
        code, out, _ = self.nightly("tsan", "release", "asan-ubsan")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"(?m)^tsan +FAILED .* build/nightly/tsan.log$")
        self.assertRegex(out, r"(?m)^release +passed ")
        self.assertTrue(out.endswith("1 of 3 steps failed: tsan\n"), out)
        log = self.root / "build/nightly/tsan.log"
        self.assertEqual(log.read_text(), "dev test --preset tsan\n")
        code, out, _ = self.nightly("release", "asan-ubsan")
        self.assertEqual(code, 0)
        self.assertTrue(out.endswith("1 of 2 steps passed, skipped: asan-ubsan\n"), out)

    def test_a_step_ends_at_its_first_failure(self):
        code, out, _ = self.nightly("functions")  # builds, then there is no such program
        self.assertEqual(code, 1)
        self.assertRegex(out, r"(?m)^functions +FAILED ")


if __name__ == "__main__":
    unittest.main()
