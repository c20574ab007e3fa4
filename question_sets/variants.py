"""The ways of recalling that are compared over a user's own store: the settings at hand, and others.

A way is named by what differs from the settings, several things with semicolons between them:

    onnx:~/models/arctic-embed-s
    onnx:~/models/arctic-embed-s; embedder.query_prefix=query:
    recall.limit=20

Only what is asked of recall and of the embedder can differ: another user, or other files, would be another store.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.settings import Settings, load

_SETTING = re.compile(r"([a-z_.]+)=(.*)", re.DOTALL)
_TABLES = ("recall", "embedder")
_SECRET = "embedder.key"  # a way's name is printed


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """`named` are the settings that its name sets, as `recall.limit`."""

    name: str
    settings: Settings
    named: frozenset[str] = frozenset()


def variants(embedders: list[str], compared: list[str], env: Mapping[str, str] = os.environ) -> list[Variant]:
    """The settings with each of these embedders (with their own, where none is given), then the others, in which
    the first of the embedders counts as set. Raises InvalidInput for what is no embedder and no setting."""
    first = embedders[0] if embedders else ""
    base = {**env, "PICOMEM_RECALL_EMBEDDER": first} if first else env
    ways = [_variant(name, env) for name in embedders]
    if not ways:
        settings = load(env)
        ways = [Variant(name=settings.recall.embedder, settings=settings)]
    ways += [_variant(name, base) for name in compared]
    names = [variant.name for variant in ways]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"“{name}” is named twice; there is nothing to compare.")
    return ways


def _variant(name: str, env: Mapping[str, str]) -> Variant:
    changed: dict[str, str] = {}
    for part in name.split(";"):
        setting = _SETTING.fullmatch(part.lstrip())
        if setting is None:
            changed["recall.embedder"] = part.strip()
        elif setting[1].partition(".")[0] in _TABLES:
            changed[setting[1]] = setting[2]
        else:
            raise InvalidInput(f"“{setting[1]}” cannot be compared; recall.… and embedder.… can.")
    known = {f"{table}.{key}" for table in _TABLES for key in getattr(Settings(), table).__slots__} - {_SECRET}
    for key in changed:
        if key not in known:
            raise InvalidInput(f"“{key}” is no setting; there are {', '.join(sorted(known))}.")
    variables = {f"PICOMEM_{key.upper().replace('.', '_')}": value for key, value in changed.items()}
    return Variant(name=name.strip(), settings=load({**env, **variables}), named=frozenset(changed))
