"""Tests of the comparison of two versions, with scripts in place of the programs. From bench/:

python3 -m unittest harness.versions_test
"""

import contextlib
import io
import json
import os
import stat
import tempfile
import unittest
from unittest import mock

import versions
from harness.model_files import ModelError

SCRIPT = """#!/bin/sh
while [ $# -gt 1 ]; do
  [ "$1" = --json ] && echo '{rows}' > "$2"
  shift
done
exit {status}
"""


def fake_build(folder, median_us, status=0, names=("C2D2/apply",)):
    os.makedirs(os.path.join(folder, "bench"))
    rows = [{"name": name, "metric": "median_us", "value": median_us} for name in names]
    for path in ("tilewright", "bench/bench_apply"):
        path = os.path.join(folder, path)
        with open(path, "w") as file:
            file.write(SCRIPT.format(rows=json.dumps(rows), status=status))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return folder


class VersionsTest(unittest.TestCase):
    def run_main(self, old_us, new_us, *more, status=0, **of_old):
        with tempfile.TemporaryDirectory() as folder:
            old = fake_build(os.path.join(folder, "old"), old_us, **of_old)
            new = fake_build(os.path.join(folder, "new"), new_us, status)
            said, complained = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
                code = versions.main(
                    ["--old", old, "--build", new, "--only", "apply", "--rounds", "3", *more]
                )
            return code, said.getvalue(), complained.getvalue()

    def test_times_are_better_when_shorter_and_rates_when_higher(self):
        self.assertEqual(versions.better("median_us", 2.0, 1.0), 2.0)
        self.assertEqual(versions.better("scored_per_s", 2.0, 1.0), 0.5)

    def test_the_median_is_over_the_ratios_of_rounds(self):
        key = ("x", "median_us")
        rounds = [{key: (1.0, 1.0)}, {key: (4.0, 2.0)}, {key: (9.0, 3.0)}]
        self.assertEqual(versions.medians(rounds), {key: (4.0, 2.0, 2.0)})

    def test_a_slower_version_misses_the_bar(self):
        self.assertEqual(self.run_main(1.0, 1.0)[0], 0)
        code, said, _ = self.run_main(1.0, 1.1)
        self.assertEqual(code, 1)
        self.assertIn("NOT REACHED", said)

    def test_a_failing_program_is_named(self):
        code, _, complained = self.run_main(1.0, 1.0, status=3)
        self.assertEqual(code, 1)
        self.assertRegex(complained, "bench_apply.* ended with status 3")

    def test_a_row_that_the_new_version_lacks_is_an_error(self):
        code, _, complained = self.run_main(1.0, 1.0, names=("C2D2/apply", "GMM2/apply"))
        self.assertEqual(code, 1)
        self.assertIn("the new bench_apply has no median_us of GMM2/apply", complained)
        code, _, complained = self.run_main(1.0, 1.0, names=())
        self.assertEqual(code, 1)
        self.assertIn("no row of bench_apply counts", complained)

    def test_the_models_part_has_default_models(self):
        compared = []

        def compare(_options, model, _folder, _out):
            compared.append(model)

        with (
            mock.patch.object(versions, "compare_model", compare),
            mock.patch.object(versions, "materialized", lambda name: f"made/{name}.onnx"),
        ):
            self.assertEqual(self.run_main(1.0, 1.0, "--only", "models")[0], 0)
            self.assertEqual(compared, [f"made/{name}.onnx" for name in versions.DEFAULT_MODELS])
            compared.clear()
            self.run_main(1.0, 1.0, "--only", "models", "--models", "a.onnx", "b.onnx")
            self.assertEqual(compared, ["a.onnx", "b.onnx"])

    def test_models_that_fail_are_an_error(self):
        def fail(name):
            raise ModelError(f"no {name}")

        with mock.patch.object(versions, "materialized", fail):
            code, _, complained = self.run_main(1.0, 1.0, "--only", "models")
        self.assertEqual((code, complained), (1, "bench versions: no resnet18\n"))

    def test_unknown_parts_and_missing_builds_are_refused(self):
        for words, said in (
            (["--old", "/nowhere"], "build that version first"),
            (["--old", ".", "--only", "speed"], "no part 'speed'"),
        ):
            complained = io.StringIO()
            with contextlib.redirect_stderr(complained), self.assertRaises(SystemExit) as end:
                versions.main(words)
            self.assertEqual(end.exception.code, 2)
            self.assertIn(said, complained.getvalue())


if __name__ == "__main__":
    unittest.main()
