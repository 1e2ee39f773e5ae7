"""The checkers find what they are for: each test plants one violation in a small tree."""

import pathlib
import tempfile
import unittest

import check_layers
import check_sizes
import check_words

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

    def test_some_names_hold_for_one_folder(self):
        self.assertEqual(self.problems("struct Program {};"), [])
        self.assertEqual(len(self.problems("struct Program {};", "src/graph/word.cc")), 1)

    def test_one_a_line(self):
        for text in ("// builders, one a cpu", "// once a row", "// One step a line", "// 16 a batch"):
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


if __name__ == "__main__":
    unittest.main()
