#!/usr/bin/env python3
"""Three wrong answers of the comparator in Megatron-LM's pull request 6610, on small traces.

It sorts by name where it should follow the order of execution, takes a resumed run's missing
beginning for a difference, and does not know iterations that a restarted run recorded twice.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import f1_trace as f1  # noqa: E402
from cli_support import Suite  # noqa: E402


def compare(suite, a, b, *options):
    f1.trace_of(a).write(suite.folder / "a")
    f1.trace_of(b).write(suite.folder / "b")
    return suite.compare("a", "b", *options)


def step(iteration, rank=0, occurrence=0, value=0):
    """What a training step records: an event, activations, a gradient, the weights behind it."""
    def tensor(name, phase):
        return f1.tensor_record(name, (iteration, value), iteration, rank, phase, 0, occurrence)
    return [f1.event_record("iteration_start", iteration, rank, occurrence=occurrence, num_microbatches=1),
            tensor("z_first", "forward"), tensor("a_later", "forward"), tensor("a_later.grad", "backward"),
            tensor("z_first.grad", "backward"), tensor("weight", "optimizer")]


def run(first, last, **more):
    return [record for iteration in range(first, last + 1) for record in step(iteration, **more)]


def execution_order(suite):
    """z_first runs before a_later and both differ: z_first is the first divergence."""
    for at in (1, 3):
        other = [dict(record, tensor=dict(record["tensor"], sha256=f1.digest("other", record["name"])))
                 if record["iteration"] == at and record["name"] in ("z_first", "a_later") else record
                 for record in run(1, 4)]
        report = compare(suite, run(1, 4), other)
        if report is None:
            continue
        suite.equal("verdict", "divergent", report["verdict"])
        suite.expect(f1.same_site({"iteration": at, "name": "z_first", "phase": "forward"}, report["first"]),
                     f"first is {report['first']}")
        suite.equal("kind", "value", report["kind"])
        suite.equal("last match", "iteration_start", report["ranks"][0]["last_match"]["name"])
        suite.equal("second finding", "a_later", report["ranks"][0]["findings"][1]["site"]["name"])


def resumed_window(suite):
    """1-8 against 5-8 of a resumed run: the overlap counts."""
    for start in (0, 77):
        a, b = run(1, 8), run(5, 8)
        f1.trace_of(a).write(suite.folder / "a")
        f1.trace_of(b, start).write(suite.folder / "b")
        report = suite.compare("a", "b")
        if report is None:
            continue
        suite.equal("verdict", "same", report["verdict"])
        window = report["coverage"]["iterations"]
        suite.equal("window", [5, 8, 4], [window["first"], window["last"], window["compared"]])
        suite.equal("left out", 4 * 6, report["coverage"]["left_out"])
        suite.equal("resumed", "b", report["resumed"])
        suite.expect("window" in [notice["code"] for notice in report["notices"]], "no notice of the window")
    b = run(5, 6) + run(7, 7, value=1) + run(8, 8)
    report = compare(suite, run(1, 8), b)
    if report is not None:
        suite.equal("verdict", "divergent", report["verdict"])
        suite.expect(f1.same_site({"iteration": 7, "name": "z_first"}, report["first"]),
                     f"first is {report['first']}")
        suite.expect(report["class"] != "restore", "two iterations after the resume, class restore")
    off = suite.compare("a", "b", "--resume", "off")
    if off is not None:
        suite.equal("verdict with --resume off", "divergent", off["verdict"])
        suite.equal("kind with --resume off", "missing_in_b", off["kind"])
        suite.equal("first with --resume off", 1, off["first"]["iteration"])


def crash_and_append(suite):
    """Crashed in 7, restarted from 4 and appended: 5 and 6 are there twice, the last one counts."""
    appended = run(1, 6) + step(7)[:3]
    again = run(5, 6, occurrence=1) + step(7, occurrence=1)[:3] + step(7)[3:] + run(8, 8)
    report = compare(suite, run(1, 8), appended + again)
    if report is not None:
        suite.equal("verdict", "same", report["verdict"])
        suite.equal("repeated", [5, 6, 7], report["ranks"][0]["b"]["repeated"])
        suite.equal("compared", 8, report["coverage"]["iterations"]["compared"])
        suite.expect("segments" in [notice["code"] for notice in report["notices"]], "no notice of the restart")
    # What the restart recorded counts: a difference in the discarded part is none, one behind it is.
    discarded = run(1, 5) + run(6, 6, value=1)
    report = compare(suite, run(1, 8), discarded + run(5, 6, occurrence=1) + run(7, 8))
    if report is not None:
        suite.equal("verdict with a difference before the crash", "same", report["verdict"])
    report = compare(suite, run(1, 8), run(1, 6) + run(5, 5, occurrence=1)
                     + run(6, 6, occurrence=1, value=1) + run(7, 8))
    if report is not None:
        suite.equal("verdict with a difference after the restart", "divergent", report["verdict"])
        suite.expect(f1.same_site({"iteration": 6, "name": "z_first"}, report["first"]),
                     f"first is {report['first']}")
    # Both runs may have crashed, at different places.
    report = compare(suite, run(1, 3) + run(3, 3, occurrence=1) + run(4, 8),
                     run(1, 6) + run(5, 6, occurrence=1) + run(7, 8))
    if report is not None:
        suite.equal("verdict of two restarted runs", "same", report["verdict"])


def main():
    suite = Suite(__doc__.splitlines()[0])
    for test in (execution_order, resumed_window, crash_and_append):
        if suite.begin(test.__name__):
            test(suite)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
