"""What a hook does when its host was answered: it reads the transcript on, and a model distils a session that ended."""

from __future__ import annotations

import gc
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from picomem.consolidation.due import distils_unasked
from picomem.engine.engine import Engine
from picomem.engine.hook_log import note
from picomem.engine.transcripts import keep_transcripts
from picomem.errors import NoStore
from picomem.hooks.hook_context import opened
from picomem.hooks.hook_events import Action, HookEvent, event_of
from picomem.models.selection import generator_of
from picomem.paths import is_regular, status_of

_DISTIL_SECONDS = 1_800  # for a model that is asked about each part of a long session


def read_on(options: Mapping[str, str], given: dict[str, Any]) -> None:
    """Read the transcript on, if the event is one for that. Raises PicomemError."""
    event = event_of(given)
    if event.action is not Action.READ:
        return
    gc.enable()
    if status_of(event.transcript) is None:
        return  # a host that was told to keep no transcripts names one all the same
    if not is_regular(Path(event.transcript)):
        note("The transcript that the host named is no file.")
        return
    with _opened(event, options) as engine:
        problems = engine.ingest([Path(event.transcript)]).problems
        kept = keep_transcripts(engine, only=[event.transcript])
        engine.tidy(when_due=True)
        for problem in problems + (kept.problems if kept else []):
            note(problem)
        if event.ends_work and distils_unasked(engine.settings):
            _distil(engine, event.session)


def _distil(engine: Engine, session: str) -> None:
    """Let a model distil the session that ended, or that the host shortens now. Raises PicomemError."""
    import anyio  # noqa: PLC0415 - few sessions are distilled

    from picomem.consolidation_runner import distil_session  # noqa: PLC0415 - few sessions are distilled

    signal.alarm(_DISTIL_SECONDS)
    done = anyio.run(distil_session, engine, generator_of(engine.settings), session)
    if done is not None and done.state == "failed":
        note(next(iter(done.warnings), "The model failed."))


def _opened(event: HookEvent, options: Mapping[str, str]) -> Engine:
    """Memory, made where there is none. An empty file that may have been a store is left to its owner: StoreError."""
    try:
        return opened(event, options, create=False, embedder=None)
    except NoStore:
        return opened(event, options, create=True, embedder=None)
