"""Functions on an engine that read transcripts, keep copies of them, and take over sessions of PicoBot."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event

from picomem.engine.caller_context import EngineBase
from picomem.errors import NotFound, PicomemError
from picomem.history.explain import check_shown, find_episode
from picomem.ingest.batch import Maker
from picomem.ingest.discovery import TranscriptFolder, find
from picomem.ingest.ingest import Ingest
from picomem.ingest.report import IngestProgress, Report
from picomem.ingest.send_policies import HostPolicies
from picomem.ingest.storing import TranscriptRequest, Writing
from picomem.ingest.transcript_copies import KeepRule, KeptCopies, lifetimes
from picomem.ingest.transcript_pointer import Opened, open_entry, open_episode
from picomem.light_dataclass import replace
from picomem.memory.timeline import opened
from picomem.memory.transcript_requests import propose
from picomem.paths import home_folder, named_path
from picomem.records.episode import HOST_SUMMARY, Episode, Transcript
from picomem.records.session import session_path
from picomem.sessions.picobot_snapshot import SnapshotImport, take_over
from picomem.store.connector import Transaction
from picomem.store.tables import transcript_rows
from picomem.text.inert_text import one_line


def read_transcripts(
    engine: EngineBase,
    transcripts: str | Path | Iterable[str | Path | TranscriptFolder],
    progress: Callable[[IngestProgress], None] | None,
) -> Report:
    """See `Engine.ingest`."""
    if isinstance(transcripts, str | os.PathLike):
        transcripts = [transcripts]
    reader = ingester(engine)
    with engine._context.connector.read():  # one snapshot: a transaction for each file costs more than the look at it
        files = find(transcripts, reader.recognize)
    report = reader.run(files, progress)
    engine._context.settle()
    made_by = engine._context.vectors()
    report.without_vector = made_by.without() if made_by else 0
    if made_by and report.without_vector:
        report.problems.append(made_by.without_sentence(report.without_vector))
    return report


def show_episode(engine: EngineBase, episode_id: str) -> tuple[Episode, Transcript | None, Opened]:
    """See `Engine.show`."""
    with engine._context.connector.read() as tx:
        episode = find_episode(tx, engine.scope, episode_id)
        transcript = transcript_rows.transcript(tx, engine.scope, episode.transcript_id)
    check_shown(transcript)
    is_of_session = transcript is not None and transcript.path == session_path(transcript.session)
    if episode.category == "timeline" and transcript is not None and is_of_session:
        with engine._context.connector.read() as tx:
            return (
                episode,
                transcript,
                opened(tx, engine.scope, episode, transcript.session, engine._context.redactor()),
            )
    is_written = episode.category == "timeline" and not episode.key.startswith(HOST_SUMMARY)
    opening = open_entry if is_written else open_episode
    return episode, transcript, opening(episode, transcript, engine._context.redactor(), engine._context.copies())


def ingester(engine: EngineBase, run: str = "") -> Ingest:
    """The reader of transcripts for this store, for callers that read repeatedly. Memories that are asked for in them
    belong to `run`, or to a run of their own."""

    def propose_asked(tx: Transaction, asked: Sequence[TranscriptRequest], own_run: str) -> list[str]:
        writer = replace(context.writer("remember", "ingest"), run=run or own_run)
        return [result.decision.value for result in propose(tx, writer, context.scope, asked)]

    context = engine._context
    connector, scope, clock, vectors = context.connector, context.scope, context.clock, context.vectors()
    policies = HostPolicies(connector, scope, home_folder(), os.environ)
    return Ingest(
        connector,
        scope,
        Maker(context.redactor(), vectors, context.zone),
        Writing(connector, scope, vectors, propose_asked, clock, policies),
        clock,
        policies,
        longest=context.settings.ingest.preview_chars,
    )


def keep_transcripts(
    engine: EngineBase, *, only: Sequence[str] | None = None, stop: Event | None = None
) -> KeptCopies | None:
    """Copy the transcripts that the setting `ingest.keep` names, with `only` of those at these paths; None where it
    names none, or the store is sealed, which the copies are not. Raises StoreError, and InvalidInput for what is no
    path."""
    wanted = engine.settings.ingest
    if wanted.keep == "none" or engine.read_only or engine._context.connector.maintenance.is_sealed():
        return None
    rule = KeepRule(
        all=wanted.keep == "all", most_bytes=wanted.keep_mb * 1_000_000, lifetimes=lifetimes(home_folder(), os.environ)
    )
    paths = None if only is None else [str(named_path(path).resolve()) for path in only]
    return engine._context.copies().keep(rule, engine.now(), only=paths, stop=stop)


def import_sessions(engine: EngineBase, path: Path, *, move: bool = False) -> SnapshotImport:
    """Take over the sessions of a PicoBot snapshot, each for its own user; see sessions/picobot_snapshot.py.

    With `move` the file is renamed when all is stored. Raises NotFound, InvalidInput or StoreError.
    """
    return take_over(engine._context.connector, engine._context.redactor, engine._context.clock, path, move=move)


def take_over_snapshot(engine: EngineBase, snapshot: Path) -> None:
    """Take over a PicoBot snapshot that lies in the data directory (P11). A broken one is reported, and no more."""
    log = logging.getLogger("picomem")
    try:
        done = import_sessions(engine, snapshot, move=True)
    except NotFound:
        return  # another process was faster, and has renamed it
    except PicomemError as error:
        log.warning("picomem: %s", one_line(str(error)))
    else:
        if done.differing:
            log.warning(
                "picomem: %d sessions of %s went another way here and were left.",
                len(done.differing),
                one_line(str(snapshot)),
            )
