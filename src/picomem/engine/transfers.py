"""Functions on an engine for export and import, besides its verbs."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.history.undo import conversations_left
from picomem.ingest.discovery import FoundTranscript
from picomem.ingest.report import IngestProgress, Report
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.transfer.export_file import ExportCounts, ExportFormat, lines_of, write_export
from picomem.transfer.import_format import ImportFormat
from picomem.transfer.importer import Importer, ImportReport


def export_to(engine: Engine, path: Path, form: ExportFormat) -> ExportCounts:
    """Write all that the user has to a file, and remember where, for a purge. Raises InvalidInput."""
    context = engine._context
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{path} is not valid UTF-8; name another file for the export.") from None
    scope = Scope(context.scope.user)
    return write_export(context.connector, scope, context.cleaner().shown_text, context.clock(), path, form)


def export_lines(engine: Engine, form: ExportFormat) -> Generator[str]:
    """All that the user has, line by line; where it goes is not known, so no purge finds it.

    Close it before the engine: it reads in one transaction.
    """
    context = engine._context
    scope, clean = Scope(context.scope.user), context.cleaner().shown_text
    with context.connector.read() as tx:
        yield from lines_of(tx, scope, clean, context.clock(), form, ExportCounts())


def left_by_undo(engine: Engine, run: str) -> str:
    """Describe in a sentence which conversations an undo of a run leaves; empty if none."""
    with engine._context.connector.read() as tx:
        return engine._context.cleaner().shown_text(conversations_left(tx, engine.scope, run))


def import_from(
    engine: Engine,
    path: Path,
    form: ImportFormat,
    *,
    dry_run: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> tuple[str, ImportReport]:
    """Take in what a file of another program holds: the run, which `undo` takes back, and what became of it.

    With `dry_run` nothing is stored. Raises NotFound or InvalidInput where nothing can be read.
    """
    from picomem.engine.transcripts import ingester  # noqa: PLC0415 - a recall does not need it

    context, run = engine._context, new_id()

    def tell(state: IngestProgress) -> None:
        if progress is not None:
            progress(state.bytes_done, state.bytes_total, state.path)

    def read_transcript(file: Path, transcript_form: str) -> Report:
        return ingester(engine, run).run([FoundTranscript(file, transcript_form)], tell)

    importer = Importer(
        connector=context.connector,
        scope=engine.scope,
        make_writer=lambda: context.writer("import"),
        run=run,
        redactor=context.redactor,
        cleaner=context.cleaner(),
        now=context.clock(),
        zone=context.zone,
        dry_run=dry_run,
        settle=context.settle,
        ingest=read_transcript,
        progress=progress,
    )
    importer.form, importer.place = form.name, importer.clean(str(path.resolve()))
    form.read(path, importer)
    importer.store()
    return importer.run, importer.report
