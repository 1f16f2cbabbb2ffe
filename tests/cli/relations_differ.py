"""Changes to the logs whose effect on the answer is known: other content, less content, damage."""
import f1_trace as f1
from relations import EXHAUSTIVE, check_missing, check_only_difference, note


def flipped_digit(ctx):
    """One hex digit of record r differs: divergent exactly there, r-1 is the last match."""
    for rank, index, record in ctx.records(24, f1.has_digest):
        other = ctx.base.copy()
        sha = record["tensor"]["sha256"]
        at = ctx.random.randrange(64)
        digit = ctx.random.choice([c for c in "0123456789abcdef" if c != sha[at]])
        record["tensor"]["sha256"] = sha[:at] + digit + sha[at + 1:]
        other.put(rank, index, record)
        check_only_difference(ctx, note((rank, index)), other, rank, index, "value")


def changed_scalar(ctx):
    """The same for scalars and for the fields of events."""
    def has_number(record):
        return any(isinstance(value, f1.Number) for value in record.get("fields", {}).values())
    for rank, index, record in ctx.records(6, has_number):
        other = ctx.base.copy()
        key = next(k for k, v in sorted(record["fields"].items()) if isinstance(v, f1.Number))
        text = record["fields"][key]
        # More than one text may stand for one double; numbers compare as such.
        others = [text[:-1] + digit for digit in "0123456789"]
        record["fields"][key] = f1.Number(next(o for o in others if float(o) != float(text)))
        other.put(rank, index, record)
        check_only_difference(ctx, f"{note((rank, index))} {record['name']}", other, rank, index, "value")


def cut_both(ctx):
    """Both logs end after iteration k: nothing changes if k is not before the divergence."""
    cuts = [(pair, k) for pair in ctx.pairs if len(pair.a.ranks) == len(pair.b.ranks)
            for k in range(1, 8)]
    for pair, k in ctx.sample(cuts, 10):
        def keep(record):
            return record if int(record["iteration"]) <= k else None
        a, b = pair.a.each(keep), pair.b.each(keep)
        if not all(a.ranks.values()) or not all(b.ranks.values()):
            continue
        report = ctx.compare(a, b)
        label = f"{pair.name} up to {k}"
        last = pair.expect.get("first", {}).get("iteration")
        if pair.expect["exit"] == 1 and last <= k:
            if ctx.verdict(label, "divergent", report):
                ctx.suite.expect(f1.same_site(pair.first, report["first"]),
                                 f"{label}: first is {report['first']}")
        else:
            before = "inconclusive" if pair.name.startswith("metadata") else "same"
            ctx.verdict(label, before, report)


def one_sided(ctx, delete):
    for pair in [None] + ctx.sample(ctx.divergent, 5):
        a, b = (pair.a, pair.b) if pair else (ctx.base, ctx.base)
        if pair:
            places = ctx.before(pair, b, 2)
        else:
            places = [(rank, index) for rank, index, _ in ctx.records(8)][::5 if EXHAUSTIVE else 1]
        for rank, index in places:
            start = min(int(record["iteration"]) for record in a.records(rank))
            records = b.records(rank)
            if index + 1 == len(records) or int(records[index]["iteration"]) < start:
                continue  # the end of a log may be cut: that is no divergence
            if delete:
                site = f1.site_of(records.pop(index))
            else:
                extra = f1.tensor_record("metamorphic.probe", 2, int(records[index]["iteration"]), rank)
                records.insert(index, extra)
                site = f1.site_of(extra)
            before = None
            if index and int(records[index - 1]["iteration"]) >= start:
                before = f1.site_of(records[index - 1])
            changed = b.copy()
            changed.ranks[rank] = [f1.spell(dict(record, sequence=i)).encode()
                                   for i, record in enumerate(records)]
            label = ctx.suite.hint = f"{pair.name if pair else 'equal'}: {note((rank, index))}"
            check_missing(ctx, label, ctx.compare(a, changed), pair, rank, site, before,
                          "missing_in_b" if delete else "missing_in_a")


def inserted_in_one(ctx):
    """One record more in B: missing in A, and what follows is found as before."""
    one_sided(ctx, delete=False)


def deleted_in_one(ctx):
    """One record less in B: missing in B, and what follows is found as before."""
    one_sided(ctx, delete=True)


def weakened(ctx):
    """Less evidence never makes a divergence, and never "same" of what was divergent."""
    suite = ctx.suite
    for rank, index, record in ctx.records(4, f1.has_digest):
        label = note((rank, index))
        bare, other = ctx.base.copy(), ctx.base.copy()
        bare.put(rank, index, f1.without_value(record))
        other.put(rank, index, f1.sampled(record))
        for name, trace in (("no value in B", bare), ("sampled in B", other)):
            ctx.verdict(f"{label}: {name}", "inconclusive", ctx.compare("base", trace))
        report = ctx.compare(bare, bare.copy())
        if ctx.verdict(f"{label}: no value in both", "inconclusive", report):
            suite.equal(f"{label}: weakest", "metadata", report["evidence"]["weakest"])
        report = ctx.compare(other, other.copy())
        if ctx.verdict(f"{label}: sampled in both", "same", report):
            suite.equal(f"{label}: weakest", "sampled", report["evidence"]["weakest"])
    every = ctx.base.each(lambda r: f1.sampled(r) if f1.has_digest(r) else r)
    ctx.verdict("all sampled in B", "inconclusive", ctx.compare("base", every))
    for pair in ctx.sample([p for p in ctx.divergent if p.name in (
            "wgrad-order", "reduce-order", "threads", "resumed-rng", "resumed-optimizer")], 3):
        places = {rank: next((i for i, r in enumerate(pair.b.records(rank))
                              if f1.site_of(r) == dict(pair.first, rank=rank)
                              or f1.same_site(pair.first, f1.site_of(r))), None)
                  for rank in pair.b.ranks}
        rank = pair.first["rank"]
        for name, weaken in (("no value", f1.without_value), ("sampled", f1.sampled)):
            changed = pair.b.copy()
            changed.put(rank, places[rank], weaken(pair.b.record(rank, places[rank])))
            label = ctx.suite.hint = f"{pair.name}: {name} where it diverges"
            report = ctx.compare(pair.a, changed)
            if ctx.verdict(label, "divergent|inconclusive", report):
                suite.expect(not f1.same_site(pair.first, report["first"]),
                             f"{label}: still said to differ there")
        for rank, index in ctx.before(pair, pair.b, 1):
            record = pair.b.record(rank, index)
            if not f1.has_digest(record):
                continue
            changed = pair.b.copy()
            changed.put(rank, index, f1.without_value(record))
            label = ctx.suite.hint = f"{pair.name}: no value at {note((rank, index))}"
            report = ctx.compare(pair.a, changed)
            if ctx.verdict(label, "divergent", report):
                suite.expect(f1.same_site(pair.first, report["first"]),
                             f"{label}: first is {report['first']}")


def cut_tail(ctx):
    """B loses bytes from its end: never "same" but for whole iterations; what lies before stays."""
    text = ctx.base.texts()[1]
    lines = ctx.base.records(1)
    ends = {}  # size of the text up to the end of each iteration
    size = 0
    for record, line in zip(lines, ctx.base.ranks[1]):
        size += len(line) + 1
        ends[int(record["iteration"])] = size
    whole = {end - cut for end in ends.values() for cut in (0, 1)}
    sizes = set(whole) | {len(text) - cut for cut in range(2, 12)}
    sizes |= {ctx.random.randrange(1, len(text)) for _ in range(400 if EXHAUSTIVE else 60)}
    for size in ctx.sample(sorted(sizes), 14):
        f1.write_texts(ctx.suite.folder / "b", {**ctx.base.texts(), 1: text[:size]})
        label = ctx.suite.hint = f"the first {size} of {len(text)} bytes"
        report = ctx.suite.compare("base", "b")
        if size in whole:
            ctx.verdict(label, "same", report)
            ctx.suite.expect(size + 1 >= len(text) or not report or report["notices"],
                             f"{label}: same without a notice")
        elif report is not None:
            ctx.verdict(label, "inconclusive", report)


def cut_tail_divergent(ctx):
    """The same where the two differ: what was found before the cut stays found."""
    pair = next(p for p in ctx.pairs if p.name == "wgrad-order")
    rank = pair.first["rank"]
    lines = pair.b.ranks[rank]
    at = next(i for i, r in enumerate(pair.b.records(rank))
              if f1.same_site(pair.first, f1.site_of(r)))
    kept = sum(len(line) + 1 for line in lines[:at + 1])
    text = pair.b.texts()[rank]
    ctx.write("a", pair.a)
    sizes = [kept, kept + 1, kept - 1, kept - 2, kept - 40, len(text) - 1, len(text) - 2]
    sizes += [ctx.random.randrange(1, len(text)) for _ in range(200 if EXHAUSTIVE else 8)]
    for size in ctx.sample(sizes, 9):
        f1.write_texts(ctx.suite.folder / "b", {**pair.b.texts(), rank: text[:size]})
        label = ctx.suite.hint = f"the first {size} of {len(text)} bytes"
        report = ctx.suite.compare("a", "b")
        if report is None:
            continue
        ctx.suite.expect(report["verdict"] != "same", f"{label}: same")
        found = f1.same_site(pair.first, report["first"])
        ctx.suite.equal(f"{label}: finds the divergence", size >= kept - 1, found)


def damaged_tail(ctx):
    """NUL bytes or half a record behind the last line are a torn tail; with a line end, damage."""
    text = ctx.base.texts()[0]
    pair = next(p for p in ctx.pairs if p.name == "reduce-order")
    ctx.write("a", pair.a)
    torn = {"NUL bytes": b"\0" * 512, "half a record": text[:70], "one NUL": b"\0", "a brace": b"{"}
    for name, tail in sorted(torn.items()):
        f1.write_texts(ctx.suite.folder / "b", {**ctx.base.texts(), 0: text + tail})
        ctx.verdict(name, "inconclusive", ctx.suite.compare("base", "b"))
        texts = pair.b.texts()
        f1.write_texts(ctx.suite.folder / "b", {**texts, 0: texts[0] + tail})
        report = ctx.suite.compare("a", "b")
        if ctx.verdict(name, "divergent", report):
            ctx.suite.expect(f1.same_site(pair.first, report["first"]), f"{name}: {report['first']}")
    for tail in (b"\0" * 64 + b"\n", text[:70] + b"\n"):
        f1.write_texts(ctx.suite.folder / "b", {**ctx.base.texts(), 0: text + tail})
        line = len(ctx.base.ranks[0]) + 1
        ctx.suite.refused("compare", "base", "b", says=[f"b/rank_000000.jsonl:{line}:", "byte"])
        ctx.suite.refused("compare", "b", "base", says=[f"b/rank_000000.jsonl:{line}:", "byte"])


def dropped_rank(ctx):
    """A rank that one run lacks leaves the rest comparable, but nothing "same"."""
    for pair in [p for p in ctx.pairs if p.name in ("equal", "wgrad-order", "reduce-order")]:
        for rank in (0, 1):
            b = f1.Trace({rank: pair.b.ranks[rank]})
            report = ctx.compare(pair.a, b)
            label = f"{pair.name}: only rank {rank}"
            if not ctx.verdict(label, "inconclusive" if pair.name == "equal" else "divergent", report):
                continue
            ctx.suite.equal(f"{label}: ranks", [2, 1, 1],
                            [report["coverage"][key] for key in ("ranks_a", "ranks_b", "ranks_compared")])


RELATIONS = [flipped_digit, changed_scalar, cut_both, inserted_in_one, deleted_in_one, weakened,
             cut_tail, cut_tail_divergent, damaged_tail, dropped_rank]
