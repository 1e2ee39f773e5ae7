"""Tests of the verbs measure, replay, records and explain as programs, on tiny operators."""

import json
import os
import pathlib
import signal
import tempfile
import unittest

import program

WHAT = "matmul:m=16,n=16,k=16"
LEGAL = "split C i [4]\nannotate C i.1 unroll\n"
ILLEGAL = "split C nowhere [4]\n"


class Verbs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.records = self.path("records.db")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text)
        return self.path(name)

    def run_program(self, *words, code=0):
        done = program.run(*words, "--records", self.records)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def lines(self, *words, code=0):
        return program.objects(self.run_program(*words, "--json", code=code).stdout)

    # --- measure ---

    def test_random_candidates_are_measured_once(self):
        words = ["measure", WHAT, "--random", 6, "--seed", 4, "--threads", 1, "--finalists", 2]
        first = self.lines(*words)
        verdicts = program.verdicts(first)
        self.assertEqual(sorted(v["candidate"] for v in verdicts), list(range(6)))
        self.assertEqual({v["verdict"] for v in verdicts} - {"timed", "censored"}, set())
        self.assertFalse(any(v["stored"] for v in verdicts))
        summary = program.member(first, "summary")
        self.assertEqual((summary["measured"], summary["stored"]), (6, 0))
        finals = [line["final"] for line in first if "final" in line]
        self.assertEqual([f["rank"] for f in finals], list(range(1, len(finals) + 1)))
        self.assertEqual(sum(f["default"] for f in finals), 1)
        latencies = [f["latency_ns"] for f in finals]
        self.assertEqual(latencies, sorted(latencies))

        second = self.lines(*words)
        self.assertTrue(all(v["stored"] for v in program.verdicts(second)))
        self.assertEqual(
            {v["id"] for v in program.verdicts(second)}, {v["id"] for v in verdicts}
        )
        self.assertEqual(program.member(second, "summary")["measured"], 0)
        forced = self.lines(*words, "--force")
        self.assertEqual(program.member(forced, "summary")["measured"], 6)

    def test_text_output_is_a_table(self):
        done = self.run_program("measure", WHAT, "--random", 3, "--threads", 1)
        self.assertRegex(done.stdout, r"rank +latency")
        self.assertIn("the default schedule", done.stdout)
        self.assertIn(f"records: {self.records}", done.stdout)
        self.assertRegex(done.stderr, r"3/3  best .* trials/s")

    def test_traces_come_as_text_or_json(self):
        text = self.write("text", LEGAL + "---\n" + ILLEGAL + "---\n# the empty schedule\n")
        lines = self.lines("measure", WHAT, "--traces", text, "--finalists", 0)
        by_candidate = {v["candidate"]: v for v in program.verdicts(lines)}
        self.assertIn(by_candidate[0]["verdict"], ("timed", "censored"))
        self.assertEqual(by_candidate[1]["verdict"], "illegal")
        self.assertIn("nowhere", by_candidate[1]["text"])
        self.assertIn(by_candidate[2]["verdict"], ("timed", "censored"))
        steps = [
            {"step": "split", "stage": "C", "loop": "i", "factors": [4]},
            {"step": "annotate", "stage": "C", "loop": "i.1", "how": "unroll"},
        ]
        ndjson = self.write("ndjson", json.dumps(steps) + "\n[]\n")
        again = program.verdicts(self.lines("measure", WHAT, "--traces", ndjson, "--finalists", 0))
        self.assertTrue(all(v["stored"] for v in again))

    def test_no_valid_schedule_has_a_distinct_exit_code(self):
        traces = self.write("traces", ILLEGAL)
        done = self.run_program("measure", WHAT, "--traces", traces, code=3)
        self.assertRegex(done.stdout, r"1 illegal\n +candidate 0: .*nowhere")

    def test_every_cache_policy_and_several_operators(self):
        for cache, what in [
            ("cold", "softmax:m=4,n=16"),
            ("weights_cold", "conv2d:n=1,h=4,w=4,ci=4,co=8,kernel=3,pad=1"),
            ("warm", "elementwise:shape=5x7,chain=relu"),
        ]:
            with self.subTest(cache=cache, what=what):
                words = ["measure", what, "--random", 2, "--cache", cache, "--finalists", 0]
                verdicts = program.verdicts(self.lines(*words))
                self.assertGreater(len(verdicts), 0)
                for verdict in verdicts:
                    self.assertIn(verdict["verdict"], ("timed", "censored"), verdict)

    def test_mistakes(self):
        bad = self.write("bad", LEGAL + "---\n\ncut C\n")
        flags = pathlib.Path("/proc/cpuinfo").read_text()
        mistakes = [
            (["measure", WHAT], "(--traces FILE, --random N)"),
            (["measure", WHAT, "--random", 1, "--traces", bad], "--traces FILE"),
            (["measure", WHAT, "--random", 0], "--random"),
            (["measure", WHAT, "--traces", self.path("none")], "none"),
            (["measure", WHAT, "--traces", bad], "trace 1: line 5: "),
            (["measure", WHAT, "--random", 1, "--cache", "hot"], "hot"),
            (["measure", "matmull:m=1", "--random", 1], "matmull"),
            (["measure", WHAT, "--random", 1, "--target", "z80"], "z80"),
        ]
        if "amx_fp16" not in flags:
            target = "x86-64-v3:amx_fp16;threads=1"
            mistakes.append((["measure", WHAT, "--random", 1, "--target", target], "this machine cannot execute"))
        for words, message in mistakes:
            with self.subTest(words=words):
                self.assertIn(message, self.run_program(*words, code=2).stderr)
        self.write("records.db", "this is no store, and long enough to be looked at" * 100)
        self.run_program("measure", WHAT, "--random", 1, code=2)

    def test_an_interrupt_keeps_all_results(self):
        words = ["measure", WHAT, "--random", 2000, "--records", self.records, "--json"]
        process = program.start(*words)
        head = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        lines = program.objects(head + program.rest(process))
        self.assertEqual(process.returncode, 130)
        summary = program.member(lines, "summary")
        self.assertTrue(summary["interrupted"])
        self.assertEqual(summary["measured"], len(program.verdicts(lines)))
        self.assertLess(summary["measured"], 2000)
        for verdict in program.verdicts(lines)[-3:]:
            self.run_program("records", "show", verdict["id"])

    def test_time_ends_the_search_and_finals_run(self):
        # On a slow machine nothing may be valid before the time ends: then it gets more time.
        seconds, done = 2, None
        while done is None or (done.returncode == 3 and seconds <= 64):
            words = ["measure", WHAT, "--random", 3000, "--seconds", seconds, "--finalists", 1]
            done = program.run(*words, "--records", self.records, "--json")
            seconds *= 2
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = program.objects(done.stdout)
        summary = program.member(lines, "summary")
        self.assertLess(summary["measured"], 3000)
        self.assertFalse(summary["interrupted"])
        self.assertIn("winner", summary)
        done = program.run(
            "measure", WHAT, "--random", 3, "--seconds", 0.0001, "--records", self.path("no.db")
        )
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_a_closed_pipe_is_an_error_not_a_signal(self):
        words = ["measure", WHAT, "--random", 2000, "--records", self.records, "--json"]
        process = program.start(*words)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(program.wait(process), 2)

    # --- what is stored ---

    def test_replay_reports_agreement(self):
        traces = self.write("traces", LEGAL + "---\n" + ILLEGAL)
        lines = self.lines("measure", WHAT, "--traces", traces, "--finalists", 1)
        by_candidate = {v["candidate"]: v["id"] for v in program.verdicts(lines)}
        illegal = program.run(
            "replay", by_candidate[1][:16], "--records", self.records, "--json"
        )
        self.assertEqual(illegal.returncode, 0, illegal.stderr)
        self.assertTrue(program.objects(illegal.stdout)[0]["agrees"])
        finals = [line["final"]["id"] for line in lines if "final" in line]
        for identity in (by_candidate[0], finals[0]):  # depends on a time: both answers are correct
            done = program.run("replay", identity, "--records", self.records, "--json")
            answer = program.objects(done.stdout)[0]
            self.assertEqual(done.returncode, 0 if answer["agrees"] else 3, done.stderr)
            self.assertEqual(answer["written"]["id"], identity)
            self.assertNotEqual(answer["now"]["id"], identity)
            self.assertEqual(answer["remarks"], [])
            self.run_program("records", "show", answer["now"]["id"])
        people = program.run("replay", by_candidate[0], "--records", self.records)
        self.assertRegex(people.stdout, r"agree.*written: .*; now: ")

    def test_an_interrupted_replay_is_reported(self):
        lines = self.lines("measure", WHAT, "--random", 1, "--finalists", 0)
        identity = program.verdicts(lines)[0]["id"]
        for words in ([], ["--json"]):
            process = program.start("replay", identity, "--records", self.records, *words)
            stopped = []  # a worker that no longer answers, so that there is no verdict
            while not stopped and process.poll() is None:
                stopped = program.workers(process.pid, "tilewright-build-worker")
            self.assertTrue(stopped)
            os.kill(stopped[0], signal.SIGSTOP)
            process.send_signal(signal.SIGINT)
            said = program.rest(process)
            self.assertEqual(process.returncode, 130)
            if words:
                (answer,) = program.objects(said)
                self.assertTrue(answer["interrupted"])
                self.assertEqual(answer["written"]["id"], identity)
            else:
                self.assertRegex(said, r"^interrupted before it was measured again: written: ")

    def test_unknown_ids(self):
        self.lines("measure", WHAT, "--random", 2, "--finalists", 0)
        for verb in ("replay", "explain"):
            with self.subTest(verb=verb):
                self.run_program(verb, "0123456789abcdef0123456789abcdef", code=2)
                self.run_program(verb, "xyz", code=2)
                done = program.run(verb, "00", "--records", self.path("none.db"))
                self.assertEqual(done.returncode, 2)
                self.assertFalse(os.path.exists(self.path("none.db")))

    def test_records_and_explain(self):
        lines = self.lines("measure", WHAT, "--random", 3, "--finalists", 0)
        verdict = next(v for v in program.verdicts(lines) if v["verdict"] == "timed")
        task = program.member(lines, "summary")["task"]
        self.assertIn(WHAT, self.run_program("records", "ls").stdout)
        self.assertIn(verdict["id"][:8], self.run_program("records", "show", verdict["id"]).stdout)
        self.run_program("records", "best", WHAT)
        self.run_program("records", "best", task)
        self.run_program("records", "check")
        for words in (["ls"], ["show", verdict["id"]], ["best", task], ["check"]):
            self.assertGreater(len(self.lines("records", *words)), 0, words)
        exported = self.path("all.ndjson")
        self.run_program("records", "export", exported)
        copy = self.path("copy.db")
        done = program.run("records", "import", exported, "--records", copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        again = self.path("again.ndjson")
        program.run("records", "export", again, "--records", copy)
        self.assertEqual(
            sorted(pathlib.Path(exported).read_text().splitlines()),
            sorted(pathlib.Path(again).read_text().splitlines()),
        )
        self.assertGreater(len(self.run_program("explain", verdict["id"][:12]).stdout), 0)
        self.assertGreater(len(self.lines("explain", verdict["id"])), 0)


if __name__ == "__main__":
    unittest.main()
