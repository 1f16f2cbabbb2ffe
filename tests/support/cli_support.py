"""What the tests of the whole program share: running detdiff, and what must hold of every comparison.

Every comparison that a test makes goes through Suite.compare. It runs the pair, the swapped pair and
the text report, and checks what must hold of each of them, whatever the logs are.
"""
import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SCHEMA = ROOT / "src" / "report" / "schema" / "compare-report-1.schema.json"

EXIT_OF = {"same": 0, "divergent": 1, "inconclusive": 3}
MIRROR = {"missing_in_a": "missing_in_b", "missing_in_b": "missing_in_a"}
SCREEN_LINES = 24  # a text report longer than this repeats its first line at the end

SANITIZED = bool(os.environ.get("DETDIFF_SANITIZE"))
SLOWNESS = 10 if SANITIZED else 1  # how much longer a program with sanitizers may take


def load_validator():
    """The schema of the report, or why it is not checked."""
    try:
        import jsonschema
    except ImportError:
        return None, "the module jsonschema is not installed"
    if not hasattr(jsonschema, "Draft202012Validator"):
        return None, "the module jsonschema does not know draft 2020-12"
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())), None


class Outcome:
    """What one run of the program left behind."""

    def __init__(self, code, stdout, stderr):
        self.code = code
        self.stdout = stdout
        self.stderr = stderr

    @property
    def error(self):
        return self.stderr.decode("utf-8", "replace")


class Suite:
    """One test program: its options, its folder, its checks and its failures."""

    def __init__(self, description, add_options=None):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--detdiff", required=True, help="the program to test")
        parser.add_argument("--only", default="*", metavar="GLOB", help="only checks so named")
        parser.add_argument("--keep", action="store_true", help="leave the test's folder behind")
        parser.add_argument("-v", "--verbose", action="store_true", help="name what passes, too")
        if add_options:
            add_options(parser)
        self.options = parser.parse_args()
        self.detdiff = os.path.abspath(self.options.detdiff)
        self.folder = Path(tempfile.mkdtemp(prefix="detdiff-test-"))
        self.environment = {key: value for key, value in os.environ.items()
                            if key not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES")}
        self.environment["LC_ALL"] = "C.UTF-8"
        self.validator, self.no_schema = load_validator()
        self.schema_every = 1  # the validator is slow: programs of many comparisons take a sample
        self.name = ""
        self.hint = ""  # what is being compared, for the messages of compare()
        self.checks = self.comparisons = 0
        self.failures = []
        self.failed_now = []
        self.skipped = []

    # Checks -------------------------------------------------------------------------------------

    def wants(self, name):
        return fnmatch.fnmatch(name, self.options.only)

    def begin(self, name):
        """Names what is tested from here on; false if it is not wanted."""
        self.end()
        self.name = name
        self.hint = ""
        if not self.wants(name):
            self.name = ""
            return False
        self.checks += 1
        return True

    def end(self):
        if self.name and (self.failed_now or self.options.verbose):
            print(f"{'FAIL' if self.failed_now else 'ok  '} {self.name}")
            for text in self.failed_now[:12]:
                print(f"       {text}")
            if len(self.failed_now) > 12:
                print(f"       and {len(self.failed_now) - 12} more")
            sys.stdout.flush()
        if self.failed_now:
            self.failures.append(self.name)
        self.failed_now = []
        self.name = ""

    def fail(self, text):
        text = str(text).replace(str(self.folder), ".").replace(str(ROOT), ".")
        self.failed_now.append(text if len(text) < 800 else text[:800] + " ...")

    def expect(self, condition, text):
        if not condition:
            self.fail(text)
        return bool(condition)

    def equal(self, label, expected, got):
        return self.expect(expected == got, f"{label}: expected {expected!r}, got {got!r}")

    def skip(self, name, reason):
        self.skipped.append(name)
        print(f"skip {name}: {reason}")

    def finish(self):
        self.end()
        if self.no_schema:
            print(f"skip schema of the reports: {self.no_schema}")
        if self.options.keep:
            print("the folder is kept")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        print(f"{self.checks - len(self.failures)} of {self.checks} passed, "
              f"{self.comparisons} comparisons, {len(self.skipped)} skipped")
        return 1 if self.failures or self.checks == 0 else 0

    # Running ------------------------------------------------------------------------------------

    def start(self, *arguments, cwd=None, stdin=subprocess.DEVNULL, env=None, **more):
        environment = dict(self.environment, **(env or {}))
        return subprocess.Popen([self.detdiff, *map(str, arguments)], cwd=cwd or self.folder,
                                stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=environment, **more)

    def wait(self, process, label, timeout=60, data=None):
        try:
            stdout, stderr = process.communicate(data, timeout=timeout * SLOWNESS)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            self.fail(f"{label}: no answer in {timeout * SLOWNESS} s")
        if process.returncode < 0:
            self.fail(f"{label}: ended by signal {-process.returncode}")
        return Outcome(process.returncode, stdout, stderr)

    def run(self, *arguments, **more):
        return self.wait(self.start(*arguments, **more), "detdiff " + " ".join(map(str, arguments)))

    def refused(self, *arguments, says=(), **more):
        """Runs what must end with 2, a message that has all of `says`, and nothing on stdout."""
        outcome = self.run(*arguments, **more)
        label = "detdiff " + " ".join(map(str, arguments))
        self.equal(f"{label}: exit", 2, outcome.code)
        self.expect(not outcome.stdout, f"{label}: wrote to standard output")
        for word in says:
            self.expect(word in outcome.error, f"{label}: no {word!r} in: {outcome.error.strip()}")
        return outcome

    def compare(self, a, b, *options, cwd=None):
        """Compares, checks what must always hold, and returns the report (None if there is none)."""
        self.comparisons += 1
        label = " ".join(map(str, (self.hint, a, b, *options))).strip()
        running = [self.start("compare", a, b, "--format", "json", *options, cwd=cwd),
                   self.start("compare", b, a, "--format", "json", *swapped(options), cwd=cwd),
                   self.start("compare", a, b, *options, cwd=cwd)]
        straight, mirrored, text = [self.wait(process, label) for process in running]
        report = self.parse(straight, label)
        if report is None:
            self.equal(f"{label}: exit of the swapped pair", straight.code, mirrored.code)
            self.equal(f"{label}: exit of the text report", straight.code, text.code)
            return None
        self.check_report(report, label)
        self.equal(f"{label}: exit", straight.code, EXIT_OF[report["verdict"]])
        other = self.parse(mirrored, label + " (swapped)")
        if other is not None:
            self.check_report(other, label + " (swapped)")
            for difference in mirror_differences(report, other):
                self.fail(f"{label}: swapped: {difference}")
        self.check_text(text, report, label)
        return report

    def parse(self, outcome, label):
        if outcome.code not in (0, 1, 3):
            self.fail(f"{label}: exit {outcome.code}: {outcome.error.strip()[:400]}")
            return None
        self.expect(not outcome.stderr, f"{label}: on standard error: {outcome.error.strip()[:400]}")
        try:
            report = json.loads(outcome.stdout.decode("utf-8"))
        except ValueError as error:
            self.fail(f"{label}: standard output is no JSON: {error}")
            return None
        self.equal(f"{label}: exit in the report", outcome.code, report.get("exit"))
        return report

    def check_report(self, report, label):
        if self.validator is not None and self.comparisons % self.schema_every == 0:
            for error in list(self.validator.iter_errors(report))[:3]:
                self.fail(f"{label}: schema: {'/'.join(map(str, error.path))}: {error.message[:200]}")
        for text in inconsistencies(report):
            self.fail(f"{label}: {text}")

    def check_text(self, outcome, report, label):
        self.equal(f"{label}: exit with text", EXIT_OF[report["verdict"]], outcome.code)
        self.expect(not outcome.stderr, f"{label}: with text, on standard error: {outcome.error}")
        lines = outcome.stdout.decode("utf-8").splitlines()
        word = report["verdict"].upper()
        if not self.expect(lines and lines[0].startswith(word), f"{label}: first line is not {word}"):
            return
        if len(lines) > SCREEN_LINES:
            self.equal(f"{label}: last line of a long text", lines[0], lines[-1])
        self.expect("\x1b" not in outcome.stdout.decode("utf-8"), f"{label}: colour in a pipe")


def swapped(options):
    """The same options for the pair the other way round."""
    result = list(options)
    for i, option in enumerate(result[:-1]):
        if option == "--iteration-offset":
            result[i + 1] = str(-int(result[i + 1]))
    return result


# What must hold of one report -------------------------------------------------------------------

def place(finding, side):
    record = finding[side]
    return None if record is None else record["byte"]


def inconsistencies(report):
    verdict, ranks, coverage = report["verdict"], report["ranks"], report["coverage"]
    wrong = []

    def check(condition, text):
        if not condition:
            wrong.append(text)

    check(report["exit"] == EXIT_OF[verdict], f"exit {report['exit']} does not go with {verdict}")
    verdicts = [rank["verdict"] for rank in ranks]
    check((verdict == "divergent") == ("divergent" in verdicts), "verdict against its ranks' verdicts")
    check(verdict != "same" or set(verdicts) == {"same"}, "same, but not every rank is")
    check((verdict == "inconclusive") == bool(report["inconclusive_because"]),
          "inconclusive and its reasons do not go together")
    check((report["first"] is None) == (verdict != "divergent"), "first without divergence")

    # Counts add up.
    check(coverage["records_compared"] == sum(rank["records_compared"] for rank in ranks),
          "records_compared is not the sum over the ranks")
    check(coverage["left_out"] == sum(rank["records_left_out"] for rank in ranks)
          + report["evidence"]["ignored"], "left_out is not the sum over the ranks")
    check(coverage["ranks_a"] == sum(rank["in_a"] for rank in ranks), "ranks_a")
    check(coverage["ranks_b"] == sum(rank["in_b"] for rank in ranks), "ranks_b")
    check(coverage["ranks_compared"] == sum(rank["in_a"] and rank["in_b"] for rank in ranks),
          "ranks_compared")
    check(sum(report["counts"]["ranks"].values()) == len(ranks), "counts.ranks")
    check(report["counts"]["findings"] == sum(rank["finding_count"] for rank in ranks),
          "counts.findings")
    check(sum(report["counts"]["first_by_class"].values())
          <= sum(rank["first"] is not None for rank in ranks), "counts.first_by_class")
    for part in ("tensors", "ignored", "not_comparable"):
        check(report["evidence"][part] == sum(rank["evidence"][part] for rank in ranks),
              f"evidence.{part} is not the sum over the ranks")
    check(verdict != "same" or report["evidence"]["weakest"] not in ("none", "metadata"),
          "same without values")
    check(verdict != "same" or report["evidence"]["not_comparable"] == 0, "same, but not comparable")
    check(verdict != "same" or coverage["records_compared"] > 0, "same without records")
    for rank in ranks:
        wrong += [f"rank {rank['rank']}: {text}" for text in rank_inconsistencies(rank)]

    # The lead precedes all others.
    if verdict == "divergent":
        lead = ranks[report["lead"]]
        for key in ("first", "kind", "class", "restore"):
            check(report[key] == lead[key], f"{key} is not the leading rank's")
        mine = lead["first"]["iteration"]
        for rank in ranks:
            if rank["first"] is not None and mine is not None:
                check(rank["first"]["iteration"] >= mine, "a rank diverges before the one that leads")
    return wrong


def rank_inconsistencies(rank):
    findings = rank["findings"]
    wrong = []
    if (rank["verdict"] == "divergent") != (rank["first"] is not None):
        wrong.append("first and verdict do not go together")
    if (rank["first"] is not None) != bool(findings):
        wrong.append("first without findings")
    if rank["finding_count"] < len(findings):
        wrong.append("more findings than counted")
    if findings:
        for key, name in (("site", "first"), ("kind", "kind"), ("class", "class"),
                          ("last_match", "last_match"), ("restore", "restore")):
            if findings[0][key] != rank[name]:
                wrong.append(f"{name} is not that of the first finding")
    for side in ("a", "b"):
        places = [place(finding, side) for finding in findings
                  if finding["kind"] != "order" and place(finding, side) is not None]
        if places != sorted(places):
            wrong.append(f"findings are not in the order in which {side.upper()} executed them")
    for finding in findings:
        if finding["kind"] == "order":  # one record, which the other side has elsewhere
            continue
        if (finding["a"] is None) != (finding["kind"] == "missing_in_a"):
            wrong.append("a missing record that is there")
        if (finding["b"] is None) != (finding["kind"] == "missing_in_b"):
            wrong.append("a missing record that is there")
    if not (rank["in_a"] and rank["in_b"]):
        if rank["records_compared"] or rank["verdict"] == "same":
            wrong.append("compared though one side lacks it")
        return wrong
    span = rank["iterations"]
    if span and (rank["iterations_equal"] > span["count"] or span["first"] > span["last"]):
        wrong.append("iterations do not add up")
    # Every record of both sides is accounted for once.
    total = rank["a"]["records"] + rank["b"]["records"]
    seen = (2 * rank["records_compared"] + rank["records_missing_in_a"]
            + rank["records_missing_in_b"] + rank["records_left_out"])
    moved = 2 * sum(finding["kind"] == "order" for finding in findings)
    whole = rank["finding_count"] == len(findings) + sum(finding["extra"] for finding in findings)
    if seen > total or (whole and seen + moved != total):
        wrong.append(f"{total} records in the two logs, {seen + moved} accounted for")
    return wrong


# Swapping -----------------------------------------------------------------------------------------

def shifted(site, offset):
    if site is None or site["iteration"] is None:
        return site
    return dict(site, iteration=site["iteration"] + offset)


def mirror_differences(report, other):
    """What the report of (B, A) says otherwise than the one of (A, B)."""
    offset = report.get("offset", 0)
    differences = []

    def same(label, expected, got):
        if expected != got:
            differences.append(f"{label}: expected {expected!r}, got {got!r}")

    same("offset", -offset, other.get("offset", 0))
    for key in ("verdict", "class", "restore", "metric_pattern"):
        same(key, report[key], other[key])
    same("kind", MIRROR.get(report["kind"], report["kind"]), other["kind"])
    same("first", shifted(report["first"], offset), other["first"])
    cover, mirrored = report["coverage"], other["coverage"]
    same("ranks_a", cover["ranks_b"], mirrored["ranks_a"])
    same("ranks_b", cover["ranks_a"], mirrored["ranks_b"])
    for key in ("ranks_compared", "records_compared", "left_out"):
        same(key, cover[key], mirrored[key])
    same("iterations compared", cover["iterations"]["compared"], mirrored["iterations"]["compared"])
    for key in ("weakest", "kinds", "not_comparable", "ignored"):
        same(f"evidence.{key}", report["evidence"][key], other["evidence"][key])
    same("notices", sorted(notice["code"] for notice in report["notices"]),
         sorted(notice["code"] for notice in other["notices"]))
    by_rank = {rank["rank"]: rank for rank in other["ranks"]}
    same("ranks", sorted(rank["rank"] or 0 for rank in report["ranks"]),
         sorted(rank["rank"] or 0 for rank in other["ranks"]))
    for rank in report["ranks"]:
        twin = by_rank.get(rank["rank"])
        if twin is None:
            continue
        label = f"rank {rank['rank']}"
        for key in ("verdict", "class", "restore", "records_compared", "records_differing",
                    "records_left_out", "finding_count", "iterations_equal"):
            same(f"{label} {key}", rank[key], twin[key])
        for key, swap in (("records_missing_in_a", "records_missing_in_b"), ("in_a", "in_b"),
                          ("a", "b")):
            same(f"{label} {key}", rank[key], twin[swap])
        same(f"{label} kind", MIRROR.get(rank["kind"], rank["kind"]), twin["kind"])
        same(f"{label} last_match", shifted(rank["last_match"], offset), twin["last_match"])
        found = first_difference(
            [(MIRROR.get(f["kind"], f["kind"]), f["class"], shifted(f["site"], offset))
             for f in rank["findings"]],
            [(f["kind"], f["class"], f["site"]) for f in twin["findings"]], f"{label} findings")
        if found:
            differences.append(found)
    return differences


def first_difference(expected, got, path=""):
    """Where two such essences part, in words; nothing if they do not."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(set(expected) | set(got), key=str):
            found = first_difference(expected.get(key), got.get(key), f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)):
        if len(expected) != len(got):
            return f"{path}: expected {len(expected)} entries, got {len(got)}"
        for index, pair in enumerate(zip(expected, got)):
            found = first_difference(*pair, f"{path}[{index}]")
            if found:
                return found
        return None
    return None if expected == got else f"{path.lstrip('.')}: expected {expected!r}, got {got!r}"
