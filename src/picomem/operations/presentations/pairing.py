"""How pairing is presented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.operations.presentation import Block, Presentation, Sentence, Table
from picomem.operations.presentations.wording import day

if TYPE_CHECKING:
    from picomem.operations.pairing import PairAcceptResult, PairListResult, PairRevokeResult


def listed(result: PairListResult) -> Presentation:
    blocks: list[Block] = []
    if result.waiting:
        rows = tuple(
            (one.code, one.channel, ", ".join(one.ids), one.name, day(one.expires_at)) for one in result.waiting
        )
        blocks.append(Table(("code", "channel", "waits", "calls themselves", "until"), rows))
    else:
        blocks.append(Sentence("Nobody waits to be accepted."))
    if result.known:
        known = tuple((one.user, one.channel, one.account, one.id) for one in result.known)
        blocks.append(Table(("user", "channel", "account", "known as"), known))
    steps = (f"`picomem pair accept {result.waiting[0].code} --user ID` accepts a sender.",) if result.waiting else ()
    return Presentation(blocks=tuple(blocks), next_steps=steps)


def accepted(result: PairAcceptResult) -> Presentation:
    return Presentation(
        blocks=(Sentence(f"PicoBot answers {', '.join(result.ids)} from now on, as user {result.user}."),)
    )


def revoked(result: PairRevokeResult) -> Presentation:
    return Presentation(blocks=(Sentence(f"PicoBot answers {result.user} on no channel any more."),))
