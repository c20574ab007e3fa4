"""Operations for copies of the whole store: backup and restore. Both are for the operator, at the machine."""

from __future__ import annotations

import os
from pathlib import Path

from picomem.clock import iso
from picomem.engine.backup_files import Restored, back_up
from picomem.engine.backup_files import examine_backup as examined
from picomem.engine.backup_files import restore as put_in_place
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.health.doctor import Diagnosis
from picomem.light_dataclass import dataclass, field
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import (
    Block,
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    counts,
    plural,
    row_counts,
)
from picomem.paths import database_file, is_folder

_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class BackupRequest:
    target: str = option(
        "a folder that is there, or a file that is not, with a suffix such as .db", positional=True, path=True
    )


@dataclass(frozen=True, slots=True)
class BackupResult:
    """The file, its bytes, and the time of which the copy is."""

    path: str
    bytes: int
    at: str


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    backup: str = option("the backup, a file", positional=True, path=True)
    verify: bool = option("only examine the backup: the file, every row's hash and all derived data", False)
    dry_run: bool = option("only say what would be restored, and what was purged since", False)
    purge_again: bool = option("erase from the backup what was purged since it was made", False)
    keep_purged: bool = option("restore also what was purged since the backup was made", False)
    despite_damage: bool = option("restore a damaged backup as it is", False)


@dataclass(frozen=True, slots=True)
class LaterPurgeView:
    """A purge that the backup does not know of."""

    user: str
    at: str
    actor: str


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """`state` is "verified" or "damaged" (only examined), "possible" (a dry run) or "restored". `checked` counts the
    rows by table, `problems` says what is wrong with them. `kept` is where the store lies that stood there before;
    `purges` are those since the backup, `erased` counts what went again, `access_taken_back` the tokens, grants
    and ids of channels in the backup that had been taken back since. `warnings` says what could not be found out."""

    backup: str
    store: str
    state: str
    checked: dict[str, int]
    problems: list[str]
    kept: str
    purges: list[LaterPurgeView]
    erased: dict[str, int]
    access_taken_back: int
    warnings: list[str] = field(default_factory=list)


def backup(engine: Engine, request: BackupRequest) -> BackupResult:
    """Copy the whole store, with all users, to a file; other programs may keep writing.

    The copy holds what was stored when it began; a file that is there already is never overwritten.
    """
    target = _path(request.target)
    is_meant_as_folder = request.target.endswith(("/", os.sep)) or not target.suffix
    if is_meant_as_folder and not is_folder(target):
        raise InvalidInput(
            f"There is no folder {target}; make it with mkdir, or write the name of a file with a suffix, such as "
            f"{target.stem or 'picomem'}.db."
        )
    done = back_up(engine, target)
    return BackupResult(str(done.path), done.bytes, iso(done.at))


def restore(engine: Engine, request: RestoreRequest) -> RestoreResult:
    """Replace the store by a backup; the old store is kept beside it under another name.

    The backup is examined first, and a damaged one is refused. Programs that have the store open store nothing more
    until they are restarted, and say so. What was purged since the backup does not come back unasked.
    """
    if request.purge_again and request.keep_purged:
        raise InvalidInput("Say either --purge-again or --keep-purged.")
    path = _path(request.backup)
    if request.verify:
        diagnosis = examined(engine, path)
        state = "verified" if diagnosis.healthy else "damaged"
        return _result(path, state, Restored(store=path, diagnosis=diagnosis), store="", warnings=[])
    done = put_in_place(
        engine,
        path,
        dry_run=request.dry_run,
        purged="again" if request.purge_again else "kept" if request.keep_purged else "",
        despite_damage=request.despite_damage,
    )
    warnings = _warnings(done)
    return _result(path, "restored" if done.is_restored else "possible", done, store=str(done.store), warnings=warnings)


def _path(text: str) -> Path:
    if not text.strip():
        raise InvalidInput("The name is empty; name a file.")
    return database_file(text)


def _result(path: Path, state: str, done: Restored, *, store: str, warnings: list[str]) -> RestoreResult:
    return RestoreResult(
        backup=str(path),
        store=store,
        state=state,
        checked=done.diagnosis.checked,
        problems=_problems(done.diagnosis),
        kept=str(done.kept or ""),
        purges=[LaterPurgeView(purge.scope.user, iso(purge.at), purge.actor) for purge in done.later],
        erased=done.erased,
        access_taken_back=done.access_taken_back,
        warnings=warnings,
    )


def _problems(diagnosis: Diagnosis) -> list[str]:
    return [finding.problem for finding in diagnosis.findings if not finding.repaired]


def _warnings(done: Restored) -> list[str]:
    if done.compared:
        return []
    why = f" ({done.trouble.rstrip('.')})" if done.trouble else ", for no store stood there"
    return [
        f"What was purged since the backup was made is not known{why}: it is back, and so are tokens that were revoked."
    ]


def _present_backup(result: BackupResult) -> Presentation:
    return Presentation(
        blocks=(Sentence(f"The store was copied to {result.path}: {result.bytes / 1e6:,.1f} MB, as of {result.at}."),),
        next_steps=(f"`picomem restore {result.path} --verify` examines it.",),
    )


def _present_restore(result: RestoreResult) -> Presentation:
    rows = row_counts(result.checked) or "it is empty"
    said = {
        "verified": f"{result.backup} is whole: {rows}.",
        "possible": f"{result.backup} would take the place of {result.store}: {rows}.",
        "restored": f"{result.backup} took the place of {result.store}: {rows}.",
    }
    blocks: list[Block] = [Sentence(said.get(result.state, f"{result.backup} is {result.state}."))]
    problems = result.problems[:_MOST_PROBLEMS]
    if len(result.problems) > _MOST_PROBLEMS:
        problems.append(f"and {len(result.problems) - _MOST_PROBLEMS:,} more; --json lists them all.")
    if problems:
        blocks.append(PresentedEntry("Problems:", tuple(map(Text, problems))))
    if result.purges:
        purges = tuple(Text(f"{purge.at} by {purge.actor}, of {purge.user}") for purge in result.purges)
        blocks.append(PresentedEntry("Purged since the backup was made:", purges))
    if result.erased:
        blocks.append(Sentence(f"Erased from the backup again: {counts(result.erased)}."))
    if result.access_taken_back:
        taken = plural(result.access_taken_back, "token, grant or sender", "tokens, grants and senders")
        blocks.append(Sentence(f"{taken} of the backup had been taken back since, and stay so."))
    next_steps = []
    if result.kept:
        next_steps.append(f"The store that stood there is {result.kept}; delete it when nobody needs it any more.")
    if result.state == "restored":
        next_steps.append("Restart the programs that had the store open: they store nothing more until then.")
        next_steps.append("`picomem scrub` redacts secrets that the backup may hold from before the last scrub.")
    if result.state == "possible" and result.purges:
        next_steps.append("Add --purge-again to erase it from the backup first, or --keep-purged to have it back.")
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=tuple(next_steps))


OPERATIONS = (
    Operation(
        name="backup",
        group="maintain",
        run=backup,
        present=_present_backup,
        reply=lambda result: f"The store was copied to {result.path}.",
        permission="memory:read:global",
        example="picomem backup ~/backups",
        read_only=True,
        reads_local_files=True,
        operator=True,
    ),
    Operation(
        name="restore",
        group="maintain",
        run=restore,
        present=_present_restore,
        reply=lambda result: f"{result.backup}: {result.state}",
        permission="memory:write:global",
        example="picomem restore ~/backups/picomem-20261123T031500Z.db --dry-run",
        destructive=True,
        creates=True,
        exit_code=lambda result: 0 if result.state != "damaged" else 1,
        reads_local_files=True,
        opens_store=False,
        operator=True,
    ),
)
