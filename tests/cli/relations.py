"""What the metamorphic relations share: the traces to change, and how answers are held together."""
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import f1_trace as f1  # noqa: E402
from cli_support import DATA, SANITIZED, first_difference  # noqa: E402

EXHAUSTIVE = bool(os.environ.get("DETDIFF_EXHAUSTIVE"))
SEED = int(os.environ.get("DETDIFF_SEED", "20260914"))


class Context:
    def __init__(self, suite):
        self.suite = suite
        self.random = random.Random(SEED)
        self.pairs = f1.pairs()
        self.base = f1.Trace.load(DATA / "f1" / "fresh3")
        self.whole = [pair for pair in self.pairs if pair.name != "crash-append"
                      and len(pair.a.ranks) == len(pair.b.ranks)]
        self.divergent = [pair for pair in self.whole if pair.expect["exit"] == 1]
        self.base_folder = self.base.write(suite.folder / "base")

    def sample(self, items, count):
        """`count` of the items in their order, or all of them."""
        items = list(items)
        if EXHAUSTIVE or len(items) <= count:
            return items
        if SANITIZED:
            count = max(1, count // 4)
        return [items[i] for i in sorted(self.random.sample(range(len(items)), count))]

    def records(self, count, wanted=lambda record: True):
        """(rank, index, record) of the base."""
        places = [(rank, index, record) for rank in self.base.ranks
                  for index, record in enumerate(self.base.records(rank)) if wanted(record)]
        return self.sample(places, count)

    def write(self, name, trace):
        trace.write(self.suite.folder / name)
        return name

    def compare(self, a, b, *options):
        """Compares two traces (or folders below the suite's)."""
        names = [self.write(name, trace) if isinstance(trace, f1.Trace) else trace
                 for name, trace in (("a", a), ("b", b))]
        return self.suite.compare(*names, *options)

    def alike(self, label, expected, got, counts=True):
        if expected is None or got is None:
            self.suite.fail(f"{label}: no report")
            return
        found = first_difference(essence(expected, counts), essence(got, counts))
        self.suite.expect(found is None, f"{label}: {found}")

    def verdict(self, label, expected, report):
        got = report and report["verdict"]
        return self.suite.expect(got in expected.split("|"), f"{label}: expected {expected}, got {got}")

    def before(self, pair, trace, count):
        """Places in an earlier iteration than the first divergence, or anywhere if there is none."""
        limit = pair.first["iteration"] if pair.first else 1 << 60
        places = [(rank, index) for rank in trace.ranks
                  for index, record in enumerate(trace.records(rank))
                  if int(record["iteration"]) < limit]
        if EXHAUSTIVE:  # every one, in every pair, would take hours
            return [places[i] for i in sorted(self.random.sample(range(len(places)), min(20, len(places))))]
        return self.sample(places, count)


def note(place):
    return "rank {} line {}".format(place[0], place[1] + 1)


def site_at(trace, rank, index):
    return f1.site_of(trace.record(rank, index))


def essence(report, counts=True):
    """All that must not depend on names, containers and the spelling of the logs."""
    ranks = []
    for rank in report["ranks"]:
        entry = {key: rank[key] for key in ("rank", "verdict", "first", "kind", "class", "restore",
                                            "last_match")}
        entry["findings"] = [(f["kind"], f["class"], f["site"], f["extra"]) for f in rank["findings"]]
        if counts:
            for key in ("records_compared", "records_differing", "records_missing_in_a",
                        "records_missing_in_b", "records_left_out", "iterations",
                        "iterations_equal", "tensors_before", "finding_count", "evidence"):
                entry[key] = rank[key]
        ranks.append(entry)
    result = {key: report[key] for key in ("verdict", "exit", "first", "kind", "class", "restore",
                                           "metric_pattern")}
    result["ranks"] = ranks
    if counts:
        result["coverage"] = report["coverage"]
        result["evidence"] = report["evidence"]
    result["notices"] = sorted(notice["code"] for notice in report["notices"])
    return result


def plain_report(report):
    """A report without paths, sizes and the command line."""
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items() if key not in ("argv", "bytes")}
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, str):
            return value.replace(".jsonl.zst", ".jsonl").replace(".jsonl.gz", ".jsonl")
        return value
    return plain(report)


def check_only_difference(ctx, label, other, rank, index, kind):
    suite = ctx.suite
    report = ctx.compare("base", other)
    if not ctx.verdict(label, "divergent", report):
        return
    site = site_at(ctx.base, rank, index)
    suite.expect(f1.same_site(site, report["first"]), f"{label}: first is {report['first']}")
    suite.equal(f"{label}: kind", kind, report["kind"])
    suite.equal(f"{label}: findings", 1, report["counts"]["findings"])
    last = report["ranks"][report["lead"]]["last_match"]
    if index == 0:
        suite.equal(f"{label}: last match", None, last)
    else:
        before = site_at(ctx.base, rank, index - 1)
        suite.expect(f1.same_site(before, last), f"{label}: last match {last}, not {before}")
    suite.equal(f"{label}: line", index + 1, report["first_record"]["a"]["line"])
    suite.equal(f"{label}: records", sum(map(len, ctx.base.ranks.values())),
                report["coverage"]["records_compared"])


def check_missing(ctx, label, report, pair, rank, site, before, kind):
    suite = ctx.suite
    if not ctx.verdict(label, "divergent", report):
        return
    suite.expect(f1.same_site(site, report["first"]), f"{label}: first {report['first']}, not {site}")
    suite.equal(f"{label}: kind", kind, report["kind"])
    suite.equal(f"{label}: class", "control_flow", report["class"])
    result = next(entry for entry in report["ranks"] if entry["rank"] == rank)
    suite.expect(before is None or f1.same_site(before, result["last_match"]),
                 f"{label}: last match {result['last_match']}, not {before}")
    findings = [finding for entry in report["ranks"] for finding in entry["findings"]]
    if pair is None:
        suite.equal(f"{label}: findings", 1, report["counts"]["findings"])
    else:
        old = [f for f in findings if f1.same_site(pair.first, f["site"])]
        suite.expect(old, f"{label}: the divergence at {pair.first} is not found behind it")
        where = pair.first["rank"]
        if where != rank:
            entry = next(e for e in report["ranks"] if e["rank"] == where)
            suite.expect(f1.same_site(pair.first, entry["first"]),
                         f"{label}: rank {where} first {entry['first']}")
    missing = sum(entry["records_missing_in_a"] + entry["records_missing_in_b"]
                  for entry in report["ranks"] if pair is None)
    suite.equal(f"{label}: missing", 1 if pair is None else 0, missing)
