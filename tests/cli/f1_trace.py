"""Reads, changes and writes traces of Megatron-LM's pull request 6610, for tests.

Numbers keep their spelling: a trace that is read and written again is the same bytes.
"""
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from cli_support import DATA  # noqa: E402


class Number(str):
    """A number as it was spelled."""


def parse(line):
    return json.loads(line, parse_float=Number, parse_int=Number)


def spell(value, comma=",", colon=":", order=sorted, text=json.dumps):
    """JSON as the recorder writes it, unless told otherwise."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        keys = order(list(value))
        return "{" + comma.join(text(key) + colon + spell(value[key], comma, colon, order, text)
                                for key in keys) + "}"
    if isinstance(value, list):
        return "[" + comma.join(spell(item, comma, colon, order, text) for item in value) + "]"
    if isinstance(value, str):
        return text(value)
    return json.dumps(value)


def site_of(record):
    """What names a record inside its file."""
    number = {key: None if record[key] is None else int(record[key])
              for key in ("rank", "iteration", "microbatch", "occurrence")}
    return dict(number, phase=record["phase"], name=record["name"])


def same_site(expected, site):
    return site is not None and all(site[key] == value for key, value in expected.items())


def unpack(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, stdout=subprocess.PIPE).stdout
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    return path.read_bytes()


def zstd(data):
    return subprocess.run(["zstd", "-cq"], input=data, check=True, stdout=subprocess.PIPE).stdout


def zstd_checked(data):
    return subprocess.run(["zstd", "-cq", "--check"], input=data, check=True, stdout=subprocess.PIPE).stdout


def has_zstd():
    return shutil.which("zstd") is not None


class Trace:
    """The logs of one run: bytes lines by rank. Records are parsed when asked for."""

    def __init__(self, ranks):
        self.ranks = ranks

    loaded = {}

    @classmethod
    def load(cls, folder):
        folder = Path(folder).resolve()
        if folder not in cls.loaded:
            cls.loaded[folder] = Trace({int(path.name[5:11]): unpack(path).splitlines()
                                        for path in sorted(folder.glob("rank_*.jsonl*"))})
        return cls.loaded[folder].copy()

    def copy(self):
        return Trace({rank: list(lines) for rank, lines in self.ranks.items()})

    def record(self, rank, index):
        return parse(self.ranks[rank][index])

    def put(self, rank, index, record):
        self.ranks[rank][index] = spell(record).encode()

    def records(self, rank):
        return [parse(line) for line in self.ranks[rank]]

    def each(self, change):
        """Another trace, each record changed by `change(record)`, which may return None to drop it."""
        ranks = {}
        for rank in self.ranks:
            changed = [change(record) for record in self.records(rank)]
            ranks[rank] = [spell(record).encode() for record in changed if record is not None]
        return Trace(ranks)

    def texts(self):
        return {rank: b"".join(line + b"\n" for line in lines) for rank, lines in self.ranks.items()}

    def write(self, folder):
        return write_texts(folder, self.texts())


def write_texts(folder, texts, suffix="", pack=None):
    """Writes one file a rank into a new folder; `pack` compresses."""
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for rank, text in texts.items():
        data = pack(text) if pack else text
        (folder / f"rank_{rank:06d}.jsonl{suffix}").write_bytes(data)
    return folder


class Pair:
    """One case of tests/data: two traces and what is expected of them."""

    def __init__(self, folder):
        self.name = folder.name
        self.expect = json.loads((folder / "expect.json").read_text())
        self.a = Trace.load(folder / self.expect.get("a", "a"))
        self.b = Trace.load(folder / self.expect.get("b", "b"))
        self.torn = "damage" in self.expect

    @property
    def first(self):
        return self.expect.get("first")


def pairs(whole_only=True):
    """The pairs of tests/data/f1; those with a torn line cannot be parsed and written again."""
    found = [Pair(path.parent) for path in sorted((DATA / "f1").glob("*/expect.json"))]
    return [pair for pair in found if not (whole_only and pair.torn)]


# Synthetic records ------------------------------------------------------------------------------

def digest(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def tensor_record(name, value, iteration, rank=0, phase="forward", microbatch=0, occurrence=0,
                  shape=(4,)):
    """A tensor in mode full whose digest stands for `value`."""
    numel = 1
    for extent in shape:
        numel *= extent
    strides = [1] * len(shape)
    return {"event": "tensor", "iteration": iteration, "metadata": {}, "microbatch": microbatch,
            "name": name, "occurrence": occurrence, "phase": phase, "rank": rank,
            "schema_version": 1, "sequence": 0,
            "tensor": {"all_finite": True, "captured_numel": numel, "device_type": "cpu",
                       "dtype": "float32", "exact_value_certificate": True, "layout": "strided",
                       "mode": "full", "numel": numel, "requires_grad": False,
                       "sha256": digest(name, value), "shape": list(shape), "stride": strides,
                       "value_observed": True}}


def event_record(name, iteration, rank=0, phase="train", occurrence=0, **fields):
    return {"event": "event", "fields": fields, "iteration": iteration, "microbatch": None,
            "name": name, "occurrence": occurrence, "phase": phase, "rank": rank,
            "schema_version": 1, "sequence": 0}


def trace_of(records, start=0):
    """A trace of these records, numbered in their order in each rank's file."""
    ranks = {}
    for record in records:
        lines = ranks.setdefault(record["rank"], [])
        lines.append(spell(dict(record, sequence=start + len(lines))).encode())
    return Trace(ranks)


# Weaker evidence ----------------------------------------------------------------------------------

def without_value(record):
    """The same tensor recorded in mode metadata."""
    tensor = dict(record["tensor"], mode="metadata", value_observed=False,
                  exact_value_certificate=False)
    for key in ("sha256", "captured_numel", "all_finite", "sample_indices", "summary"):
        tensor.pop(key, None)
    return dict(record, tensor=tensor)


def sampled(record):
    """The same tensor seen through samples, its digest another one, as the recorder's would be."""
    numel = int(record["tensor"]["numel"])
    count = min(16, numel)
    indices = [0] if count == 1 else [i * (numel - 1) // (count - 1) for i in range(count)]
    tensor = dict(record["tensor"], mode="sampled", exact_value_certificate=False,
                  captured_numel=count, sample_indices=indices,
                  sha256=digest(record["tensor"]["sha256"]))
    return dict(record, tensor=tensor)


def has_digest(record):
    return record["event"] == "tensor" and "sha256" in record["tensor"]
