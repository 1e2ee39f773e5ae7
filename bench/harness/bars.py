"""The output of a benchmark: figures as they become known, and whether bars are reached."""

import sys

from harness import report


class Report:
    """Prints figures as they become known. Collects the rows of --json and the bars that are not reached.
    Each row has the processor's name and the number of threads."""

    def __init__(self, threads=None):
        self.threads = threads
        self.rows, self.missed = [], []
        self.disturbed = False  # other processes were running during some ablations

    def title(self, text):
        print(f"\n{text}", flush=True)

    def say(self, text):
        print(text, flush=True)

    def table(self, header, rows):
        if rows:
            print(report.table(header, rows), flush=True)

    def row(self, name, metric, value):
        self.rows.append({"name": name, "metric": metric, "value": value})

    def bar(self, what, value, minimum, unit="", trusted=True):
        reached = value is not None and value >= minimum
        self._judge(what, value, minimum, unit, reached, trusted)

    def bar_max(self, what, value, maximum, unit="", trusted=True):
        reached = value is not None and value <= maximum
        self._judge(what, value, maximum, unit, reached, trusted)

    def progress(self, name, ratio):
        if sys.stderr.isatty():
            print(f"{name}: {report.number(ratio)}", file=sys.stderr, flush=True)

    def finish(self, options):
        """Prints the bars that were not reached, writes the rows of --json, and returns the exit code."""
        if self.missed:
            print(f"\nnot reached: {len(self.missed)}")
            for what in self.missed:
                print(f"  {what}")
        if options.json:
            report.write_rows(options.json, report.machine_rows() + report.stated(self.rows, self.threads))
        return 1 if options.check and self.missed else 0

    def _judge(self, what, value, bar, unit, reached, trusted):
        """A figure measured while other processes were running reaches no bar: load slows some participants
        more than others, and the limit most of all."""
        verdict = "not known" if value is None else "reached" if reached else "NOT REACHED"
        if value is not None and not trusted:
            verdict = f"no result: other processes were running ({verdict.lower()})"
        print(report.bar_line(what, value, bar, unit, verdict), flush=True)
        if not (reached and trusted):
            self.missed.append(what)
