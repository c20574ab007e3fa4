"""Checks a generator's proposal, limits it, and determines the origin of each text. Pure; a redactor is passed in.

A model may be wrong, cut off, or manipulated by a text that it read. So these rules apply to any answer:

- Facts are few and short, one statement each, under a valid key. A statement about the conversation ("the user asked
  about…") and a repetition of the summary are not facts.
- A fact, and the end of a memory, is backed by a quote of a message of the user or the agent (below). A
  preference and an instruction are the user's alone.
- The timeline entry and the summary have the least trusted origin of all their sources, the previous summary included.
- A memory ends, or is replaced, only if it was shown to the model, and the message speaks of it and is no older than
  it. What a person stated ends only by their own message, and what is pinned by none. Where text of others was read,
  nothing ends that the user or the agent said. A fact of the same answer that confirms a memory prevents its end.
- A text without a statement (a refusal, or nothing) is not a proposal: GeneratorFailed.

Rejected parts are reported and recorded with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from picomem.coded_text import CodedText
from picomem.consolidation.material import Part, Safe
from picomem.errors import GeneratorFailed, InvalidKey
from picomem.light_dataclass import dataclass, field
from picomem.models.generator import (
    LONGEST_FACT,
    LONGEST_TIMELINE,
    MOST_FACTS,
    MOST_INVALIDATED,
    Ending,
    Fact,
    PromptLine,
    Proposal,
)
from picomem.policy.content_kind import kind_of
from picomem.provenance.statements import content_words
from picomem.provenance.whose_words import own_words, pasted_words
from picomem.records.kinds import MOST_BELOW_CRITICAL, Kind, Origin
from picomem.records.kinds import worst as least_trusted
from picomem.records.memory import Memory
from picomem.records.session import Role
from picomem.text.likeness import holds_words
from picomem.text.memory_keys import check_key, suggest_key
from picomem.text.storable import plain
from picomem.text.terms import terms

# Checks the quotes with which a model backs what it proposes. Pure.
#
# A model names a message and copies the words of it that say so. That these words stand there is a fact, in any
# language, so it decides: the user or the agent said them, and words that the user pasted are others'. How the model
# words its statement is free, within bounds that need no language either: it shares a word with the message, or with
# the one before it, which it may answer; and it has no number that nobody said, except small ones, which people spell
# out, and dates, which are computed ("next Tuesday"). Where the model was shown text of others too, it may have been
# talked into something. Then a statement with any further word could be theirs, so the quote itself is kept in its
# place, and a question is no quote.

_SPELT_OUT = 12  # numbers up to it
_DATE = r"\b\d{4}-\d\d(?:-\d\d)?\b|\b\d{1,2}:\d\d\b"
_QUESTION = r"[^.!?\n。！？]*[?？]"
_LEFT_OUT = r"\s*\[?(?:…|\.\.\.)\]?\s*"  # within a quote
_LEAST_WORDS = 3  # with a meaning, of a quote that stands alone
_SPOKEN_OF = 3  # one in so many words of a memory that is over


class Testimony:
    """What the user and the agent said in a part of a conversation. `has_others` says that others did as well."""

    def __init__(self, lines: Sequence[PromptLine], known: Iterable[str], *, has_others: bool) -> None:
        self.has_others = has_others or any(not line.origin.trusted or pasted_in(line) for line in lines)
        own = [(line, own_text(line)) for line in lines if line.origin.trusted]
        self._fresh = [(line, self._quotable(text)) for line, text in own if line.fresh]
        self._before = {line.number: text for (_, text), (line, _) in pairwise(own)}
        self._shown = [text for _, text in own] + list(known)
        self._words = frozenset(term for text in self._shown for term in terms(text))
        self._numbers = frozenset(_numbers("\n".join(self._shown)))

    def _quotable(self, text: str) -> str:
        return re.sub(_QUESTION, "\n", text) if self.has_others else text

    def find(self, message: int, quote: str) -> PromptLine | None:
        """The new message that holds the words of a quote, the one of that number first; None where none does."""
        pieces = [piece for piece in re.split(_LEFT_OUT, quote) if any(char.isalnum() for char in piece)]
        nearest = sorted(self._fresh, key=lambda said: said[0].number != message)
        return next((line for line, text in nearest if pieces and _holds(text, pieces)), None)

    def reason_against(self, statement: str, line: PromptLine) -> str:
        """Explain why a statement does not follow from the message that is quoted for it; empty if it may."""
        context = f"{own_text(line)}\n{self._before.get(line.number, '')}"
        if not content_words(statement).intersection(terms(context)):
            return CodedText("reason.rejected_invented")
        unsaid = [number for number in _numbers(re.sub(_DATE, " ", statement)) if number not in self._numbers]
        made_up = next((number for number in unsaid if len(number) > 4 or int(number) > _SPELT_OUT), "")
        return CodedText("reason.rejected_invented_number", number=made_up[:20]) if made_up else ""

    def worded(self, statement: str, quote: str) -> str:
        """The words in which a statement may be kept; empty where there are none."""
        if not self.has_others or content_words(statement) <= self._words:
            return statement
        return quote if len(content_words(quote)) >= _LEAST_WORDS else ""

    def speaks_of(self, text: str, line: PromptLine, memory: str) -> bool:
        """Return whether a text, with the message that is quoted for it, speaks of a memory. A change of mind is told
        in other words, so one word in common will do; where there is no text, the message alone must name the memory.
        """
        words = content_words(memory)
        shared = words.intersection(terms(f"{text}\n{own_text(line)}"))
        return bool(shared) if text else len(shared) * _SPOKEN_OF >= max(len(words), 1)


def pasted_in(line: PromptLine) -> str:
    """Other people's words in a line of the person."""
    return pasted_words(line.text) if line.role is Role.USER and line.origin.trusted else ""


def own_text(line: PromptLine) -> str:
    """The words of whoever says a line."""
    return own_words(line.text) if line.role is Role.USER else line.text


def _holds(text: str, pieces: Iterable[str]) -> bool:
    return all(holds_words(text, piece) for piece in pieces)


def _numbers(text: str) -> list[str]:
    """The numbers in a text, without leading noughts and what groups their digits."""
    joined = re.sub(r"(?<=\d)[,' ](?=\d{3}\b)", "", text)
    return [digits.lstrip("0") or "0" for digits in re.findall(r"[0-9]+", joined)]


LONGEST_SUMMARY = 6_000  # characters; the prompt cuts it further
_MOST_SENTENCES = 3  # of a fact
_PERSONS = frozenset((Kind.PREFERENCE, Kind.INSTRUCTION))  # what only the user can state
# Words that name no subject. Small models call a fact of every session `user_request` or `user_goal`; under one key
# each would take the place of the one before.
_NAMES_NOTHING = frozenset(
    """assistant agent conversation current decision fact facts goal info information insight instruction intent main
    memory message new note person preference preferences project request session statement status summary task tasks
    the user users s work""".split()
)

_ABOUT_THE_TALK = (
    r"(?i)^(?:the |this )?(?:user|assistant|agent|person|they|we|you|i|conversation|session|discussion|chat|talk)s?"
    r"(?: and the (?:user|assistant|agent))? (?:has |have |had |just |also |then |was |were )*"
    r"(?:ask(?:ed|s|ing)?|discuss\w*|talk(?:ed|s|ing)|greet\w*|request(?:ed|s)|inquir\w*|explain(?:ed|s)|thank\w*|"
    r"mention(?:ed|s)|said (?:hello|hi|thanks)|chatt\w*|covered|began|started|ended|wanted to know|summari[sz]\w*)\b"
    r"|^(?:in|during) (?:this|the) (?:conversation|session|discussion|chat)\b|^(?:summary|conversation summary)\s*[:：]"
    r"|^(?:用户|助手|我们)(?:询问|问了|讨论|谈到|提到|请求)|^(?:本次|这次)(?:对话|会话)"
)
_REFUSAL = (
    r"(?i)\A\W*(?:i(?:'|’)?m sorry|sorry|i apologi[sz]e|(?:unfortunately,? )?i (?:can(?:'|’)?t|cannot|can not|"
    r"am not able|am unable|won(?:'|’)?t|must decline)|as an ai\b|抱歉|对不起|我无法|作为(?:一个)?(?:ai|人工智能))"
)
_STAMP = r"\A\s*\[\d{4}-\d\d-\d\d[^\]]{0,12}\]\s*"


@dataclass(frozen=True, slots=True)
class Checked:
    """A fact that may be offered to memory, with the words that say so, the number of their message, and the memory
    that it replaces."""

    key: str
    content: str
    quote: str
    source: int
    importance: float
    kind: Kind
    kind_given: bool
    is_personal: bool
    replaces: Memory | None


@dataclass(frozen=True, slots=True)
class RejectedPart:
    """A rejected part of a proposal: its text (the key of a memory that was to end) and the reason."""

    text: str
    reason: str
    memory_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedProposal:
    """The parts of a proposal that passed the checks. `origin` is that of the timeline's text and the summary's."""

    facts: tuple[Checked, ...]
    invalidate: tuple[Memory, ...]
    timeline: str
    summary: str
    origin: Origin
    turned_down: tuple[RejectedPart, ...] = field(default=())


def check_proposal(proposal: Proposal, part: Part, known: Sequence[Memory], safe: Safe) -> CheckedProposal:
    """Check a proposal. `known` are the memories that the generator was shown. Raises GeneratorFailed."""
    timeline = _told(proposal.timeline, LONGEST_TIMELINE, safe)
    summary = _told(proposal.summary, LONGEST_SUMMARY, safe, lines=True) if part.covers else ""
    if not timeline:
        raise GeneratorFailed("The answer has no words for the timeline.")
    if re.search(_REFUSAL, timeline):
        raise GeneratorFailed(f"The model refused: {timeline[:120]}")
    if part.covers and not summary:
        raise GeneratorFailed("The answer has no summary.")
    checks = _Checks(part, known, safe)
    facts = checks.facts(proposal.facts, (timeline, summary))
    invalidate = checks.endings(proposal.invalidate, [fact.content for fact in facts])
    return CheckedProposal(
        facts=tuple(facts),
        invalidate=tuple(invalidate),
        timeline=timeline,
        summary=summary,
        origin=worst(_origins(part, proposal.made_of, f"{timeline} {summary}")),
        turned_down=tuple(checks.turned_down),
    )


def worst(origins: Iterable[Origin]) -> Origin:
    """The least trusted; what is made of nothing is the agent's, which wrote it. A summary is nobody's own words, so
    it is never the user's."""
    return least_trusted((Origin.AGENT, *origins))


class _Checks:
    """The checks of one proposal."""

    def __init__(self, part: Part, known: Sequence[Memory], safe: Safe) -> None:
        told = [f"{memory.key} {memory.content}" for memory in known]
        summary = [part.summary.text] if part.summary and part.covers and not _tainted(part) else []
        self._said = Testimony(part.lines, [*told, *summary], has_others=_tainted(part) is not None)
        self._known = {memory.key: memory for memory in known}
        self._times = {message.seq: message.created_at for message in part.messages}
        self._safe = safe
        self.turned_down: list[RejectedPart] = []

    def facts(self, facts: Sequence[Fact], told: tuple[str, str]) -> list[Checked]:
        """The facts that may be offered to memory."""
        kept: list[Checked] = []
        keys = Counter(fact.key.strip() for fact in facts)
        for fact in facts:
            content, quote = self._line(fact.content), self._line(fact.quote)
            line = self._said.find(fact.message, quote)
            kind = fact.kind or kind_of(content)
            reason = _no_fact(content, told) or self._ungrounded(content, quote, kind, line)
            if line is not None and not reason:
                content = self._said.worded(content, quote)
                reason = "" if content else CodedText("reason.rejected_others")
            if not reason and any(checked.content.casefold() == content.casefold() for checked in kept):
                continue
            if not reason and len(kept) == MOST_FACTS:
                reason = CodedText("reason.rejected_most_facts", most=MOST_FACTS)
            if reason or line is None:
                self.turned_down.append(RejectedPart(content or quote, reason))
                continue
            kept.append(
                Checked(
                    # Small models call everything “user”: under one key each would take the place of the one before.
                    key=_key(fact.key if keys[fact.key.strip()] == 1 else "", content, kind),
                    content=content,
                    quote=quote,
                    source=line.number,
                    importance=_importance(fact.importance),
                    kind=kind,
                    kind_given=fact.kind is not None,
                    is_personal=fact.is_personal,
                    replaces=self._replaced(fact.replaces, content, line),
                )
            )
        return kept

    def endings(self, endings: Sequence[Ending], facts: Sequence[str]) -> list[Memory]:
        """The memories that are over."""
        kept: dict[str, Memory] = {}
        for ending in endings:
            key = plain(ending.key).strip()
            memory = self._known.get(key)
            line = self._said.find(ending.message, self._line(ending.quote))
            if key in kept:
                continue
            if len(kept) == MOST_INVALIDATED:
                reason = CodedText("reason.rejected_most_invalidated", most=MOST_INVALIDATED)
            elif memory is not None and any(
                holds_words(fact, memory.content) or holds_words(memory.content, fact) for fact in facts
            ):
                reason = CodedText("reason.rejected_denied")
            else:
                reason = self._reason_to_keep(memory, "", line)
            if memory is not None and not reason:
                kept[key] = memory
            else:
                self._keep(f"invalidate {key[:80]}", reason, memory)
        return list(kept.values())

    def _line(self, text: str) -> str:
        return _one_line(self._safe(plain(text)))

    def _ungrounded(self, content: str, quote: str, kind: Kind, line: PromptLine | None) -> str:
        """Explain why a quote does not show that a fact was said; empty if it does."""
        if line is None or len(quote) > LONGEST_FACT:
            return CodedText("reason.rejected_unquoted")
        if quote.endswith(("?", "？")):
            return CodedText("reason.rejected_question")
        if kind in _PERSONS and line.role is not Role.USER:
            return CodedText("reason.rejected_not_users")
        return self._said.reason_against(content, line)

    def _replaced(self, key: str, content: str, line: PromptLine) -> Memory | None:
        key = plain(key).strip()
        memory = self._known.get(key)
        if not key or (memory is not None and holds_words(content, memory.content)):
            return None
        if not (reason := self._reason_to_keep(memory, content, line)):
            return memory
        self._keep(f"replace {key[:80]}", reason, memory)
        return None

    def _reason_to_keep(self, memory: Memory | None, text: str, line: PromptLine | None) -> str:
        """Explain why a memory stays as it is; empty if the message ends it, or the text that follows from it."""
        if memory is None:
            return CodedText("reason.rejected_unknown")
        if line is None:
            return CodedText("reason.rejected_unquoted")
        if memory.pinned:
            return CodedText("reason.rejected_pinned")
        if self._said.has_others and memory.origin.trusted:
            return CodedText("reason.rejected_foreign")
        if memory.is_a_persons and line.role is not Role.USER:
            return CodedText("reason.rejected_persons")
        if self._times[line.number] <= memory.valid_from:  # the message from which it was made does not end it
            return CodedText("reason.rejected_newer")
        if not self._said.speaks_of(text, line, f"{memory.key} {memory.content}"):
            return CodedText("reason.rejected_unmentioned")
        return ""

    def _keep(self, text: str, reason: str, memory: Memory | None) -> None:
        self.turned_down.append(RejectedPart(text, reason, memory.id if memory else ""))


def _no_fact(content: str, told: tuple[str, str]) -> str:
    """Explain why this is no fact; empty if it may be one."""
    if not any(char.isalnum() for char in content):
        return CodedText("reason.rejected_wordless")
    sentences = len(re.findall(r"[.!?](?:\s|$)|[。！？]", content))
    if len(content) > LONGEST_FACT or sentences > _MOST_SENTENCES:
        return CodedText("reason.rejected_summary")
    if re.search(_ABOUT_THE_TALK, content):
        return CodedText("reason.rejected_talk")
    if re.search(_REFUSAL, content):
        return CodedText("reason.rejected_excuse")
    if sentences > 1 and any(holds_words(content, text) for text in told):
        return CodedText("reason.rejected_copy")
    return ""


def _key(given: str, content: str, kind: Kind) -> str:
    """The key that was proposed, or a valid one like it; one made from the text where that names nothing."""
    given = given.strip()[:200]
    if not given or _NAMES_NOTHING.issuperset(re.split(r"[\W_]+", given.casefold().strip("_ "))):
        return suggest_key(content, kind.value)
    try:
        return check_key(given)
    except InvalidKey as error:
        return str(error.data["suggestion"])


def _importance(given: float) -> float:
    """The importance that a model gives, below critical: a small one gives everything 1, and what is critical stands in
    every prompt."""
    return min(MOST_BELOW_CRITICAL, max(0.0, given)) if given == given else 0.5  # NaN is not equal to itself


def _told(text: str, most: int, safe: Safe, *, lines: bool = False) -> str:
    """A text for the timeline or the summary: plain, redacted, without a time of its own, cut at a sentence."""
    text = re.sub(_STAMP, "", safe(plain(text[: 4 * most])).strip())
    text = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip()) if lines else _one_line(text)
    if len(text) > most:
        head = text[: most - 1]
        stops = [match.end() for match in re.finditer(r"[.!?](?=\s)|[。！？]|\n", head)]
        text = head[: stops[-1]].rstrip() if stops and stops[-1] > most // 2 else head.rpartition(" ")[0] + "…"
    return text if any(char.isalnum() for char in text) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _tainted(part: Part) -> Origin | None:
    """The origin of the earlier summary, if the generator saw it and nobody trusted wrote it."""
    seen = part.summary is not None and part.covers
    return part.summary.origin if seen and part.summary and not part.summary.origin.trusted else None


def _origins(part: Part, made_of: frozenset[int] | None, told: str) -> list[Origin]:
    lines = [line for line in part.lines if made_of is None or line.number in made_of]
    origins = [line.origin for line in lines]
    own = frozenset(term for line in lines if not pasted_in(line) for term in terms(line.text))
    theirs = frozenset(term for line in lines for term in terms(pasted_in(line))) - own
    origins += [Origin.OTHER] if theirs & frozenset(terms(told)) else []
    tainted = _tainted(part)
    return [*origins, tainted] if tainted else origins
