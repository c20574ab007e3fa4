"""The peers that can be measured beside picomem, and those that cannot, with the reason."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from picomem.light_dataclass import dataclass

OURS = "picomem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A peer: its adapter with arguments, the virtual environment that it runs in (empty: ours), and whether it makes
    its vectors by the local model that `--model` names."""

    name: str
    adapter: str
    arguments: tuple[str, ...] = ()
    environment: str = ""
    needs_model: bool = False

    def interpreter(self, environments: Path | None) -> str:
        """Of its environment in that folder; ours where it has none there, for the library may be installed here."""
        if not self.environment or environments is None:
            return sys.executable
        folder = "Scripts" if os.name == "nt" else "bin"
        program = environments / self.environment / folder / "python"
        return str(program) if program.exists() else sys.executable


KINDS = (
    Kind(name="fts5", adapter="on_fts5"),
    Kind(name=OURS, adapter="on_picomem"),
    Kind(name="picomem, model", adapter="on_picomem", arguments=("model",), needs_model=True),
    Kind(name="bm25s", adapter="on_bm25s", environment="bm25s"),
    Kind(name="sqlite-vec, static", adapter="on_sqlite_vec", arguments=("static",), environment="sqlite-vec"),
    Kind(name="sqlite-vec, model", adapter="on_sqlite_vec", environment="sqlite-vec", needs_model=True),
    Kind(name="chroma", adapter="on_chroma", environment="chroma", needs_model=True),
    Kind(name="mempalace", adapter="on_mempalace", environment="mempalace", needs_model=True),
    Kind(name="txtai", adapter="on_txtai", environment="txtai", needs_model=True),
)
LEFT_OUT = {
    "mem0, Letta, Zep, Cognee": "a language model writes what they keep, so they need a key or a model of gigabytes",
}
