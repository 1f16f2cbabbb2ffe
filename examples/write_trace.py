#!/usr/bin/env python3
"""Writes a detdiff trace (see `detdiff help trace-format`) with the standard library alone.

    python3 write_trace.py trace.jsonl [SEED]

trains a tiny linear model and records what it computes. Two runs with one seed are the same; with
two seeds, `detdiff compare` names the first tensor that differs.
"""

import hashlib
import json
import random
import struct
import sys


class TraceWriter:
    def __init__(self, path, **header):
        self.file = open(path, "x", encoding="utf-8", newline="\n")  # never over older evidence
        self.records = 0
        self._line({"detdiff_trace": 1, **header})

    def _line(self, content):
        # allow_nan: NaN and infinities are written as "nan", "inf" and "-inf", see number().
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self.file.write(text + "\n")

    def record(self, kind, **members):
        self._line({"kind": kind, **{k: v for k, v in members.items() if v is not None}})
        self.records += 1

    def finish(self):
        self._line({"end": True, "records": self.records})
        self.file.close()


def number(value):
    return value if value - value == 0 else str(value)


def fingerprint(values, **members):
    """Of a list of numbers, as float64. Real tensors: the bytes of the tensor in row-major order."""
    data = struct.pack(f"<{len(values)}d", *values)
    digest = hashlib.sha256(data).hexdigest()
    return {"dtype": "float64", "shape": [len(values)], "digests": {"sha256": digest}, **members}


def train(trace, seed):
    rng = random.Random(seed)
    weight = [0.1, -0.2, 0.3]
    for iteration in range(1, 6):
        trace.record("event", iteration=iteration, name="iteration_start")
        batch = [rng.gauss(0, 1) for _ in weight]
        out = sum(w * x for w, x in zip(weight, batch))
        trace.record("call", iteration=iteration, phase="forward", module="linear",
                     operation="dot", inputs=[fingerprint(weight, tensor="weight"),
                                              fingerprint(batch, tensor="input")],
                     outputs=[fingerprint([out])], notes={"seed": seed})
        trace.record("scalar", iteration=iteration, phase="forward", name="loss",
                     outputs=[{"value": number((out - 1) ** 2)}])
        grad = [2 * (out - 1) * x for x in batch]
        trace.record("boundary", iteration=iteration, phase="backward", module="linear",
                     tensor="weight.grad", outputs=[fingerprint(grad)])
        weight = [w - 0.05 * g for w, g in zip(weight, grad)]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    trace = TraceWriter(sys.argv[1], tool={"name": "write_trace.py"}, rank=0, world_size=1,
                        digests=["sha256"])
    train(trace, int(sys.argv[2]) if len(sys.argv) == 3 else 0)
    trace.finish()


if __name__ == "__main__":
    main()
