"""Operations on who may write to PicoBot on a channel: waiting senders, and known people."""

from __future__ import annotations

from picomem.clock import iso
from picomem.engine.channel_contacts import accept, every_contact, former_people, pairings, revoke
from picomem.engine.engine import Engine
from picomem.light_dataclass import dataclass
from picomem.operations.memory_views import damage_warnings
from picomem.operations.operation import Operation, option
from picomem.operations.presentation import Block, Presentation, Sentence, Table, day


@dataclass(frozen=True, slots=True)
class PairListRequest:
    pass


@dataclass(frozen=True, slots=True)
class SenderView:
    """A sender who waits to be accepted. The name is what the sender calls themselves; `formerly` are the users for
    whom one of the ids stood before, such as the earlier owner of a phone number."""

    code: str
    channel: str
    account: str
    ids: list[str]
    name: str
    expires_at: str
    formerly: list[str]


@dataclass(frozen=True, slots=True)
class ContactView:
    """An id of a channel, and the user that it stands for; or stood for, until it was revoked."""

    user: str
    channel: str
    account: str
    id: str
    revoked_at: str | None = None


@dataclass(frozen=True, slots=True)
class PairListResult:
    """The senders who wait, the first one first; who is known, by user; and the ids that were revoked. `warnings` says
    what is damaged."""

    waiting: list[SenderView]
    known: list[ContactView]
    revoked: list[ContactView]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class PairAcceptRequest:
    code: str = option("the code of the sender, from `picomem pair list`", positional=True)
    own: bool = option("the sender is you: use your own memory (`data.user`) without --user", False)


@dataclass(frozen=True, slots=True)
class PairAcceptResult:
    """The sender's ids, and the user that they stand for from now on."""

    user: str
    ids: list[str]


@dataclass(frozen=True, slots=True)
class PairRevokeRequest:
    id: str = option("revoke this id alone, written as in `picomem pair list`", "")


@dataclass(frozen=True, slots=True)
class PairRevokeResult:
    """The number of ids of the user that were known; `id` is the one that was asked for."""

    user: str
    ids: int
    id: str


def pair_list(engine: Engine, _request: PairListRequest) -> PairListResult:
    """List the senders who wait for acceptance on a channel, with their codes, and the accepted contacts."""
    damaged: list[str] = []
    waiting = [
        SenderView(
            code=pairing.code,
            channel=pairing.channel,
            account=pairing.account,
            ids=list(pairing.native_ids),
            name=pairing.name,
            expires_at=iso(pairing.expires_at),
            formerly=former_people(engine, pairing),
        )
        for pairing in pairings(engine, damaged)
    ]
    aliases = [
        ContactView(
            user=contact.person,
            channel=contact.channel,
            account=contact.account,
            id=contact.native_id,
            revoked_at=None if contact.revoked_at is None else iso(contact.revoked_at),
        )
        for contact in every_contact(engine, damaged)
    ]
    return PairListResult(
        waiting=waiting,
        known=[alias for alias in aliases if alias.revoked_at is None],
        revoked=[alias for alias in aliases if alias.revoked_at is not None],
        warnings=damage_warnings(damaged),
    )


def pair_accept(engine: Engine, request: PairAcceptRequest) -> PairAcceptResult:
    """Accept a sender, so that PicoBot answers them.

    `--user` names the user whose memory it is. Without it, the sender is a user of their own, such as
    `whatsapp:351912345678@s.whatsapp.net`.
    """
    is_named = request.own or engine.scope.user != engine.settings.data.user
    user, pairing = accept(engine, request.code, engine.scope.user if is_named else "")
    return PairAcceptResult(user, list(pairing.native_ids))


def pair_revoke(engine: Engine, request: PairRevokeRequest) -> PairRevokeResult:
    """Stop a user, or one of their ids, from writing to PicoBot on channels; `--user` names them. Their memory stays.

    A revoked id stands for nobody until its sender is accepted again.
    """
    return PairRevokeResult(engine.scope.user, revoke(engine, engine.scope.user, request.id), request.id)


def _present_pairs(result: PairListResult) -> Presentation:
    blocks: list[Block] = []
    if result.waiting:
        rows = tuple(
            (one.code, one.channel, one.account, ", ".join(one.ids), one.name, day(one.expires_at))
            for one in result.waiting
        )
        blocks.append(Table(("code", "channel", "account", "waits", "calls themselves", "until"), rows))
        blocks += [
            Sentence(f"{one.code} has an id that stood for {', '.join(one.formerly)} before; ask who it is now.")
            for one in result.waiting
            if one.formerly
        ]
    else:
        blocks.append(Sentence("Nobody waits to be accepted."))
    if aliases := (*result.known, *result.revoked):
        rows = tuple((one.user, one.channel, one.account, one.id, _state(one)) for one in aliases)
        blocks.append(Table(("user", "channel", "account", "known as", "state"), rows))
    steps = (f"`picomem pair accept {result.waiting[0].code} --user ID` accepts a sender.",) if result.waiting else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=steps)


def _present_accepted(result: PairAcceptResult) -> Presentation:
    return Presentation(
        blocks=(Sentence(f"PicoBot answers {', '.join(result.ids)} from now on, as user {result.user}."),)
    )


def _present_revoked(result: PairRevokeResult) -> Presentation:
    said = f"{result.id} stands for {result.user} no more." if result.id else ""
    return Presentation(blocks=(Sentence(said or f"PicoBot answers {result.user} on no channel any more."),))


def _state(alias: ContactView) -> str:
    return f"revoked {day(alias.revoked_at)}" if alias.revoked_at else "known"


OPERATIONS = (
    Operation(
        name="pair-list",
        group="serve",
        run=pair_list,
        present=_present_pairs,
        reply=lambda result: f"{len(result.waiting)} wait, {len(result.known)} are known",
        permission="memory:read:global",
        example="picomem pair list",
        read_only=True,
        operator=True,
    ),
    Operation(
        name="pair-accept",
        group="serve",
        run=pair_accept,
        present=_present_accepted,
        reply=lambda result: f"{', '.join(result.ids)} is {result.user} from now on.",
        permission="memory:write:global",
        example="picomem pair accept 7Q2MXK04TB --user ann",
        operator=True,
    ),
    Operation(
        name="pair-revoke",
        group="serve",
        run=pair_revoke,
        present=_present_revoked,
        reply=lambda result: (
            f"{result.id} stands for {result.user} no more."
            if result.id
            else f"{result.user} writes on no channel any more."
        ),
        permission="memory:write:global",
        example="picomem pair revoke --user ann",
        destructive=True,
        operator=True,
    ),
)
