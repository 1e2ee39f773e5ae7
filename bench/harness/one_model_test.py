"""Tests of the curves of one_model.py, from lines as tune prints them."""

import unittest

import one_model


def a_round(task, best_ns, weight=1, learn_s=0.1):
    one = {"task": task, "weight": weight, "learn_s": learn_s}
    if best_ns:
        one["best_ns"] = best_ns
    return {"round": one}


class Curve(unittest.TestCase):
    def test_begins_when_each_task_has_a_time(self):
        arm = one_model.curve_of(
            [
                (1.0, a_round("a", 100, weight=2)),
                (2.0, a_round("b", None)),
                (3.0, a_round("b", 50)),
                (4.0, a_round("a", 100)),
                (5.0, a_round("a", 80, weight=2)),
                (6.0, {"result": {"trials": 9, "learning": {"seconds": 0.2, "trainings": 3}}}),
            ]
        )
        self.assertEqual(arm["points"], [(3.0, 250), (5.0, 210)])
        self.assertAlmostEqual(arm["learn_s"], 0.5)
        self.assertEqual(arm["learning"]["trainings"], 3)

    def test_the_goal_is_within_two_percent_of_the_best(self):
        arms = {
            ("run", 1): {"points": [(1.0, 130), (2.0, 102), (9.0, 100)], "learn_s": 1, "wall_s": 10},
            ("task", 1): {
                "points": [(1.0, 130), (8.0, 110)],
                "learn_s": 1,
                "learning": {"seconds": 0.2},
                "wall_s": 20,
            },
        }
        rows = {(r["name"], r["metric"]): r["value"] for r in one_model.rows_of("m", arms)}
        self.assertEqual(rows["m/run/1", "to_98_of_best_s"], 2.0)
        self.assertIsNone(rows["m/task/1", "to_98_of_best_s"])
        self.assertEqual(rows["m/task/1", "to_98_of_own_s"], 8.0)
        # Training alone takes less: encoding samples counts as learning too.
        self.assertEqual(rows["m/task/1", "learning_share"], 0.05)


if __name__ == "__main__":
    unittest.main()
