"""Do definitions of older versions come to the same once they are upgraded? `python -m tests.upgrading --count 500`."""

import argparse
import sys

import typer

from tests.upgrading.agreeing import differences, run, upgraded
from tests.upgrading.generated import VERSIONS, generated


def main() -> int:
    """Compare as many of each version as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many of each version")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--version", action="append", choices=VERSIONS, help="only this one")
    asked = parser.parse_args()
    disagreements = 0
    for version in asked.version or VERSIONS:
        compared = partial = 0
        for seed in range(asked.seed, asked.seed + asked.count):
            document = generated(seed, version)
            before = run(document)
            if before is None:
                continue
            rewritten, made = upgraded(document)
            if not made.is_complete:
                partial += 1
                continue
            after = run(rewritten)
            compared += 1
            told = ["cannot run"] if after is None else differences(before, after)
            if told:
                disagreements += 1
                typer.echo(f"{version}, seed {seed}: {'; '.join(told)[:600]}")
        typer.echo(f"{version}: {compared} compared, {partial} cannot be expressed in 0.8")
    return int(bool(disagreements))


if __name__ == "__main__":
    sys.exit(main())
