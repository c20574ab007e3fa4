"""`picomem demo`: the sample sessions, in a store of their own."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from picomem.cli.run import json_document, progress_bar
from picomem.cli.terminal import width
from picomem.demo.walkthrough import run
from picomem.ingest.report import IngestProgress
from picomem.paths import named_path, private_umask
from picomem.text.inert_text import for_terminal


def run_demo(chosen: argparse.Namespace) -> int:
    """Show it; the store is thrown away afterwards unless a folder was given."""
    private_umask()
    lines: list[str] = []
    say = lines.append if chosen.json else lambda line: print(for_terminal(line))
    with tempfile.TemporaryDirectory(prefix="picomem-demo-") as spare, progress_bar(not chosen.json) as bar:

        def show(state: IngestProgress) -> None:
            if bar:
                bar(state.bytes_done, state.bytes_total, state.path)

        run(named_path(chosen.keep) if chosen.keep else Path(spare), say, show, columns=min(92, width()))
    if chosen.json:
        print(json_document({"lines": lines}, indent=2))
    return 0
