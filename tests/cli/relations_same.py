"""Changes to the logs that must not change the answer."""
import gzip
import subprocess

import f1_trace as f1
from cli_support import DATA, first_difference
from relations import EXHAUSTIVE, plain_report


# The relations ------------------------------------------------------------------------------------

def copies_are_same(ctx):
    """A copy in another file is the same, with every record counted."""
    folders = {pair.name: pair for pair in ctx.pairs}
    for name, pair in sorted(folders.items()):
        if not (EXHAUSTIVE or name in ("wgrad-order", "crash-append", "summary-diverged")):
            continue
        report = ctx.compare(pair.b, pair.b.copy())
        if pair.expect.get("evidence") == "metadata" or name.startswith("metadata"):
            ctx.verdict(name, "inconclusive", report)
        elif ctx.verdict(name, "same", report):
            total = sum(rank["a"]["records"] for rank in report["ranks"])
            ctx.suite.equal(f"{name}: records", sum(map(len, pair.b.ranks.values())), total)


def respelled(ctx):
    """Key order, white space, escapes and line ends are no content."""
    def shuffled(keys):
        ctx.random.shuffle(keys)
        return keys

    def escaped(text):
        return '"' + "".join(f"\\u{ord(c):04x}" if c.isalpha() and ctx.random.random() < .2
                             else f1.spell(c)[1:-1] for c in text) + '"'
    ways = {"key order": dict(order=shuffled), "white space": dict(comma=" ,\t", colon=" : "),
            "escapes": dict(text=escaped), "reversed keys": dict(order=lambda k: sorted(k)[::-1])}
    jobs = [(pair, name) for pair in ctx.whole for name in [*ways, "line ends", "blank lines"]]
    for pair, name in ctx.sample(jobs, 12):
        texts = {}
        for rank, lines in pair.b.ranks.items():
            if name in ways:
                lines = [f1.spell(f1.parse(line), **ways[name]).encode() for line in lines]
            end = {"line ends": b"\r\n", "blank lines": b"\n\n"}.get(name, b"\n")
            texts[rank] = b"".join(line + end for line in lines)
        f1.write_texts(ctx.suite.folder / "respelled", texts)
        ctx.alike(f"{pair.name}: {name}", ctx.compare(pair.a, pair.b), ctx.suite.compare("a", "respelled"))


def no_last_newline(ctx):
    """A last line without its end is whole if its record is."""
    texts = {rank: text[:-1] for rank, text in ctx.base.texts().items()}
    f1.write_texts(ctx.suite.folder / "open", texts)
    ctx.verdict("no last newline", "same", ctx.suite.compare("base", "open"))


def renumbered(ctx):
    """`sequence` may start anywhere and have gaps."""
    jobs = [(pair, way) for pair in ctx.pairs for way in ("shift", "stretch", "jump")]
    for pair, way in ctx.sample(jobs, 6):
        def change(record):
            number = int(record["sequence"])
            record["sequence"] = {"shift": number + 987, "stretch": number * 7 + 3,
                                  "jump": number + (1 << 40) * (number > 100)}[way]
            return record
        expected = ctx.compare(pair.a, pair.b)
        ctx.alike(f"{pair.name}: {way}", expected, ctx.compare(pair.a, pair.b.each(change)))


def inserted_in_both(ctx):
    """The same record more on both sides changes nothing but the counts."""
    for pair in ctx.sample(ctx.whole, 4):
        expected = ctx.compare(pair.a, pair.b)
        rank = ctx.random.choice(sorted(pair.a.ranks))
        iterations = sorted({int(r["iteration"]) for r in pair.a.records(rank)}
                            & {int(r["iteration"]) for r in pair.b.records(rank)})
        iteration = ctx.random.choice(iterations)
        fraction = ctx.random.random()

        def insert(trace):
            changed = trace.copy()
            records = trace.records(rank)
            places = [i for i, r in enumerate(records) if int(r["iteration"]) == iteration]
            at = places[0] + int(fraction * len(places))
            extra = f1.tensor_record("metamorphic.probe", 1, iteration, rank, phase="forward")
            records.insert(at, extra)
            changed.ranks[rank] = [f1.spell(dict(record, sequence=i)).encode()
                                   for i, record in enumerate(records)]
            return changed
        report = ctx.compare(insert(pair.a), insert(pair.b))
        label = f"{pair.name}: rank {rank} iteration {iteration}"
        if not report or not expected:
            ctx.suite.fail(f"{label}: no report")
            continue
        for key in ("verdict", "kind", "class", "restore", "first"):
            ctx.suite.equal(f"{label}: {key}", expected[key], report[key])
        # The two may have their common record at places that do not correspond once they part.
        if expected["exit"] != 1 or iteration < pair.first["iteration"]:
            ctx.suite.equal(f"{label}: records", expected["coverage"]["records_compared"] + 1,
                            report["coverage"]["records_compared"])


def containers(ctx):
    """Compression, frames and threads do not change a letter of the report but paths and sizes."""
    def frames(text):
        size = ctx.random.randrange(1, len(text) // 3)
        return b"".join(f1.zstd(text[i:i + size]) for i in range(0, len(text), size))

    def members(text):
        size = ctx.random.randrange(1, len(text) // 3)
        return b"".join(gzip.compress(text[i:i + size]) for i in range(0, len(text), size))
    packs = {"gzip": (".gz", gzip.compress), "gzip members": (".gz", members)}
    if f1.has_zstd():
        packs.update({"zstd": (".zst", f1.zstd), "zstd frames": (".zst", frames)})
    for pair in ctx.sample(ctx.pairs, 3):
        plain = plain_report(ctx.compare(pair.a, pair.b))
        for name, (suffix, pack) in sorted(packs.items()):
            f1.write_texts(ctx.suite.folder / "b", pair.b.texts(), suffix, pack)
            got = plain_report(ctx.suite.compare("a", "b"))
            found = first_difference(plain, got)
            ctx.suite.expect(found is None, f"{pair.name}: {name}: {found}")
        ctx.write("b", pair.b)
        for jobs in "1234":
            found = first_difference(plain, plain_report(ctx.suite.compare("a", "b", "--jobs", jobs)))
            ctx.suite.expect(found is None, f"{pair.name}: --jobs {jobs}: {found}")


def standard_input(ctx):
    """A log that comes through a pipe is the same log."""
    for pair in ctx.sample(ctx.pairs, 3):
        rank = min(pair.a.ranks)
        ctx.write("a", f1.Trace({rank: pair.a.ranks[rank]}))
        ctx.write("b", f1.Trace({rank: pair.b.ranks[rank]}))
        a, b = (f"{side}/rank_{rank:06d}.jsonl" for side in "ab")
        expected = ctx.suite.compare(a, b)
        text = (ctx.suite.folder / b).read_bytes()
        for name, data in (("plain", text), ("gzip", gzip.compress(text))):
            for order in ((a, "-"), ("-", a)):
                process = ctx.suite.start("compare", *order, "--format", "json", stdin=subprocess.PIPE)
                outcome = ctx.suite.wait(process, f"{pair.name}: pipe", data=data)
                report = ctx.suite.parse(outcome, f"{pair.name}: pipe")
                if order[0] == "-" or report is None or expected is None:
                    ctx.suite.equal(f"{pair.name}: {name} as A", expected and expected["exit"], outcome.code)
                else:
                    ctx.alike(f"{pair.name}: {name}", expected, report)


def two_folders(ctx):
    """Rank files may lie in folders of their own, one a node."""
    for pair in ctx.sample([p for p in ctx.pairs if len(p.b.ranks) == 2], 4):
        expected = ctx.compare(pair.a, pair.b)
        for rank, text in pair.b.texts().items():
            f1.write_texts(ctx.suite.folder / "nodes" / f"node{1 - rank}", {rank: text})
        ctx.alike(pair.name, expected, ctx.suite.compare("a", "nodes"))


def renamed_ranks(ctx):
    """The same permutation of the ranks on both sides permutes the ranks of the report."""
    for pair in ctx.sample([p for p in ctx.pairs if len(p.b.ranks) == 2], 4):
        new = {0: 5, 1: 3}

        def rename(trace):
            return f1.Trace({new[rank]: [f1.spell(dict(record, rank=new[rank])).encode()
                                         for record in trace.records(rank)] for rank in trace.ranks})
        expected = ctx.compare(pair.a, pair.b)
        report = ctx.compare(rename(pair.a), rename(pair.b))
        if not expected or not report:
            ctx.suite.fail(f"{pair.name}: no report")
            continue
        for key in ("verdict", "kind", "class", "restore", "coverage", "evidence"):
            ctx.suite.equal(f"{pair.name}: {key}", expected[key], report[key])

        def by_rank(one, names):
            return {names[rank["rank"]]: [without_rank(rank[key]) for key in
                                          ("verdict", "first", "kind", "class", "last_match",
                                           "records_compared", "finding_count")]
                    for rank in one["ranks"]}
        found = first_difference(by_rank(expected, new), by_rank(report, {3: 3, 5: 5}))
        ctx.suite.expect(found is None, f"{pair.name}: {found}")


def without_rank(value):
    return dict(value, rank=None) if isinstance(value, dict) else value


def shifted_iterations(ctx):
    """A constant added to the iterations of B is found, said, and can be given."""
    able = [pair for pair in ctx.whole if not pair.name.startswith("metadata")
            and (pair.first is None or pair.first["iteration"] > min(
                int(r["iteration"]) for r in pair.b.records(0)))]
    jobs = [(pair, shift) for pair in able for shift in (1, 3, 100)]
    for pair, shift in ctx.sample(jobs, 6):
        def change(record):
            return dict(record, iteration=int(record["iteration"]) + shift)
        label = f"{pair.name}: iteration + {shift}"
        expected = ctx.compare(pair.a, pair.b)
        other = pair.b.each(change)
        found = ctx.compare(pair.a, other)
        if found and expected:
            ctx.suite.equal(f"{label}: offset", shift, found["offset"])
            ctx.suite.expect("iteration_offset" in [n["code"] for n in found["notices"]],
                             f"{label}: no notice of the offset")
            found["notices"] = [n for n in found["notices"] if n["code"] != "iteration_offset"]
        ctx.alike(label, expected, found)
        given = ctx.compare(pair.a, other, "--iteration-offset", str(shift))
        ctx.alike(f"{label}, given", expected, given)


def transitive(ctx):
    """same(A,B) and same(B,C) give same(A,C), also over windows and spellings."""
    named = {pair.name: pair for pair in ctx.pairs}
    c = named["equal"].b.each(lambda record: dict(record, sequence=int(record["sequence"]) * 3))
    chains = [(named["equal"].a, named["equal"].b, c),
              (named["resumed-equal"].b, named["equal"].a, named["crash-append"].b)]
    for number, (first, middle, last) in enumerate(chains):
        for label, pair in (("A-B", (first, middle)), ("B-C", (middle, last)), ("A-C", (first, last))):
            ctx.verdict(f"chain {number} {label}", "same", ctx.compare(*pair))


RELATIONS = [copies_are_same, respelled, no_last_newline, renumbered, inserted_in_both, containers,
             standard_input, two_folders, renamed_ranks, shifted_iterations, transitive]
