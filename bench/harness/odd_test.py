"""Tests of `bench odd`: the draws, the stored results, the bars. Needs only Python. Run from bench/:

python3 -m unittest harness.odd_test
"""

import contextlib
import io
import os
import unittest
from unittest import mock

import odd as bench
from harness import odd, report, versus
from harness.search_test import Fixture, match_of


class DrawsTest(unittest.TestCase):
    def test_a_seed_gives_the_same_draws(self):
        self.assertEqual(odd.draws(), odd.draws(odd.SEED, 20))
        self.assertEqual(odd.draws(3, 30)[:20], odd.draws(3, 20))
        self.assertNotEqual(odd.draws(2), odd.draws(3))

    def test_draws_are_in_the_stated_ranges(self):
        drawn = odd.draws(count=150)
        self.assertEqual(len({workload.name for workload in drawn}), 150)
        for number, workload in enumerate(drawn):
            p = workload.params
            self.assertTrue(odd.FLOP[0] <= workload.flop <= odd.FLOP[1])
            kind = odd.KINDS[number % len(odd.KINDS)]
            if kind == odd.draw_rows:
                self.assertTrue(7 <= p["n"] <= 211, p)
                self.assertTrue(0.99 * odd.ELEMENTS < p["m"] * p["n"] <= odd.ELEMENTS, p)
                continue
            if kind == odd.draw_product:
                self.assertTrue(all(map(odd.is_prime, (p["m"], p["n"], p["k"]))))
                self.assertEqual(workload.flop, 2 * p["m"] * p["n"] * p["k"])
                continue
            self.assertIn(p["kernel"], (3, 5))
            self.assertTrue(all(17 <= p[name] <= 211 for name in ("ci", "co")), p)
            if kind == odd.draw_groups:
                self.assertTrue(all(4 <= p[name] / p["groups"] <= 12 for name in ("ci", "co")), p)
            self.assertEqual((p["ci"] % p["groups"], p["co"] % p["groups"]), (0, 0))

    def test_primes(self):
        self.assertEqual([n for n in range(20) if odd.is_prime(n)], [2, 3, 5, 7, 11, 13, 17, 19])

    def test_operators_are_written_out(self):
        workload = odd.convolution("x", 7, 9, 18, 30, 3, groups=3)
        self.assertEqual(
            workload.spec(),
            "conv2d:n=1,ci=18,co=30,kernel=3,stride=1,pad=1,dilation=1,groups=3,h=7,w=9,constant=weight",
        )
        self.assertEqual(workload.flop, 2 * 7 * 9 * 30 * 6 * 9)
        rows = next(w for w in odd.draws() if w.op == "softmax")
        columns = rows.params["n"]
        self.assertEqual(rows.spec(), f"softmax:m={rows.params['m']},n={columns},constant=none")
        self.assertEqual(workload.shapes(), {"X": [1, 7, 9, 18], "W": [3, 3, 6, 30], "Y": [1, 7, 9, 30]})


class BenchTest(Fixture):
    def run_main(self, *arguments, times):
        def play(workload, traces, *_):
            return match_of(workload, **{name: times.get(name, 100) for name in (*traces, "peak", *versus.PEERS)})

        text, path = io.StringIO(), os.path.join(self.folder, "rows.json")
        with (
            mock.patch("harness.versus.play", play),
            mock.patch("odd.peers.BUILD", self.folder),
            contextlib.redirect_stdout(text),
        ):
            code = bench.main([*arguments, "--build", self.folder, "--json", path, "--check"])
        return code, text.getvalue(), report.read_rows(path)

    def test_each_draw_has_a_bar(self):
        code, text, rows = self.run_main(times={"tuned": 100})
        self.assertEqual(code, 0, text)
        self.assertEqual(text.count("  reached"), 20)
        ratios = [row for row in rows if row["metric"] == "vs_best_peer"]
        self.assertEqual([(row["value"], row["threads"]) for row in ratios], [(1.0, 2)] * 20)
        code, text, _ = self.run_main("--fresh", "--only", "0,5", times={"tuned": 106})
        self.assertEqual((code, text.count("NOT REACHED")), (1, 2))

    def test_stored_results_are_shown_without_measuring(self):
        self.run_main("--only", "3", times={"tuned": 80})
        code, text, rows = self.run_main("--only", "3,4", "--stored", times={"tuned": 50})
        names = [workload.name for workload in odd.draws()]
        found = {(row["name"], row["metric"]): row["value"] for row in rows}
        self.assertEqual(code, 1)
        self.assertAlmostEqual(found[names[3], "vs_best_peer"], 1.25)
        self.assertIn(f"{names[4]}: no stored result", text)

    def test_numbers_of_draws_are_checked(self):
        for words in (["--only", "20"], ["--only", "x"], ["--stored", "--fresh"]):
            with self.assertRaises(SystemExit), mock.patch("sys.stderr"):
                bench.parse(words)


if __name__ == "__main__":
    unittest.main()
