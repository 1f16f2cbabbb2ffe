#!/usr/bin/env python3
"""Inputs on which a wrong answer would go unnoticed: nothing in common, other kinds, damaged bytes."""
import gzip
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import f1_trace as f1  # noqa: E402
from cli_support import DATA, Suite  # noqa: E402

GOLDEN = DATA / "golden" / "gpt-h100-equal"


def write(suite, name, records):
    f1.trace_of(records).write(suite.folder / name)
    return name


def nothing_in_common(suite):
    """No name, iteration or format in common: inconclusive, neither same nor divergent."""
    def tensors(names, iteration):
        return [f1.tensor_record(name, 1, iteration) for name in names]
    a = write(suite, "a", tensors("pqr", 1))
    b = write(suite, "b", tensors("xyz", 1))
    c = write(suite, "c", tensors("pqr", 7) + [f1.tensor_record("p", 2, 8)])
    d = write(suite, "d", [f1.tensor_record("p", 3, 1)])
    f1.Trace({0: f1.trace_of(tensors("p", 1)).ranks[0]}).write(suite.folder / "e")
    for label, pair in (("names", (a, b)), ("formats", (a, "golden.json")), ("iterations", (d, c))):
        (suite.folder / "golden.json").write_bytes((GOLDEN / "fresh.json").read_bytes())
        suite.hint = f"no {label} in common:"
        report = suite.compare(*pair)
        if report is not None:
            suite.equal(f"no {label} in common", "inconclusive", report["verdict"])


def kinds_of_one_site(suite):
    """The same event with other fields is the same record with another content."""
    def event(**fields):
        return [f1.event_record("start", 1, value=1), f1.event_record("n", 1, **fields),
                f1.event_record("end", 1, value=2)]
    a = write(suite, "a", event(value=1.5))
    for label, fields in (("one field more", dict(value=1.5, note="x")), ("text", dict(value="1.5")),
                          ("a boolean", dict(value=True)), ("null", dict(value=None)),
                          ("nan", dict(value=None, finite=False, nonfinite="nan"))):
        suite.hint = f"{label}:"
        report = suite.compare(a, write(suite, "b", event(**fields)))
        if report is not None and suite.equal(f"{label}: verdict", "divergent", report["verdict"]):
            suite.equal(f"{label}: kind", "value", report["kind"])
            suite.equal(f"{label}: first", "n", report["first"]["name"])
            suite.equal(f"{label}: records compared", 3, report["coverage"]["records_compared"])


def dtype_and_shape(suite):
    """Dtype, then shape, then value; a longer list of names for one place is no cascade."""
    base = [f1.tensor_record(name, 1, 1, shape=(2, 3)) for name in "abc"]
    a = write(suite, "a", base)
    for kind, change in (("dtype", dict(dtype="bfloat16")), ("shape", dict(shape=[3, 2]))):
        changed = dict(base[1], tensor=dict(base[1]["tensor"], sha256=f1.digest(kind), **change))
        report = suite.compare(a, write(suite, "b", [base[0], changed, base[2]]))
        if report is not None and suite.equal(f"{kind}: verdict", "divergent", report["verdict"]):
            suite.equal("kind", kind, report["kind"])
            suite.equal(f"{kind}: findings", 1, report["counts"]["findings"])


def order(suite):
    """Two records that changed places are one finding of kind order."""
    base = [f1.tensor_record(name, 1, 1) for name in "abcdef"]
    a = write(suite, "a", base)
    b = write(suite, "b", base[:2] + [base[3], base[2]] + base[4:])
    report = suite.compare(a, b)
    if report is not None and suite.equal("verdict", "divergent", report["verdict"]):
        suite.equal("kind", "order", report["kind"])
        suite.equal("class", "control_flow", report["class"])
        suite.equal("findings", 1, report["counts"]["findings"])
        suite.equal("last match", "b", report["ranks"][0]["last_match"]["name"])


def precision_of_metrics(suite):
    """Equal printed digits are "same", and the verdict says how many digits."""
    for case in ("gpt-h100-equal", "gpt-cp2-gb200-backward"):
        for side in ("fresh", "resumed"):
            (suite.folder / f"{side}.json").write_bytes((DATA / "golden" / case / f"{side}.json").read_bytes())
        report = suite.compare("fresh.json", "resumed.json")
        if report is None:
            continue
        suite.expect(isinstance(report["evidence"]["printed_digits"], int),
                     f"{case}: evidence.printed_digits is {report['evidence']['printed_digits']}")
        if report["verdict"] == "same":
            line = suite.run("compare", "fresh.json", "resumed.json", "-q").stdout.decode().strip()
            suite.expect(any(c.isdigit() for c in line.split("digits")[0]),
                         f"{case}: the verdict line does not say the precision: {line}")


def changed_metric(suite):
    """One digit of one metric: divergent there, and equal if both have it."""
    text = (GOLDEN / "fresh.json").read_text()
    (suite.folder / "a.json").write_text(text)
    for step in ("2", "57", "100"):
        at = text.index(f'"{step}":', text.index('"lm loss"'))
        end = text.index(",", at) if step != "100" else text.index("\n", at)
        digit = "3" if text[end - 1] != "3" else "4"
        (suite.folder / "b.json").write_text(text[:end - 1] + digit + text[end:])
        report = suite.compare("a.json", "b.json")
        if report is not None and suite.equal(f"{step}: verdict", "divergent", report["verdict"]):
            suite.equal(f"{step}: first", (int(step), "lm loss"),
                        (report["first"]["iteration"], report["first"]["name"]))
            suite.equal(f"{step}: findings", 1, report["counts"]["findings"])
    (suite.folder / "b.json.gz").write_bytes(gzip.compress(text.encode()))
    report = suite.compare("a.json", "b.json.gz")
    suite.equal("compressed copy", "same", report and report["verdict"])


def flipped_bytes(suite):
    """A byte of a compressed log that was damaged on disk is never an answer."""
    base = f1.Trace.load(DATA / "f1" / "fresh3")
    texts = {0: base.texts()[0][:40000].rsplit(b"\n", 1)[0] + b"\n"}
    f1.write_texts(suite.folder / "a", texts)
    chooser = random.Random(7)
    for suffix, pack in ((".zst", f1.zstd_checked), (".gz", gzip.compress)):
        data = pack(texts[0])
        for at in sorted(chooser.sample(range(len(data)), 40)):
            damaged = bytearray(data)
            damaged[at] ^= 1 << chooser.randrange(8)
            f1.write_texts(suite.folder / "b", {0: b""}, suffix, lambda _, d=bytes(damaged): d)
            outcome = suite.run("compare", "a", "b", "-q")
            # A flip in the header may only change what does not matter (time, name).
            allowed = (2, 3, 0) if suffix == ".gz" and at < 10 else (2, 3)
            suite.expect(outcome.code in allowed, f"{suffix} byte {at} of {len(data)}: exit {outcome.code}: "
                         f"{outcome.stdout.decode()[:200]}")
            suite.expect(outcome.code != 2 or b"b/rank_000000" in outcome.stderr,
                         f"{suffix} byte {at}: no file in the message: {outcome.error.strip()}")


TESTS = [nothing_in_common, kinds_of_one_site, dtype_and_shape, order, precision_of_metrics, changed_metric,
         flipped_bytes]


def main():
    suite = Suite(__doc__.splitlines()[0])
    if not f1.has_zstd():
        suite.skip("flipped_bytes", "the program zstd is not installed")
        TESTS.remove(flipped_bytes)
    for test in TESTS:
        if suite.begin(test.__name__):
            test(suite)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
