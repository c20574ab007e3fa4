"""What was found, as it is handed out: hits, each with the reason, the pointer and the citation. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from picomem.clock import Micros, to_datetime
from picomem.coded_text import CodedText, all_of
from picomem.light_dataclass import dataclass, replace
from picomem.recall.lexical_search import WordMatches
from picomem.recall.rank import Evidence
from picomem.records.episode import Episode, Transcript, begins_outcome, form_answers
from picomem.records.hit import Hit
from picomem.records.kinds import Origin
from picomem.records.transcript import with_questions
from picomem.text.terms import is_cjk, says_little, terms, terms_of_word, words_in, written_as
from picomem.text.tokens import count_tokens

if TYPE_CHECKING:
    from picomem.policy.redact import Redactor
    from picomem.records.memory import Memory
    from picomem.records.session import Message
    from picomem.text.temporal.event_times import EventTime

_MOST_ACTIONS = 8  # that a hit shows
_MOST_OUTCOMES = 4
HIT_OVERHEAD = 24  # tokens of a hit's key, score, date and citation, which are handed out with its text


@dataclass(frozen=True, slots=True)
class SaidIn:
    """Where a memory was said: for a person, and the turns of a transcript where it was one."""

    citation: str = ""
    transcript: str = ""
    turns: tuple[int, int] | None = None


def memory_hit(
    memory: Memory,
    score: float,
    why: str,
    *,
    context: bool,
    said_in: SaidIn,
    remark: str = "",
    parts: tuple[tuple[str, float], ...] = (),
) -> Hit:
    """A memory as a hit; `context` says whether what stands around it is handed out as well."""
    return Hit(
        source="memory",
        id=memory.id,
        text=memory.content,
        score=score,
        why=why,
        origin=memory.origin,
        tokens=memory.tokens + HIT_OVERHEAD,
        at=memory.valid_from,
        key=memory.key,
        kind=memory.kind.value,
        context=memory.context if context else "",
        importance=memory.importance,
        tags=memory.tags,
        session=memory.scope.session,
        project=memory.scope.project,
        transcript=said_in.transcript,
        turns=said_in.turns,
        citation=said_in.citation,
        remark=remark,
        parts=parts,
    )


def episode_hit(
    episode: Episode,
    transcript: Transcript | None,
    score: float,
    why: str,
    words: AbstractSet[str] | None = None,
    event: EventTime | None = None,
) -> Hit:
    """An episode as a hit, with the pointer that opens it. Of what was done in it the hit has what holds one of the
    `words` of a question, and of what came of it as well; all where there is no question. Where it holds nothing but
    what came of commands, the hit is text of a tool."""
    text, origin = episode.summary or with_questions(episode.preview, form_answers(episode)), episode.origin
    tokens = episode.tokens if text == episode.preview or episode.summary else count_tokens(text)
    actions, outcomes = tuple(episode.actions.splitlines()), tuple(episode.outcomes.splitlines())
    if words is not None:
        fitting = _fitting(actions, words)
        actions = (fitting if text else fitting or actions)[:_MOST_ACTIONS]
        fitting = _fitting_outcomes(outcomes, words)
        outcomes = (fitting if text or actions else fitting or outcomes)[:_MOST_OUTCOMES]
    if not text:
        text, actions = "\n".join(actions), ()
    if not text:
        text, outcomes, origin = "\n".join(outcomes), (), Origin.TOOL
    done = "\n".join((*actions, *outcomes))
    return Hit(
        source="episode",
        id=episode.id,
        text=text,
        actions=actions,
        outcomes=outcomes,
        score=score,
        why=why,
        origin=origin,
        tokens=tokens + HIT_OVERHEAD + (count_tokens(done) if done else 0),
        at=episode.started_at,
        key=episode.key,
        kind=episode.category,
        importance=episode.importance,
        role=episode.role,
        session=transcript.session if transcript else "",
        project=transcript.project if transcript else "",
        branch=episode.branch,
        tags=episode.tags,
        transcript=transcript.path if transcript else "",
        turns=(episode.first_turn, episode.last_turn),
        citation=citation(episode, transcript),
        event=(event.since, event.until) if event else None,
        abandoned=transcript is not None and transcript.took_back(episode.first_turn),
    )


def _fitting(lines: tuple[str, ...], words: AbstractSet[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if not words.isdisjoint(terms(line)))


def _fitting_outcomes(lines: tuple[str, ...], words: AbstractSet[str]) -> tuple[str, ...]:
    """The lines of the outcomes of which one fits: an error says little without the command that it ended."""
    outcomes: list[list[str]] = []
    for line in lines:
        if begins_outcome(line) or not outcomes:
            outcomes.append([])
        outcomes[-1].append(line)
    return tuple(line for outcome in outcomes if _fitting(tuple(outcome), words) for line in outcome)


def citation(episode: Episode, transcript: Transcript | None) -> str:
    """Return where an episode stands, for a person: `claude-code 8463c716 turn 12, 2026-02-10`; and if it was taken
    back."""
    if transcript is None:
        return CodedText("citation.gone")
    where, first = f"{transcript.host} {transcript.session[:8] or transcript.id[:8]}", episode.first_turn + 1
    if episode.first_turn == episode.last_turn:
        cited = CodedText("citation.turn", where=where, turn=str(first))
    else:
        cited = CodedText("citation.turns", where=where, turns=f"{first}–{episode.last_turn + 1}")
    if episode.started_at is not None:
        cited = CodedText("citation.dated", citation=cited, day=_day(episode.started_at))
    return CodedText("citation.abandoned", citation=cited) if transcript.took_back(episode.first_turn) else cited


def message_citation(message: Message) -> str:
    """Return where a message of a conversation with PicoBot stands: `picobot 01a20090 message 12, 2026-02-10`."""
    cited = CodedText("citation.message", where=f"picobot {message.session_id[:8]}", turn=str(message.seq))
    return CodedText("citation.dated", citation=cited, day=_day(message.created_at))


def _day(at: Micros) -> str:
    return f"{to_datetime(at):%Y-%m-%d}"


def why(doc: int, evidence: Evidence, words: WordMatches, asked: Mapping[str, str], text: str) -> str:
    """The reasons for a hit, in a few words. `asked` are the question's words by their terms, `text` is the hit's:
    terms are shown as somebody wrote them."""
    reasons = []
    if evidence.words:
        heaviest = sorted(evidence.words, key=lambda term: -evidence.words[term])[:5]
        near = {term: words.nearly[term][doc] for term in evidence.words if doc in words.nearly.get(term, ())}
        own = [term for term in evidence.words if term not in near]
        named = [name for term in heaviest for name in _named(term, near, own, asked, text)]
        reasons.append(CodedText("why.contains" if words.substring else "why.words", words=tuple(dict.fromkeys(named))))
    if evidence.context > 0:
        reasons.append(CodedText("why.neighbours"))
    if evidence.meaning >= 0.5:
        reasons.append(CodedText("why.meaning"))
    if evidence.event:
        reasons.append(CodedText("why.tells_of_time"))
    elif evidence.in_window:
        reasons.append(CodedText("why.from_time"))
    if not reasons:
        weak = "meaning" if evidence.meaning > 0 else "session" if evidence.session else "no_word"
        reasons.append(CodedText(f"why.{weak}"))
    return all_of(*reasons)


def _named(
    term: str, near: Mapping[str, Sequence[str]], own: Sequence[str], asked: Mapping[str, str], text: str
) -> Sequence[str]:
    """How a reason names a term: the word, or the other one in its place with what it stands for; of Chinese the pieces
    of the question that the hit holds. `near` has the terms of other words, `own` are terms that the hit holds."""
    if term in near:
        replaced = [one for one in asked if near.get(one) == near[term]]
        return [CodedText("why_word.near", word=_written(text, near[term]), asked=_asked_phrase(replaced, asked))]
    run = asked.get(term, term)
    if not is_cjk(run):
        return [asked_word(term, asked)]
    pairs = [held for held in own if asked.get(held, held) == run]
    return _pieces(run, [pair for pair in pairs if not says_little(pair)] or pairs)


def _asked_phrase(terms: Sequence[str], asked: Mapping[str, str]) -> str:
    """The words of the question behind some terms of it."""
    if is_cjk(terms[0]):
        return "".join(_pieces(asked[terms[0]], terms))
    return " ".join(asked_word(term, asked) for term in terms)


def _written(text: str, terms: Sequence[str]) -> str:
    """The word or phrase of a text that gives these terms; a Chinese word is put together from its pairs."""
    if is_cjk(terms[0]):
        return terms[0] + "".join(pair[-1] for pair in terms[1:])
    return " ".join(_word_in(text, term) or term for term in terms)


def _pieces(run: str, pairs: Collection[str]) -> list[str]:
    """The pieces of a run of characters that pairs of it cover, for a pair crosses the borders of words."""
    starts = [(start, start + len(pair)) for pair in pairs for start in _starts(run, pair)]
    covered = {place for start, end in starts for place in range(start, end)}
    marked = "".join(character if place in covered else " " for place, character in enumerate(run))
    return marked.split() or list(pairs)


def _starts(run: str, pair: str) -> list[int]:
    return [place for place in range(len(run)) if run.startswith(pair, place)]


def asked_word(term: str, asked: Mapping[str, str]) -> str:
    """The word of the question behind a term, such as “deploys” for “deploi”; of a longer word only the part."""
    word = asked.get(term, term)
    if is_cjk(word):
        return term
    return word if list(asked.values()).count(word) == 1 else written_as(term, word)


def _word_in(text: str, term: str) -> str | None:
    """The word of a text behind a term, or the part of one; None where it has no such word."""
    word = next((word[0] for word in words_in(text) if term in terms_of_word(word[0])), None)
    return word if word is None or is_cjk(word) or len(terms_of_word(word)) < 2 else written_as(term, word)


def spelling_warnings(
    spelled: Mapping[str, Collection[str]], asked: Mapping[str, str], hits: Sequence[Hit]
) -> Iterator[str]:
    """A warning for each word of a question that was found in near spellings alone: these as they stand in the hits.
    `spelled` has the terms of the spellings by the question's terms, `asked` the question's words by their terms."""
    texts = [text for hit in hits for text in (hit.text, hit.key, *hit.actions, *hit.outcomes)]
    for term, spellings in spelled.items():
        words = {word.casefold(): word for text in texts for near in spellings if (word := _word_in(text, near))}
        if words:
            looked_for = tuple(sorted(words.values()))
            yield CodedText("warning.spelled", name=asked_word(term, asked), words=looked_for)


def redacted(hit: Hit, redactor: Redactor) -> Hit:
    """The hit, redacted again for texts that are older than a rule."""
    text, context = redactor.redact(hit.text).text, redactor.redact(hit.context).text
    actions = tuple(redactor.redact(action).text for action in hit.actions)
    outcomes = tuple(redactor.redact(line).text for line in hit.outcomes)
    if (text, context, actions, outcomes) == (hit.text, hit.context, hit.actions, hit.outcomes):
        return hit
    return replace(hit, text=text, context=context, actions=actions, outcomes=outcomes)
