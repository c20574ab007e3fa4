"""Checks a generator's proposal, limits it, and determines the origin of each text. Pure; a redactor is passed in.

A model may be wrong, cut off, or manipulated by a text that it read. So these rules apply to any answer:

- Facts are few and short, one statement each, under a valid key. A statement about the conversation ("the user asked
  about…"), a repetition of the summary, and a statement that nobody made (`grounding.py`) are not facts.
- The words decide the origin, not the model's claim. If text of others was read (a page, another person, a mail that
  the user pasted, or what the agent said after reading such text), a fact is the agent's only if the user or the agent
  stated it (`provenance/statements.py`) and every word of it occurs outside the text of others. Otherwise it has the
  origin of that text, with the usual effect: no instruction, not in the index page, fenced.
- The timeline entry and the summary have the least trusted origin of all their sources, the previous summary included.
- A memory can be invalidated only if it was shown to the model and the user or the agent spoke of it. What a person
  stated or pinned needs that person's own word: they ask to forget it. So does any
  trusted memory if text of others was read. A fact of the same answer that confirms it prevents this.
- A text without a statement (a refusal, or nothing) is not a proposal: GeneratorFailed.

Rejected parts are reported and recorded with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from picomem.consolidation.grounding import Shown
from picomem.consolidation.material import Part, Safe
from picomem.errors import GeneratorFailed, InvalidKey
from picomem.light_dataclass import dataclass, field
from picomem.models.generator import (
    LONGEST_FACT,
    LONGEST_TIMELINE,
    MOST_FACTS,
    MOST_INVALIDATED,
    Fact,
    PromptLine,
    Proposal,
)
from picomem.policy.content_kind import kind_of
from picomem.provenance.statements import Grounds, content_words
from picomem.provenance.whose_words import pasted_words
from picomem.records.kinds import MOST_BELOW_CRITICAL, Kind, Origin
from picomem.records.kinds import worst as least_trusted
from picomem.records.memory import Memory
from picomem.records.session import Role
from picomem.text.likeness import holds_words
from picomem.text.memory_keys import check_key, suggest_key
from picomem.text.storable import plain
from picomem.text.terms import terms

LONGEST_SUMMARY = 6_000  # characters; the prompt cuts it further
_MOST_SENTENCES = 3  # of a fact
_MOST_SOURCES = 8  # messages that are named as a fact's, where the model names none
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
    """A fact that may be offered to memory, with the ids of the messages behind it."""

    key: str
    content: str
    importance: float
    kind: Kind
    kind_given: bool
    origin: Origin
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RejectedPart:
    """A rejected part of a proposal: its text (the key of an invalidation) and the reason."""

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
    said = SpokenTexts.of(part.lines, tainted=_tainted(part))
    facts, down = _facts(proposal.facts, part, said, (timeline, summary), _shown(part, known), safe)
    told = [fact.content for fact in facts]
    invalidate, refused = _invalidated(proposal.invalidate, known, said, persons_in(part), told)
    return CheckedProposal(
        facts=tuple(facts),
        invalidate=tuple(invalidate),
        timeline=timeline,
        summary=summary,
        origin=worst(_origins(part, proposal.made_of, f"{timeline} {summary}")),
        turned_down=(*down, *refused),
    )


def worst(origins: Iterable[Origin]) -> Origin:
    """The least trusted; what is made of nothing is the agent's, which wrote it. A summary is nobody's own words, so
    it is never the user's."""
    return least_trusted((Origin.AGENT, *origins))


@dataclass(frozen=True, slots=True)
class SpokenTexts:
    """The texts of a part by speaker: the user, the agent, and each other origin."""

    own: tuple[Grounds, ...]
    others: tuple[tuple[Origin, frozenset[str]], ...]

    @classmethod
    def of(cls, lines: Sequence[PromptLine], tainted: Origin | None = None) -> SpokenTexts:
        """The words of these lines. `tainted` is the origin of an earlier summary that nobody trusted wrote: its words
        are not told apart, so they are anybody's."""
        others = [(line.origin, frozenset(terms(line.text))) for line in lines if not line.origin.trusted]
        others += [(Origin.OTHER, frozenset(terms(text))) for line in lines if (text := pasted_in(line))]
        if tainted is not None:
            others.append((tainted, frozenset()))
        own = Grounds(
            (line.text for line in lines if line.origin is Origin.USER),
            known=(line.text for line in lines if line.origin is Origin.AGENT),
        )
        return cls((own,), tuple(others))

    def origin_of(self, text: str, known: str = "") -> Origin:
        """Return the origin of a statement. Words of the trusted memory that it revises (`known`) need no speaker."""
        origin = self.origin_of_words(text, known)
        if not self.others or not origin.trusted or any(grounds.hold(text, known) for grounds in self.own):
            return origin
        return worst(origin for origin, _ in self.others)

    def origin_of_words(self, text: str, known: str = "") -> Origin:
        """The least trusted of those who said a word of it that neither the user nor the agent did."""
        own = frozenset(term for grounds in self.own for term in grounds.terms)
        news = content_words(text) - own - frozenset(terms(known))
        return worst(origin for origin, said in self.others if news & said)


def persons_in(part: Part) -> Grounds:
    """The person's own statements in a part. What an agent says to them is no statement of theirs."""
    return Grounds(line.text for line in part.lines if line.role is Role.USER and line.origin is Origin.USER)


def pasted_in(line: PromptLine) -> str:
    """Other people's words in a line of the person."""
    return pasted_words(line.text) if line.role is Role.USER and line.origin.trusted else ""


def _facts(
    facts: Sequence[Fact], part: Part, said: SpokenTexts, told: tuple[str, str], shown: Shown, safe: Safe
) -> tuple[list[Checked], list[RejectedPart]]:
    kept: list[Checked] = []
    down: list[RejectedPart] = []
    keys = Counter(fact.key.strip() for fact in facts)
    for fact in facts:
        content = " ".join(safe(plain(fact.content)).split())
        reason = _no_fact(content, told) or shown.reason_against(content)
        if not reason and any(checked.content.casefold() == content.casefold() for checked in kept):
            continue
        if not reason and len(kept) == MOST_FACTS:
            reason = f"a consolidation stores {MOST_FACTS} facts at most"
        if reason:
            down.append(RejectedPart(content, reason))
            continue
        kind = fact.kind or kind_of(content)
        kept.append(
            Checked(
                # Small models call everything “user”: under one key each would take the place of the one before.
                key=_key(fact.key if keys[fact.key.strip()] == 1 else "", content, kind),
                content=content,
                importance=_importance(fact.importance),
                kind=kind,
                kind_given=fact.kind is not None,
                origin=said.origin_of(content),
                sources=_sources(fact, content, part),
            )
        )
    return kept, down


def _shown(part: Part, known: Sequence[Memory]) -> Shown:
    """Return everything that the generator was shown: messages, memories and the earlier summary."""
    texts = [line.text for line in part.lines] + [f"{memory.key} {memory.content}" for memory in known]
    return Shown.of([*texts, part.summary.text] if part.summary else texts)


def _no_fact(content: str, told: tuple[str, str]) -> str:
    """Explain why this is no fact; empty if it may be one."""
    if not any(char.isalnum() for char in content):
        return "there are no words in it"
    sentences = len(re.findall(r"[.!?](?:\s|$)|[。！？]", content))
    if len(content) > LONGEST_FACT or sentences > _MOST_SENTENCES:
        return "it is a summary and no single statement"
    if re.search(_ABOUT_THE_TALK, content):
        return "it tells of the conversation, which the timeline does"
    if re.search(_REFUSAL, content):
        return "it is a model's excuse"
    if sentences > 1 and any(holds_words(content, text) for text in told):
        return "it is the summary again"
    return ""


def _invalidated(
    keys: Sequence[str], known: Sequence[Memory], said: SpokenTexts, persons: Grounds, facts: Sequence[str]
) -> tuple[list[Memory], list[RejectedPart]]:
    by_key = {memory.key: memory for memory in known}
    kept: list[Memory] = []
    down: list[RejectedPart] = []
    for key in dict.fromkeys(plain(key).strip() for key in keys):
        memory = by_key.get(key)
        if memory is None:
            reason = "there is no such memory among those that the model was shown"
        elif len(kept) == MOST_INVALIDATED:
            reason = f"a consolidation calls off {MOST_INVALIDATED} memories at most"
        elif memory.is_a_persons and not persons.ask_to_forget(memory.key, memory.content):
            reason = "the user stated or pinned it, and no message of theirs names it and plainly calls it off"
        elif said.others and memory.origin.trusted and not persons.ask_to_forget(memory.key, memory.content):
            reason = "text of others was read, and it cannot call off what the user or the agent said"
        elif not any(grounds.speak_of(memory.key, memory.content) for grounds in said.own):
            reason = "nothing was said about it"
        elif any(holds_words(fact, memory.content) or holds_words(memory.content, fact) for fact in facts):
            reason = "a fact of the same answer says that it holds"
        else:
            kept.append(memory)
            continue
        down.append(RejectedPart(f"invalidate {key[:80]}", reason, memory.id if memory else ""))
    return kept, down


def _sources(fact: Fact, content: str, part: Part) -> tuple[int, ...]:
    """The messages that a fact came from: those that share most of its words, and those that the model names and that
    share any. (A small model names all messages, and more.) Where no message shares a word, those that the model
    names; where it names none either, all: a purge of any of them must find the fact."""
    words = content_words(content)
    lines = [line for line in part.lines if line.fresh]
    shared = {line.number: len(words & frozenset(terms(line.text))) for line in lines}
    named = {number for number in fact.sources if number in shared}
    most = max(shared.values(), default=0)
    if most:
        near = [number for number, count in shared.items() if count and count * 2 >= most]
        named = {number for number in named if shared[number]} | {*near[-_MOST_SOURCES:]}
    return tuple(sorted(named)) or tuple(line.number for line in lines)


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
    own = Grounds(line.text for line in lines).terms
    theirs = frozenset(term for line in lines for term in terms(pasted_in(line))) - own
    origins += [Origin.OTHER] if theirs & frozenset(terms(told)) else []
    tainted = _tainted(part)
    return [*origins, tainted] if tainted else origins
