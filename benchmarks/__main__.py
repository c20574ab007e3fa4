"""`python -m benchmarks BENCHMARK …`, from the folder of the project.

The benchmarks follow the rules of picomem's own command line: results on stdout, everything else on stderr, one JSON
document with `--json`, and the exit codes of picomem/errors.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from picomem.cli.main import run_command_line


def main(argv: Sequence[str] | None = None) -> int:
    """Run a benchmark; its exit code."""
    return run_command_line(_run, sys.argv[1:] if argv is None else argv, "benchmarks")


def _run(arguments: list[str]) -> int:
    from benchmarks.arguments import make_parser
    from benchmarks.commands import run_benchmark

    parser = make_parser()
    if not arguments:
        parser.print_help()
        return 0
    return run_benchmark(parser.parse_args(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
