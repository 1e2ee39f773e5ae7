"""Tests of `tilewright tune` as a program: a killed search resumes, measures nothing twice and ends with the
same result as an uninterrupted one with the same verdicts; a repeated search measures nothing; budgets,
interruption, wrong usage.

By default a few runs are killed. TILEWRIGHT_CRASH_RUNS sets the number of kills, TILEWRIGHT_CRASH_SEED their
random moments.
"""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import unittest

import program
from deaths import attempts, kill_repeatedly, trials_after

RUNS = int(os.environ.get("TILEWRIGHT_CRASH_RUNS", "3"))
SEED = int(os.environ.get("TILEWRIGHT_CRASH_SEED", "1"))
WHAT = "matmul:m=96,n=64,k=64"
ENDLESS = 100000  # trials or seconds of a search that is killed; they do not change its trajectory
TRIALS = 40 * max(RUNS, 3)  # so that most kills are during the search


def tune_words(records, *more, what=(WHAT,), trials=TRIALS, seconds=None, flags=()):
    return [
        *("tune", *what, "--threads", 1),
        *(("--seconds", seconds) if seconds else ("--trials", trials)),
        *("--records", records, "--json", *flags, *more),
    ]


def result_of(done):
    return program.member(program.objects(done.stdout), "result")


def rounds_of(done):
    return [line["round"] for line in program.objects(done.stdout) if "round" in line]


def winners(result):
    return {task["name"]: task["best"] for task in result["tasks"]}


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilewright-tune-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def tune(self, records, *more, code=0, timeout=120, **named):
        done = program.run(*tune_words(records, *more, **named), timeout=timeout)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def tune_for_some_seconds(self, records, is_enough):
        """A run that time ends. If that is too early on a slow machine, it continues with twice the time."""
        seconds = 4
        while True:
            done = program.run(*tune_words(records, seconds=seconds), timeout=seconds + 120)
            enough = done.returncode == 0 and is_enough(done)
            if enough or seconds > 60 * program.SLOWDOWN:
                self.assertEqual(done.returncode, 0, done.stderr)  # 3: nothing valid
                self.assertTrue(enough, done.stdout)
                return done
            self.assertIn(done.returncode, (0, 3), done.stderr)
            seconds *= 2

    def check_killed(self, **named):
        records = self.path("killed.db")
        trials = named.get("trials", TRIALS)
        endless = tune_words(records, **{**named, "trials": ENDLESS})
        stored = kill_repeatedly(endless, records, RUNS, trials, random.Random(SEED))
        self.assertEqual(stored, sorted(stored))  # no stored verdict is lost
        self.assertGreater(stored[0], 0)
        named["trials"] = trials = trials_after(stored, trials)
        last = result_of(self.tune(records, **named))
        counts = attempts(records)
        self.assertEqual([key for key, count in counts.items() if count > 1], [])
        self.assertEqual(last["trials"], trials)
        self.assertEqual(sum(counts.values()), last["trials"])

        # An uninterrupted run with those verdicts has the same trajectory and the same result.
        copy = self.path("copy.db")
        shutil.copy(records, copy)
        for suffix in ("-wal", "-shm"):
            if os.path.exists(records + suffix):
                shutil.copy(records + suffix, copy + suffix)
        undisturbed = result_of(self.tune(copy, **named))
        self.assertEqual(undisturbed["measured"], 0)
        self.assertEqual(winners(undisturbed), winners(last))
        self.assertEqual(attempts(copy), counts)
        check = program.run("records", "check", "--records", records)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_deaths_of_one_task_change_nothing(self):
        self.check_killed()

    def test_deaths_of_several_tasks_change_nothing(self):
        self.check_killed(what=(WHAT, "matmul:m=32,n=64,k=128", "softmax:m=32,n=64"), trials=TRIALS + 30)

    def test_deaths_of_tasks_that_share_a_model_change_nothing(self):
        what = (WHAT, "matmul:m=32,n=64,k=128", "softmax:m=32,n=64")
        self.check_killed(what=what, trials=TRIALS + 30, flags=("--model-scope", "run"))

    def test_deaths_of_another_search_and_model_change_nothing(self):
        flags = ("--search", "beam:width=16", "--cost", "xgboost:encoding=knobs")
        self.check_killed(flags=flags)

    def test_deaths_of_a_search_that_time_ends_measure_nothing_twice(self):
        records = self.path("killed.db")
        endless = tune_words(records, seconds=ENDLESS)
        kill_repeatedly(endless, records, RUNS, TRIALS, random.Random(SEED))

        def complete(done):
            return [one for one in rounds_of(done) if one["complete"]]

        last = self.tune_for_some_seconds(records, complete)
        counts = attempts(records)
        self.assertEqual([key for key, count in counts.items() if count > 1], [])
        # A run with as many trials as the complete rounds had has the same rounds.
        rounds = complete(last)
        again = self.tune(records, trials=sum(one["tried"] for one in rounds))
        self.assertEqual(result_of(again)["measured"], 0)
        self.assertEqual(result_of(again)["trajectory"], result_of(last)["trajectory"])
        self.assertEqual([one["best_ns"] for one in rounds_of(again)], [one["best_ns"] for one in rounds])

    def test_tasks_share_a_model_on_request(self):
        what = (WHAT, "matmul:m=32,n=64,k=128")
        alone = result_of(self.tune(self.path("a.db"), what=what, trials=96))
        shared = result_of(self.tune(self.path("b.db"), what=what, trials=96, flags=("--model-scope", "run")))
        self.assertEqual((alone["learning"]["scope"], shared["learning"]["scope"]), ("task", "run"))
        self.assertNotEqual(alone["trajectory"], shared["trajectory"])
        self.assertGreater(shared["learning"]["trainings"], 0)
        self.assertLessEqual(shared["learning"]["trainings"], 8)
        self.tune(self.path("c.db"), "--model-scope", "world", code=2)
        self.assertNotIn("--model-scope", self.tune(self.path("d.db"), what=what, trials=4).stderr)
        knobs = ("--model-scope", "run", "--cost", "xgboost:encoding=knobs")
        self.assertIn("--model-scope run: no effect", self.tune(self.path("d.db"), *knobs, what=what, trials=4).stderr)

    def test_repeated_run_measures_nothing_and_larger_budget_continues(self):
        records = self.path("a.db")
        first = result_of(self.tune(records, trials=60))
        self.assertEqual(first["measured"], 60)
        second = result_of(self.tune(records, trials=60))
        self.assertEqual((second["measured"], second["stored"]), (0, 60))
        self.assertEqual(winners(second), winners(first))
        self.assertEqual(second["tasks"][0]["winner"], first["tasks"][0]["winner"])
        self.assertFalse(second["tasks"][0]["finals_held"])
        more = result_of(self.tune(records, trials=90))
        self.assertEqual((more["measured"], more["stored"]), (30, 60))
        forced = result_of(self.tune(records, "--force", trials=30))
        self.assertEqual((forced["measured"], forced["stored"]), (30, 0))
        # Measurements of other runs in the meantime do not change the trajectory.
        again = result_of(self.tune(records, trials=90))
        self.assertEqual((again["measured"], winners(again)), (0, winners(more)))

    def test_rounds_report_their_trials(self):
        done = self.tune(self.path("a.db"), trials=60)
        rounds = rounds_of(done)
        self.assertEqual([r["tried"] for r in rounds], [24, 32, 4])
        self.assertEqual([r["complete"] for r in rounds], [True, True, False])
        self.assertEqual([len(r["trials"]) for r in rounds], [24, 32, 4])
        self.assertEqual(rounds[0]["model"], "analytic")
        self.assertIn("rank_correlation", rounds[0]["quality"])
        task = result_of(done)["tasks"][0]
        self.assertGreater(task["default_ns"], 0)
        # The default schedule is a candidate too.
        self.assertLessEqual(task["winner"]["latency_ns"], task["default_ns"])
        self.assertLessEqual(task["best"]["latency_ns"], task["default_trial_ns"])
        explained = program.run(
            "explain", task["winner"]["id"], "--records", self.path("a.db")
        )
        self.assertEqual(explained.returncode, 0, explained.stderr)

    def test_seconds_end_the_run(self):
        # tune/time_budget_test.cc tests the accuracy, with a simulated clock.
        def has_trials(done):
            return result_of(done)["trials"] > 0

        self.tune_for_some_seconds(self.path("a.db"), has_trials)

    def test_interrupt_keeps_all_results(self):
        records = self.path("a.db")
        process = program.start(*tune_words(records, trials=100000))
        line = process.stdout.readline()  # a round is over
        self.assertIn("round", line)
        process.send_signal(signal.SIGINT)
        rest = program.rest(process)
        self.assertEqual(process.returncode, 130)
        result = program.member(program.objects(line + rest), "result")
        self.assertTrue(result["interrupted"])
        self.assertEqual(sum(attempts(records).values()), result["measured"])
        again = result_of(self.tune(records, trials=24))
        self.assertEqual(again["measured"], 0)

    def test_interrupt_in_the_finals(self):
        # The run worker is suspended, so that the finals do not end before the interrupt. If they did before
        # that, another store is tried.
        for attempt in range(5):
            process = program.start(*tune_words(self.path(f"{attempt}.db"), trials=24))
            line = process.stdout.readline()  # all trials are over
            self.assertIn("round", line)
            suspended = program.workers(process.pid, "tilewright-run-worker")
            for worker in suspended:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGSTOP)
            process.send_signal(signal.SIGINT)
            result = program.member(program.objects(line + program.rest(process)), "result")
            self.assertEqual(result["measured"], 24)
            if process.returncode == 130:
                break
            self.assertEqual(process.returncode, 0)
        self.assertEqual(process.returncode, 130)

    def test_model_is_written(self):
        model = self.path("m.model")
        self.tune(self.path("a.db"), "--model", model, trials=80)
        shown = program.run("model", "show", model)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        # A search that starts with the model is a different one, which the model guides from the
        # first round on.
        first = program.objects(self.tune(self.path("b.db"), trials=24).stdout)[0]["round"]
        self.assertEqual(first["model"], "analytic")
        done = self.tune(self.path("b.db"), "--from-model", model, trials=24)
        self.assertEqual(program.objects(done.stdout)[0]["round"]["model"], "xgboost")
        squared = self.path("s.model")
        self.tune(self.path("c.db"), "--cost", "xgboost-squared", "--model", squared, trials=80)
        wrong = program.run("tune", WHAT, "--from-model", squared, "--records", self.path("c.db"))
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("xgboost-squared", wrong.stderr)

    def test_too_few_trials_for_a_model_are_not_a_failure(self):
        model = self.path("m.model")
        done = self.tune(self.path("a.db"), "--model", model, trials=1)
        self.assertIn("too few trials to train", done.stderr)
        self.assertFalse(os.path.exists(model))

    def test_bad_use_is_explained(self):
        for words, says in (
            (("nothing:x=1",), "nothing"),
            ((WHAT, "--search", "luck"), "evolution"),
            ((WHAT, "--cost", "luck"), "xgboost"),
            ((WHAT, "--objective", "luck"), "geometric_mean"),
            ((WHAT, "--objective", "targets"), "(--latency-targets)"),
            ((WHAT, "--space-off", "luck"), "luck"),
            ((WHAT, "--allow", "winograd"), "is for model files; an operator names its algorithm (--allow)"),
            ((WHAT, "--no-model-finals"), "are for model files, and there is none (--no-model-finals)"),
            ((WHAT, "C2D2", "--model", "x"), "(--model)"),
            ((WHAT, "--model", self.folder), "it is a folder"),
            ((WHAT, "--model", self.path("none/x")), "No such file"),
            ((WHAT, "--from-model", self.path("none")), "none"),
            ((WHAT, "--from-model", "x", "--cost", "none"), "use xgboost or xgboost-squared (--from-model)"),
            ((WHAT, "--cost", "xgboost:encoding=knobs", "--model", "x"), "(--model)"),
            ((WHAT, "--cost", "xgboost:encoding=luck"), "there is no encoding 'luck'; there are "),
            ((WHAT, "--search", "evolution:mutation=0.9,crossover=0.9"), "at most 1"),
            ((WHAT, "--trials", "0"), "trials"),
            ((WHAT, "--seconds", "nan"), "seconds"),
            ((WHAT, "--seconds", "0"), "seconds"),
            ((WHAT, "C2D9", "GMM2"), "C2D9"),
            ((WHAT, "--objective", "targets", "--latency-targets=-5"), "above 0"),
            ((WHAT, "--objective", "targets", "--latency-targets=0"), "above 0"),
            ((), "MODEL_OR_OPERATOR is required"),
            (("matmul:m=300000,n=300000,k=300000",), "too large"),
        ):
            done = program.run("tune", *words, "--records", self.path("a.db"))
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stdout, "")
            if says != "too large":  # found only when measuring starts
                self.assertFalse(os.path.exists(self.path("a.db")), words)

    def test_stores_that_cannot_be_used_are_explained(self):
        text = self.path("text")
        with open(text, "w") as file:
            file.write("no store\n" * 100)
        newer = self.path("newer.db")
        self.tune(newer, trials=2)
        with sqlite3.connect(newer) as store:
            store.execute("PRAGMA user_version = 99")
        for records, says in (
            (self.path("none/a.db"), "no folder"),
            (self.folder, "directory"),
            (text, "not a store"),
            (newer, "version 99"),
            ("/proc/a.db", "writable"),
        ):
            done = program.run("tune", WHAT, "--trials", 2, "--records", records)
            self.assertEqual(done.returncode, 2, records)
            self.assertIn(says, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_patience_and_several_tasks(self):
        what = (WHAT, "matmul:m=32,n=64,k=128", WHAT)
        done = self.tune(self.path("a.db"), "--patience", 10, what=what, trials=600, timeout=300)
        result = result_of(done)
        self.assertEqual([task["weight"] for task in result["tasks"]], [2, 1])
        self.assertEqual({task["done"] for task in result["tasks"]}, {"patience"})
        self.assertLess(result["trials"], 600)

    def test_closed_pipe_ends_the_run_and_keeps_results(self):
        records = self.path("a.db")
        process = program.start(*tune_words(records, trials=100000))
        self.assertIn("round", process.stdout.readline())
        process.stdout.close()
        self.assertEqual(program.wait(process), 2)
        again = result_of(self.tune(records, trials=24))
        self.assertEqual(again["measured"], 0)

    def test_starts_with_records_of_other_tasks(self):
        records = self.path("a.db")
        self.assertEqual(result_of(self.tune(records, trials=160))["tasks"][0]["borrowed"], 0)
        other = ("matmul:m=96,n=64,k=80",)
        done = self.tune(records, trials=30, what=other)
        self.assertGreaterEqual(result_of(done)["tasks"][0]["borrowed"], 150)
        self.assertEqual(program.objects(done.stdout)[0]["round"]["model"], "xgboost")
        # Later measurements of other runs do not change the trajectory.
        self.tune(records, trials=30, what=("matmul:m=96,n=64,k=48",))
        again = result_of(self.tune(records, trials=30, what=other))
        self.assertEqual((again["measured"], winners(again)), (0, winners(result_of(done))))
        cold = self.tune(records, "--no-warm-start", trials=30, what=other)
        self.assertEqual(program.objects(cold.stdout)[0]["round"]["model"], "analytic")

    def test_schedules_of_similar_tasks_are_begun_with(self):
        def carried(done):
            return [task["carried"] for task in result_of(done)["tasks"]]

        records = self.path("a.db")
        what = (WHAT, "matmul:m=96,n=64,k=80", "matmul:m=96,n=80,k=64")
        first = self.tune(records, trials=80, what=what)
        # Nothing is known yet to the first, nor to the second if it is prepared meanwhile.
        self.assertEqual(carried(first)[0], 0)
        self.assertTrue(0 < carried(first)[2] <= 8, carried(first))
        without = self.tune(self.path("b.db"), "--no-carry", trials=80, what=what)
        self.assertEqual(carried(without), [0, 0, 0])
        # Another search begins with records of the store. This one begins as it did.
        later = self.tune(records, "--seed", 2, trials=80, what=what)
        self.assertTrue(all(count > 0 for count in carried(later)), carried(later))
        for task in result_of(later)["tasks"]:
            self.assertIn(task["winner_carried"], (True, False))
        self.assertEqual(carried(self.tune(records, "--no-warm-start", trials=80, what=what))[0], 0)
        again = self.tune(records, trials=80, what=what)
        self.assertEqual(result_of(again)["measured"], 0)
        self.assertEqual(carried(again), carried(first))
        self.assertEqual(winners(result_of(again)), winners(result_of(first)))


if __name__ == "__main__":
    unittest.main()
