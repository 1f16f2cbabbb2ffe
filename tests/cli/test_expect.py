#!/usr/bin/env python3
"""Every expect.json below tests/data is what `detdiff compare` must answer, both ways round.

An expect.json names the two runs (`a`, `b`: paths beside it) and what is known of the answer; only the
keys it has are compared, and a list means any of its values.
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cli_support import DATA, MIRROR, SCHEMA, Suite  # noqa: E402

SITE_KEYS = ("rank", "iteration", "microbatch", "phase", "module", "operation", "kernel", "tensor",
             "name", "occurrence")


def any_of(value):
    return value if isinstance(value, list) else [value]


def check_site(suite, label, expected, found):
    if not suite.expect(found is not None, f"{label}: expected a site, got none"):
        return
    for key in SITE_KEYS:
        if key in expected:
            suite.equal(f"{label}.{key}", expected[key], found[key])


def check_answer(suite, expect, report, mirrored):
    suite.equal("exit", expect["exit"], report["exit"])
    for key in ("verdict", "class", "kind", "restore", "metric_pattern"):
        if expect.get(key) is None:
            continue
        allowed = any_of(expect[key])
        if mirrored and key == "kind":
            allowed = [MIRROR.get(value, value) for value in allowed]
        suite.expect(report[key] in allowed,
                     f"{key}: expected {'/'.join(allowed)}, got {report[key]}")
    if "evidence" in expect:
        suite.equal("evidence", expect["evidence"], report["evidence"]["weakest"])
    if mirrored and expect.get("offset"):
        return  # iterations are counted as A counts them
    if "offset" in expect:
        suite.equal("offset", expect["offset"], report["offset"])
    if "window" in expect:
        found = report["coverage"]["iterations"]
        suite.equal("window", expect["window"], [found["first"], found["last"]])
    if "resumed" in expect:
        side = {"a": "b", "b": "a"}[expect["resumed"]] if mirrored else expect["resumed"]
        suite.equal("resumed", side, report["resumed"])
    if "repeated" in expect:
        side = "a" if mirrored else "b"
        suite.equal("repeated", [expect["repeated"]] * len(report["ranks"]),
                    [rank[side]["repeated"] for rank in report["ranks"]])
    if "damage" in expect:
        side = expect["damage"]["side"]
        side = {"a": "b", "b": "a"}[side] if mirrored else side
        damaged = [(side, rank["rank"]) for rank in report["ranks"] for side in ("a", "b")
                   if rank[side] is not None and rank[side]["damage"] is not None]
        suite.equal("damage", [(side, expect["damage"]["rank"])], damaged)
    if expect.get("first"):
        check_site(suite, "first", expect["first"], report["first"])
    by_rank = {rank["rank"]: rank for rank in report["ranks"]}
    for number, site in (expect.get("per_rank") or {}).items():
        rank = by_rank.get(int(number))
        if not suite.expect(rank is not None, f"rank {number}: not in the report"):
            continue
        if site.get("same"):
            suite.equal(f"rank {number}", "same", rank["verdict"])
        elif "iteration" in site:
            check_site(suite, f"rank {number}", site, rank["first"])
            if "class" in site:
                # A class that the case allows as a whole is as good.
                allowed = any_of(site["class"]) + [value for value in any_of(expect.get("class"))
                                                   if isinstance(expect.get("class"), list)]
                suite.expect(rank["class"] in allowed,
                             f"rank {number}: class {rank['class']}, not {'/'.join(allowed)}")


def check_quiet(suite, a, b, options, report):
    """-q prints the first line of the long report and nothing else; -o writes what stdout would hold."""
    long = suite.run("compare", a, b, *options, cwd=DATA)
    quiet = suite.run("compare", a, b, "-q", *options, cwd=DATA)
    suite.equal("-q", long.stdout.splitlines(True)[:1], quiet.stdout.splitlines(True))
    suite.equal("exit with -q", report["exit"], quiet.code)
    target = suite.folder / "report.txt"
    written = suite.run("compare", a, b, "-o", target, *options, cwd=DATA)
    suite.equal("exit with -o", report["exit"], written.code)
    suite.equal("standard output with -o", b"", written.stdout)
    suite.equal("file of -o", long.stdout, target.read_bytes())
    verbose = suite.run("compare", a, b, "-v", *options, cwd=DATA)
    suite.equal("first line with -v", long.stdout.splitlines()[0], verbose.stdout.splitlines()[0])


def main():
    suite = Suite(__doc__.splitlines()[0])
    if suite.begin("schema"):
        schema = json.loads(SCHEMA.read_text())
        suite.equal("schema_version", 1, schema["properties"]["schema_version"]["const"])
        if suite.validator is not None:
            suite.validator.check_schema(schema)
    cases = sorted(DATA.rglob("expect.json"))
    suite.begin("there are cases")
    suite.expect(cases, "no expect.json below tests/data")
    for path in cases:
        folder = path.parent.relative_to(DATA)
        expect = json.loads(path.read_text())
        if not suite.begin(folder.as_posix()):
            continue
        options = expect.get("options", [])
        a, b = (os.path.normpath(folder / expect.get(side, side)) for side in ("a", "b"))
        for mirrored in (False, True):
            left, right = (b, a) if mirrored else (a, b)
            report = suite.compare(left, right, *options, cwd=DATA)
            if report is not None:
                check_answer(suite, expect, report, mirrored)
            if report is not None and not mirrored:
                check_quiet(suite, a, b, options, report)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
