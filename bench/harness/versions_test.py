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
from types import SimpleNamespace
from unittest import mock

import versions
from harness.bars import Report
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
                    ["--old", old, "--build", new, "--only", "apply", *more]
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

    def test_a_benchmark_may_miss_its_own_bar(self):
        self.assertEqual(self.run_main(1.0, 1.0, status=1)[0], 0)

    def test_the_program_itself_may_not_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            build = fake_build(folder, 1.0, status=1)
            with self.assertRaisesRegex(versions.VersionError, "tilewright tune .* ended with status 1"):
                versions.tune_once(SimpleNamespace(old=build), "C2D2", "rates.db", ())

    def test_a_benchmark_without_rows_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            build = fake_build(folder, 1.0)
            with open(os.path.join(build, "bench", "bench_apply"), "w") as file:
                file.write("#!/bin/sh\necho no task >&2\nexit 1\n")
            with self.assertRaisesRegex(versions.VersionError, "wrote no rows: no task"):
                versions.rows_of(build, "bench_apply", lambda *_: True, ())

    def compare_models(self, old_bytes, new_bytes, times):
        """compare_model with `times` (old, new) of each round. Returns the report and the orders of libraries."""
        orders = []

        def run(command):
            if command[1] == "compile":
                with open(command[-1], "wb") as file:
                    file.write(old_bytes if command[0].startswith("old") else new_bytes)
            if command[1] != "bench":
                return SimpleNamespace(stdout="")
            order = [library.split(".")[-2].split("/")[0] for library in command[2:4]]
            old, new = times[len(orders)]
            orders.append(order)
            lines = [{"old": old, "new": new}[version] for version in order]
            return SimpleNamespace(stdout="".join(f'{{"p50_ns": {ns}}}\n' for ns in lines))

        options = SimpleNamespace(old="old", build="new", rounds=versions.MIN_ROUNDS, seconds=1)
        out = Report()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(versions, "run", run),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            versions.compare_model(options, "net.onnx", folder, out)
        return out, orders

    def test_libraries_that_differ_alternate_and_the_median_of_the_rounds_counts(self):
        times = [(100, 100)] * 6 + [(100, 200)] * 4  # four disturbed rounds
        out, orders = self.compare_models(b"a", b"b", times)
        self.assertEqual(orders, [["old", "new"], ["new", "old"]] * 5)
        self.assertEqual(out.missed, [])
        self.assertEqual(out.rows[-1]["value"], 1.0)
        out, _ = self.compare_models(b"a", b"b", [(100, 110)] * 10)
        self.assertEqual(len(out.missed), 1)

    def test_the_same_bytes_are_not_timed(self):
        out, orders = self.compare_models(b"a", b"a", [])
        self.assertEqual((orders, out.missed), ([], []))

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
            (["--old", ".", "--rounds", "9"], "at least 10 rounds"),
        ):
            complained = io.StringIO()
            with contextlib.redirect_stderr(complained), self.assertRaises(SystemExit) as end:
                versions.main(words)
            self.assertEqual(end.exception.code, 2)
            self.assertIn(said, complained.getvalue())


if __name__ == "__main__":
    unittest.main()
