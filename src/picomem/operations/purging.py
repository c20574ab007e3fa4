"""The operation that erases: purge. It is not a tool: no agent may call it."""

from __future__ import annotations

from picomem.engine.engine import Engine
from picomem.engine.store_sealing import check_destroyable, destroy_key
from picomem.erasure.purge import Planned, Purged, in_words
from picomem.errors import InvalidInput, StoreError
from picomem.light_dataclass import dataclass, field, replace
from picomem.operations.operation import ChatCommand, Confirmation, Operation, option
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text, plural
from picomem.records.caller import READ_SESSIONS

NOTES = "Notes are your own files and are not touched."
_ACCESS_GOES = "Programs that use one of the tokens are refused afterwards."
_SESSIONS_NOT_LISTED = f"The sessions that go are counted and not listed: that needs the permission {READ_SESSIONS}."
_NOTHING = Presentation(blocks=(Sentence("There is nothing to erase."),))
_MOST_SESSIONS, _MOST_MEMORIES = 20, 40


@dataclass(frozen=True, slots=True)
class PurgeRequest:
    session: str = option("a session: its id, or the beginning of it", "")
    older_than: int | None = option("everything older than this number of days", None, least=1, most=1_000_000)
    everything: bool = option("all data of the user", False)
    dry_run: bool = option("only list what would be erased", False)
    yes: bool = option("do not ask", False, short="-y")
    destroy_key: bool = option(
        "where it erases everything of the last user of a sealed store, also destroy its key; at the machine only",
        False,
        tool=None,
    )
    wait: int = option("seconds to wait for other programs that use the file", 30, least=0, most=86_400)
    shown: PurgeResult | None = field(default=None)  # the dry run to which somebody said yes; nothing else is erased


@dataclass(frozen=True, slots=True)
class GoingMemory:
    """A memory that goes; with `partly`, other versions of it stay."""

    key: str
    content: str
    partly: bool


@dataclass(frozen=True, slots=True)
class GoingSession:
    """A conversation or a transcript that goes."""

    session: str
    title: str
    path: str = field(metadata={"is_path": True})


@dataclass(frozen=True, slots=True)
class ScanView:
    """The number of files and bytes that were searched, and of fragments of erased text. `found` counts matches by
    file, `shared` those that also occur in remaining text, `postings` words left in full text."""

    files: int
    bytes: int
    patterns: int
    found: dict[str, int] = field(metadata={"is_path": True})
    shared: int
    postings: int
    unread: list[str] = field(metadata={"is_path": True})


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """`counts` says how many of what, `said` the same in words; `memories` and `sessions` say what, of a dry run alone.

    `unfinished` says why it is to be run again; `finished` that nothing is left to do, of those before neither; `left`
    names files to check by hand; `copies` is the number of episodes that stay with the same words, by their session;
    `may_remain` says that damaged rows may hold what was to be erased; `links` are those of the changes in the record
    that no longer say what they did, and last that of the purge, by which `audit verify` still checks them. `key` says
    what became of the key of the store, empty where nobody asked.
    """

    dry_run: bool
    counts: dict[str, int]
    said: str
    memories: list[GoingMemory]
    sessions: list[GoingSession]
    change_id: str
    scan: ScanView | None
    left: list[str] = field(metadata={"is_path": True})
    unfinished: str
    finished: bool
    explanation: str
    copies: dict[str, int]
    may_remain: bool
    links: list[str]
    key: str = ""


def purge(engine: Engine, request: PurgeRequest) -> PurgeResult:
    """Erase a session, old data or everything for good, with all derived data, and leave no trace in the files.

    Without an argument it finishes an interrupted purge. It asks for confirmation first.
    """
    if request.dry_run:
        plan = engine.purge_plan(session=request.session, older_than=request.older_than, everything=request.everything)
        return _planned(plan, reads_sessions=engine.caller.may(READ_SESSIONS))
    if _chosen(request) and not request.yes:
        raise InvalidInput("Nothing was purged: this erases for good, so say yes to it, or look at a dry run first.")
    reads_sessions = engine.caller.may(READ_SESSIONS)
    if request.destroy_key:
        if not request.everything:
            raise InvalidInput("--destroy-key goes with --everything: what stays could not be read any more.")
        check_destroyable(engine)

    def is_shown(plan: Planned) -> bool:
        return _planned(plan, reads_sessions=reads_sessions) == request.shown

    done = _purged(
        engine.purge(
            session=request.session,
            older_than=request.older_than,
            everything=request.everything,
            wait_seconds=request.wait,
            permits=None if request.shown is None else is_shown,
        ),
        reads_sessions=reads_sessions,
    )
    return replace(done, key=destroy_key(engine)) if request.destroy_key and not done.unfinished else done


def _chosen(request: PurgeRequest) -> bool:
    """Return whether the request says what to erase; one that does not finishes what was begun, which needs no second
    yes."""
    return bool(request.session) or request.older_than is not None or request.everything


def _planned(planned: Planned, *, reads_sessions: bool) -> PurgeResult:
    sessions = [GoingSession(id_, title, "") for id_, title in planned.sessions]
    sessions += [GoingSession(session, "", path) for session, path in planned.transcripts]
    explanations = [NOTES]
    if planned.counts.get("tokens"):
        explanations.append(_ACCESS_GOES)
    if sessions and not reads_sessions:
        explanations.append(_SESSIONS_NOT_LISTED)
    return PurgeResult(
        dry_run=True,
        counts=planned.counts,
        said=in_words(planned.counts),
        memories=[GoingMemory(memory.key, memory.content, memory.key in planned.partly) for memory in planned.memories],
        sessions=sessions if reads_sessions else [],
        change_id="",
        scan=None,
        left=list(planned.left),
        unfinished="",
        finished=False,
        explanation=" ".join(explanations),
        copies=dict(planned.copies) if reads_sessions else {},
        may_remain=bool(planned.left),
        links=[],
    )


def _purged(purged: Purged, *, reads_sessions: bool) -> PurgeResult:
    scan = purged.scan
    view = scan and ScanView(
        scan.files, scan.bytes, scan.patterns, scan.found, scan.shared, scan.postings, list(scan.unread)
    )
    return PurgeResult(
        dry_run=False,
        counts=purged.counts,
        said=in_words(purged.counts),
        memories=[],
        sessions=[],
        change_id=purged.change_id,
        scan=view,
        left=[*purged.left, *filter(None, [purged.out_of_reach])],
        unfinished=purged.unfinished,
        finished=purged.finished,
        explanation=NOTES,
        copies=dict(purged.copies) if reads_sessions else {},
        may_remain=purged.may_remain,
        links=list(purged.links),
    )


def _exit_code(result: PurgeResult) -> int:
    if result.unfinished:
        return StoreError.exit_code
    if result.may_remain and not result.dry_run:
        return 1
    scan = result.scan
    return 1 if scan and (scan.found or scan.postings or scan.unread) else 0


def _present_purge(result: PurgeResult) -> Presentation:
    if result.dry_run:
        return _present_plan(result)
    if not (result.change_id or result.finished):
        return Presentation(blocks=_NOTHING.blocks, warnings=tuple(result.left))
    blocks: list[Block] = []
    warnings: list[str] = []
    if result.change_id:
        blocks.append(Sentence(f"Erased for good: {result.said or 'nothing was there'}."))
    if result.scan:
        blocks += _scan(result.scan)
        warnings += _found(result.scan)
    warnings += [*result.left, *_copies(result)]
    if result.key:
        blocks.append(Sentence(result.key))
    if result.unfinished:
        warnings.append(f"Not finished: {result.unfinished}")
    elif not result.change_id:
        blocks.append(
            Sentence("The purge that was interrupted is finished. What it erased is not known any more, so no scan.")
        )
    return Presentation(blocks=tuple(blocks), warnings=tuple(warnings))


def _scan(scan: ScanView) -> list[Block]:
    said = (
        f"Scanned {plural(scan.files, 'file')}, {scan.bytes / 1e6:,.1f} MB: "
        f"{sum(scan.found.values()):,} of {scan.patterns - scan.shared:,} strings found."
    )
    shared = f"{scan.shared:,} more stand in what stays as well, so they prove nothing."
    return [Sentence(said), *([Sentence(shared)] if scan.shared else [])]


def _found(scan: ScanView) -> list[str]:
    warnings = [f"{path}: {plural(count, 'string')}" for path, count in scan.found.items()]
    if scan.postings:
        warnings.append(f"{scan.postings:,} words are left in full text; run `picomem doctor --repair`.")
    return [*warnings, *(f"not read: {path}" for path in scan.unread)]


def _present_plan(result: PurgeResult) -> Presentation:
    if not result.counts:
        return Presentation(blocks=_NOTHING.blocks, warnings=tuple(result.left))
    sessions = [f"{going.session}  {going.title or going.path}".rstrip() for going in result.sessions[:_MOST_SESSIONS]]
    if len(result.sessions) > _MOST_SESSIONS:
        sessions.append(f"and {len(result.sessions) - _MOST_SESSIONS:,} more")
    blocks: list[Block] = [PresentedEntry(f"This would go for good: {result.said}.", tuple(map(Text, sessions)))]
    for memory in result.memories[:_MOST_MEMORIES]:
        heading = memory.key + ("  (other versions of it stay)" if memory.partly else "")
        blocks.append(PresentedEntry(heading, (Text(memory.content, 2),)))
    if len(result.memories) > _MOST_MEMORIES:
        blocks.append(Sentence(f"and {len(result.memories) - _MOST_MEMORIES:,} more memories"))
    return Presentation(blocks=(*blocks, Sentence(result.explanation)), warnings=(*result.left, *_copies(result)))


def _copies(result: PurgeResult) -> list[str]:
    """Name the sessions that stay and hold the same words, with how to purge one."""
    if not result.copies:
        return []
    count = plural(sum(result.copies.values()), "episode")
    sessions = list(result.copies)
    more = f" and {len(sessions) - _MOST_SESSIONS:,} more" if len(sessions) > _MOST_SESSIONS else ""
    holds = "holds" if sum(result.copies.values()) == 1 else "hold"
    return [
        f"{count} of other sessions {holds} the same words: {', '.join(sessions[:_MOST_SESSIONS])}{more}. "
        f"`picomem purge --session {sessions[0]}` erases such a session too."
    ]


OPERATIONS = (
    Operation(
        name="purge",
        group="erase",
        run=purge,
        present=_present_purge,
        reply=lambda result: result.said or "nothing",
        permission="memory:purge:user",
        answer_permissions=("memory:read:user",),
        example="picomem purge --session 8463c716 --dry-run",
        destructive=True,
        idempotent=True,
        confirmation=Confirmation(
            is_needed=lambda request: _chosen(request) and not (request.yes or request.dry_run),
            preview=lambda request: replace(request, dry_run=True),
            is_empty=lambda planned: not planned.counts,
            answer="yes",
            shown="shown",
            question="Confirm purge? (y/n) ",
            declined="Nothing was purged",
        ),
        exit_code=_exit_code,
        chat_commands=(
            ChatCommand(
                "purge_session", "erase this conversation and what came of it", session="session", continues_in="new"
            ),
            ChatCommand("purge_user", "erase everything of this user", values={"everything": True}, continues_in="new"),
            ChatCommand(
                "purge_older",
                "erase conversations that ended more than so many days ago, and what came of them",
                argument="older_than",
                placeholder="DAYS",
                example="90",
                missing="Say how many days",
            ),
        ),
    ),
)
