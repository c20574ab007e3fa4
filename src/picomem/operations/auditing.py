"""Operations on the record of changes as a whole: whether somebody edited it, and its signed head."""

from __future__ import annotations

from picomem.clock import iso
from picomem.engine.engine import Engine
from picomem.engine.record_chain import record_head, verify_record
from picomem.health.record_check import BrokenRow, RecordCheck, line_of
from picomem.light_dataclass import asdict, dataclass
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import Presentation, Sentence, day, plural
from picomem.paths import named_path

_BROKEN = {
    "changed": "was changed, or what stood before it is gone",
    "removed": "is gone",
    "inserted": "was inserted",
    "reordered": "stands in another place than it did",
    "cut off": "is not the one of the signed head: the end of the record was cut off, or written anew",
    "beginning": "is not the one at which the record is said to begin",
}
_BEGINS = {
    "erased": "everything before was purged",
    "moved": "it came from another store then, which verifies what was before",
    "key": "what was before was linked with another key",
}


@dataclass(frozen=True, slots=True)
class AuditVerifyRequest:
    head: str = option("a file of signed heads that were printed or copied before", "", path=True)


@dataclass(frozen=True, slots=True)
class BrokenRowView:
    """The first row that is not as it was written: of which record ("changes" or "handouts"), its number there, and how
    it is broken. `id` and `at` are its own, or of one that is gone those of the next, empty where there is none."""

    record: str
    seq: int
    kind: str
    id: str
    at: str


@dataclass(frozen=True, slots=True)
class AuditVerifyResult:
    """`whole` is null where it cannot be verified; `problem` says why. `changes` were verified, `since` a time, and
    `begins_because` says why the record does not begin earlier; `handouts` counts what was handed to agents. `head` is
    what the signed heads are worth: "none" were given, "matched", "older" (from before the record began anew or a
    backup was restored), or "broken"."""

    whole: bool | None
    changes: int
    since: str
    begins_because: str
    handouts: int
    first_broken: BrokenRowView | None
    head: str
    problem: str


def audit_verify(engine: Engine, request: AuditVerifyRequest) -> AuditVerifyResult:
    """Check that nobody changed, removed, inserted or reordered rows of the record of changes from outside.

    With a signed head that was copied elsewhere before, also that no rows were cut off at the end.
    """
    check = verify_record(engine, named_path(request.head) if request.head else None)
    return AuditVerifyResult(
        whole=check.whole,
        changes=check.changes,
        since="" if check.since is None else iso(check.since),
        begins_because=_BEGINS.get(check.begins_because, ""),
        handouts=check.handouts,
        first_broken=_broken(check.broken),
        head=_head_state(check),
        problem=check.problem,
    )


def _broken(broken: BrokenRow | None) -> BrokenRowView | None:
    if broken is None:
        return None
    return BrokenRowView(broken.record, broken.seq, broken.kind, broken.id, "" if broken.at is None else iso(broken.at))


def _head_state(check: RecordCheck) -> str:
    if not check.heads:
        return "none"
    if check.broken is not None and check.broken.kind == "cut off":
        return "broken"
    return "older" if check.older_heads == check.heads else "matched"


@dataclass(frozen=True, slots=True)
class AuditHeadRequest:
    pass


@dataclass(frozen=True, slots=True)
class HeadPlace:
    """The end of a record."""

    seq: int
    link: str
    turn: str


@dataclass(frozen=True, slots=True)
class AuditHeadResult:
    """The ends of the records of changes and of what was handed to agents: number and link of the last row, and the
    last time that the record began anew or was restored, if ever. The signature, Ed25519, is of the other values as
    JSON with sorted keys and no white space."""

    head: str
    user: str
    at: str
    changes: HeadPlace
    handouts: HeadPlace
    public_key: str
    signature: str


def audit_head(engine: Engine, _request: AuditHeadRequest) -> AuditHeadResult:
    """Sign the end of the record of changes, and copy that to where `[audit]` in the settings says.

    A later check of the record compares it with that. Keep it where those who can write the store cannot.
    """
    head = record_head(engine)
    return AuditHeadResult(
        **head | {name: HeadPlace(**head[name]) for name in ("changes", "handouts")}  # pyright: ignore[reportArgumentType]
    )


def _present_verified(result: AuditVerifyResult) -> Presentation:
    if result.whole is None:
        return Presentation(blocks=(), warnings=(result.problem,))
    if result.first_broken is not None:
        broken = result.first_broken
        named = f" ({broken.id} of {day(broken.at)})" if broken.id and broken.kind != "removed" else ""
        before = f", before {broken.id} of {day(broken.at)}" if broken.id and broken.kind == "removed" else ""
        row = "change" if broken.record == "changes" else "handout"
        said = f"Not whole: {row} {broken.seq:,}{named} {_BROKEN.get(broken.kind, broken.kind)}{before}."
        return Presentation(blocks=(Sentence(said),))
    if not result.changes:
        return Presentation(blocks=(Sentence("Nothing was recorded yet."),))
    because = f" The record begins there because {result.begins_because}." if result.begins_because else ""
    heads = {"matched": " The signed heads match.", "older": " The signed heads are from before that, or a restore."}
    handouts = f" and {plural(result.handouts, 'handout')}" if result.handouts else ""
    counted = f"{plural(result.changes, 'change')}{handouts}"
    said = f"Whole: {counted} since {day(result.since)}.{because}{heads.get(result.head, '')}"
    tip = ("A signed head of earlier shows whether the end was cut off: --head FILE.",) if result.head == "none" else ()
    return Presentation(blocks=(Sentence(said),), next_steps=tip)


def _present_head(result: AuditHeadResult) -> Presentation:
    return Presentation(blocks=(Sentence(_line(result)),))


def _line(result: AuditHeadResult) -> str:
    return line_of(asdict(result)).strip()


OPERATIONS = (
    Operation(
        name="audit-verify",
        group="maintain",
        run=audit_verify,
        present=_present_verified,
        reply=lambda result: "The record is whole." if result.whole else "The record was not found whole.",
        permission="memory:read:user",
        example="picomem audit verify --head /mnt/log/heads.jsonl",
        read_only=True,
        idempotent=True,
        exit_code=lambda result: 0 if result.whole else 1,
    ),
    Operation(
        name="audit-head",
        group="maintain",
        run=audit_head,
        present=_present_head,
        reply=lambda result: _line(result),
        permission="memory:read:user",
        example="picomem audit head --json",
        read_only=True,
    ),
)
