"""The presentation of pairing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, Sentence, Table
from picomem.operations.presentations.wording import day

if TYPE_CHECKING:
    from picomem.operations.pairing import ContactView, PairAcceptResult, PairListResult, PairRevokeResult


def listed(result: PairListResult) -> Presentation:
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


def accepted(result: PairAcceptResult) -> Presentation:
    return Presentation(
        blocks=(Sentence(f"PicoBot answers {', '.join(result.ids)} from now on, as user {result.user}."),)
    )


def revoked(result: PairRevokeResult) -> Presentation:
    said = f"{result.id} stands for {result.user} no more." if result.id else ""
    return Presentation(blocks=(Sentence(said or f"PicoBot answers {result.user} on no channel any more."),))


def _state(alias: ContactView) -> str:
    return f"revoked {day(alias.revoked_at)}" if alias.revoked_at else "known"
