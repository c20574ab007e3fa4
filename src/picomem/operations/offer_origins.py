"""Determines the origin of what an agent asks memory to store, for servers of agents.

The claim of the request does not count. The text is compared with the untrusted text in the agent's context
(`SpokenTexts`).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from picomem.engine.audience import is_in_group
from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.light_dataclass import dataclass, replace
from picomem.operations.remembering import ForgetRequest, RememberRequest, ReviseRequest
from picomem.provenance.statements import Grounds, content_words
from picomem.records.kinds import Origin, worst
from picomem.text.terms import terms


@dataclass(frozen=True, slots=True)
class SpokenTexts:
    """The texts in a context by speaker: those whose words may be kept, and the terms of each text of others.

    They tell whose words a statement is made of: the person's, or those of a text that an agent read.
    """

    own: tuple[Grounds, ...]
    others: tuple[tuple[Origin, frozenset[str]], ...]

    def origin_of(self, text: str, known: str = "") -> Origin:
        """Return the origin of a statement. Words of the trusted memory that it revises (`known`) need no speaker."""
        origin = self.origin_of_words(text, known)
        if not self.others or not origin.trusted or any(grounds.hold(text, known) for grounds in self.own):
            return origin
        return worst((Origin.AGENT, *(origin for origin, _ in self.others)))

    def origin_of_words(self, text: str, known: str = "") -> Origin:
        """The least trusted of those who said a word of it that neither the user nor the agent did."""
        own = frozenset(term for grounds in self.own for term in grounds.terms)
        news = content_words(text) - own - frozenset(terms(known))
        return worst((Origin.AGENT, *(origin for origin, said in self.others if news & said)))


def vouched(request: Any, spoken: SpokenTexts | None, engine: Engine) -> tuple[Any, str]:
    """The request with its origin, and what the agent is to know of that. `spoken` is None where nothing that nobody
    trusted wrote is in its context.

    Why a thing matters, changes or is to be forgotten is the agent's own remark: where the user has not stated the
    remark, the remark goes.
    """
    if isinstance(request, RememberRequest) and request.pinned:
        request, note = vouched(replace(request, pinned=False), spoken, engine)
        return request, f"{note} (not pinned: only the user can pin a memory)"
    if spoken is not None and isinstance(request, (ReviseRequest, ForgetRequest)) and request.reason:
        request = request if spoken.origin_of(request.reason).trusted else replace(request, reason="")
    if (
        spoken is None
        or not isinstance(request, (RememberRequest, ReviseRequest))
        or not Origin(request.origin or Origin.AGENT).trusted
    ):
        return request, ""
    origin = _origin(request, spoken, _known(engine, request))
    if not origin.trusted:
        return replace(request, origin=origin.value), (
            f" (untrusted text was read, and the user has not stated this, so its origin is {origin})"
        )
    if request.context and not spoken.origin_of(request.context).trusted:
        left = "" if isinstance(request, RememberRequest) else None
        note = " (without its context: untrusted text was read, and the user has not stated that)"
        return replace(request, context=left), note
    return request, ""


def origin_of_text(spoken: SpokenTexts | None, text: str, names: Iterable[str], known: str) -> Origin:
    """The origin of what an agent stores without a request: a text with its names, in the place of a known one."""
    if spoken is None:
        return Origin.AGENT
    origin = spoken.origin_of(text, known) if text else Origin.AGENT
    return spoken.origin_of_words(" ".join(names).replace("_", " "), known) if origin.trusted else origin


def _origin(request: RememberRequest | ReviseRequest, spoken: SpokenTexts, known: str) -> Origin:
    content = request.content or ""
    origin = spoken.origin_of(content)
    if known and not origin.trusted:
        origin = spoken.origin_of(content, known)
    named = [*(request.tags or ()), request.project]
    if isinstance(request, RememberRequest):
        named += [request.key, *request.related_to]
    names = " ".join(named).replace("_", " ")
    return spoken.origin_of_words(names, known) if origin.trusted else origin


def _known(engine: Engine, request: RememberRequest | ReviseRequest) -> str:
    """The memory that the request is to replace, if somebody trusted stands behind it. In a group none: the origin
    would tell others what it says."""
    name = request.key if isinstance(request, RememberRequest) else request.name
    if not name or is_in_group(engine):
        return ""
    with suppress(PicomemError):
        memory = engine.history(name, scope=engine.scope.narrowed(project=request.project))[-1]
        if memory.origin.trusted and not memory.archived:
            return f"{memory.key.replace('_', ' ')}\n{memory.content}"
    return ""
