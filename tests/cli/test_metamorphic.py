#!/usr/bin/env python3
"""Changes to the logs whose effect on the verdict is known, over the traces of tests/data.

Takes a seeded sample; DETDIFF_SEED sets the seed, DETDIFF_EXHAUSTIVE=1 takes every record and case.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import f1_trace as f1  # noqa: E402
import relations_differ  # noqa: E402
import relations_same  # noqa: E402
from cli_support import Suite  # noqa: E402
from relations import EXHAUSTIVE, SEED, Context  # noqa: E402


def main():
    suite = Suite(__doc__.splitlines()[0])
    suite.schema_every = 9
    print(f"seed {SEED}" + (", exhaustive" if EXHAUSTIVE else ""))
    if not f1.has_zstd():
        suite.skip("all", "the program zstd, which unpacks tests/data, is not installed")
        suite.checks = 1
        return suite.finish()
    ctx = Context(suite)
    for relation in relations_differ.RELATIONS + relations_same.RELATIONS:
        if suite.begin(relation.__name__):
            relation(ctx)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
