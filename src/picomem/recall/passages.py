"""The part of an episode that answers a question, cut to the room that there is for it. Pure.

An episode holds up to 1,500 characters of talk, of which one sentence may be the answer. Where all hits together are
larger than the budget, each large one is cut to the passage around its best sentence: the one that holds most of the
question. The room is shared so that small hits are whole and large ones equally long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from picomem.light_dataclass import dataclass, replace
from picomem.records.hit import Hit
from picomem.text.terms import is_cjk, query_terms, terms, terms_of_word, words_in
from picomem.text.tokens import count_tokens

LEAST = 40  # tokens of a passage; below that a hit is left out instead
_ACTIONS = 1 / 3  # of a hit's room, for what was done
_END = r"[.!?…][\"'”’)\]*`]*\s+|[。！？；]+|\n+"
_ELLIPSIS = "…"
_TRIES = 4  # a passage whose tokens are shorter than those around it is cut again

Marks = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Match:
    """Where a word of the question stands in a text, and the terms that it holds."""

    start: int
    end: int
    terms: tuple[str, ...]


def allowance(costs: Sequence[int], budget: int) -> int:
    """The most that one result may cost so that all of them fit a budget, if what costs less is left whole."""
    rest, places = budget, len(costs)
    for cost in sorted(costs):
        if cost * places > rest:
            return max(0, rest // places)
        rest -= cost
        places -= 1
    return max(costs, default=0)


def fitted(hit: Hit, weights: Mapping[str, float], room: int, overhead: int) -> Hit:
    """A hit whose text, actions and outcomes have about `room` tokens at most, besides its `overhead`."""
    if hit.tokens - overhead <= room:
        return hit
    done = _first((*hit.actions, *hit.outcomes), int(room * _ACTIONS))
    actions, outcomes = done[: len(hit.actions)], done[len(hit.actions) :]
    left = room - (count_tokens("\n".join(done)) if done else 0)
    text = passage(hit.text, weights, left)
    return replace(
        hit, text=text, actions=actions, outcomes=outcomes, tokens=overhead + room - left + count_tokens(text)
    )


def passage(text: str, weights: Mapping[str, float], room: int) -> str:
    """The part of a text, of about `room` tokens at most, around the sentence that holds most of the question's terms;
    `weights` says what each of them is worth."""
    whole = count_tokens(text)
    if whole <= room:
        return text
    matches = list(_matches(text, weights))
    characters = max(1, len(text) * room // whole)
    cut = text
    for _ in range(_TRIES):
        cut = _cut(text, _span(text, matches, weights, characters))
        cost = count_tokens(cut)
        if cost <= room:
            break
        characters = max(1, characters * room // (cost + 1))
    return cut


def marks(text: str, weights: Mapping[str, float]) -> Marks:
    """Return where the words of the question stand in a text: offsets of the first character and behind the last."""
    joined: list[tuple[int, int]] = []
    for match in _matches(text, weights):
        if joined and match.start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], match.end))
        else:
            joined.append((match.start, match.end))
    return tuple(joined)


def _first(lines: tuple[str, ...], room: int) -> tuple[str, ...]:
    kept: list[str] = []
    for line in lines:
        if count_tokens("\n".join([*kept, line])) > room:
            break
        kept.append(line)
    return tuple(kept)


def _matches(text: str, weights: Mapping[str, float]) -> Iterator[_Match]:
    is_unasked, has_cjk = weights.keys().isdisjoint, is_cjk(text)
    for at in words_in(text):
        start, word = at.start(), at[0]
        if has_cjk and is_cjk(word):
            yield from (
                _Match(start + place, start + place + len(part), (part,))
                for place in range(len(word))
                for part in (word[place : place + 2], word[place])
                if part in weights
            )
        elif not is_unasked(held := terms_of_word(word)):
            yield _Match(start, at.end(), tuple(term for term in held if term in weights))
    for string in weights:
        if " " in string:  # found as a whole, not by its words
            yield from (_Match(at.start(), at.end(), (string,)) for at in re.finditer(re.escape(string), text))


def _span(text: str, matches: Sequence[_Match], weights: Mapping[str, float], characters: int) -> tuple[int, int]:
    """From where to where: the best sentence, then the better of its neighbours as long as there is room."""
    sentences = list(_sentences(text))
    values = [_value(matches, weights, start, end) for start, end in sentences]
    best = first = last = max(range(len(sentences)), key=lambda number: (values[number], -number))
    start, end = sentences[first]
    if end - start > characters:
        return _inside(matches, weights, start, end, characters)
    while True:
        before = values[first - 1] if first > 0 else -1.0
        after = values[last + 1] if last + 1 < len(sentences) else -1.0
        fits_before = before >= 0 and sentences[last][1] - sentences[first - 1][0] <= characters
        fits_after = after >= 0 and sentences[last + 1][1] - sentences[first][0] <= characters
        prefers_after = (after, best - first) >= (before, last - best)  # of two alike, so that it stands in the middle
        if fits_after and (prefers_after or not fits_before):
            last += 1
        elif fits_before:
            first -= 1
        else:
            return sentences[first][0], sentences[last][1]


def _inside(
    matches: Sequence[_Match], weights: Mapping[str, float], start: int, end: int, characters: int
) -> tuple[int, int]:
    """A part of one long sentence: where most of the question stands, with some room before its first word."""
    starts = [match.start for match in matches if start <= match.start < end] or [start]
    best = max(starts, key=lambda at: (_value(matches, weights, at, at + characters * 3 // 4), -at))
    begin = max(start, min(best - characters // 4, end - characters))
    return begin, min(end, begin + characters)


def _value(matches: Sequence[_Match], weights: Mapping[str, float], start: int, end: int) -> float:
    held = {term for match in matches if start <= match.start < end for term in match.terms}
    return sum(weights[term] for term in held)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in re.finditer(_END, text):
        if text[start : end.end()].strip():
            yield start, end.end()
            start = end.end()
    if start < len(text):
        yield start, len(text)


def _cut(text: str, span: tuple[int, int]) -> str:
    start, end = span
    # Not within a word: its beginning or its end is left out with it.
    while 0 < start < end and text[start - 1].isalnum() and text[start].isalnum() and text[start].isascii():
        start += 1
    while start < end < len(text) and text[end - 1].isalnum() and text[end].isalnum() and text[end].isascii():
        end -= 1
    part = text[start:end].strip()
    return f"{_ELLIPSIS} " * (start > 0) + part + f" {_ELLIPSIS}" * (end < len(text))


# A long text opened at a passage: the lines around it, with the words of a question marked. Pure.

ROOM = 3_000  # characters of an excerpt; a shorter text is shown whole
_NEAR = 200_000  # characters on either side of a place that are looked through
_TOGETHER = 400  # characters within which words of a question count as standing together
_LINE = 300  # characters that may be added or left out so that an excerpt begins and ends with a line


@dataclass(frozen=True, slots=True)
class TextExcerpt:
    """A part of a text. `marks` are offsets in it; the counts are of lines left out, a line cut in two included."""

    text: str
    marks: Marks
    earlier_lines: int
    later_lines: int


def excerpt(text: str, query: str, place: int = 0, *, is_whole: bool = False) -> TextExcerpt:
    """The part of a text where most of the query's words stand together, of several the nearest to `place`; where
    there is no query, the part at `place`."""
    weights = dict.fromkeys(query_terms(query), 1.0)
    first, last = max(0, place - _NEAR), place + _NEAR
    marked = tuple((first + start, first + end) for start, end in marks(text[first:last], weights)) if weights else ()
    if is_whole or len(text) <= ROOM:
        return TextExcerpt(text, marked, 0, 0)
    start = _place_of_most(text, marked, place) if marked else place
    begin = _line_begin(text, max(0, min(start - ROOM // 4 * bool(marked), len(text) - ROOM)))
    end = _line_end(text, min(len(text), begin + ROOM))
    return _cut_at_lines(text, begin, end, marked)


def best_match(texts: Iterable[str], query: str) -> int | None:
    """The place of the text that holds most of the query's words, of several the first; None where none holds one."""
    asked = frozenset(query_terms(query))
    held = [len(asked.intersection(terms(text[:_NEAR]))) for text in texts] if asked else []
    return held.index(max(held)) if any(held) else None


def _place_of_most(text: str, marked: Marks, place: int) -> int:
    """Return where the passage begins that holds most of the words."""
    words = [frozenset(terms(text[start:end])) for start, end in marked]
    held: dict[str, int] = {}
    best, passage, last = (0, 0), place, 0
    for first, (start, _) in enumerate(marked):
        while last < len(marked) and marked[last][0] < start + _TOGETHER:
            for term in words[last]:
                held[term] = held.get(term, 0) + 1
            last += 1
        if (worth := (len(held), -abs(start - place))) > best:
            best, passage = worth, start
        _take_out(held, words[first])
    return passage


def _take_out(held: dict[str, int], left: frozenset[str]) -> None:
    for term in left:
        held[term] -= 1
        if not held[term]:
            del held[term]


def _line_begin(text: str, at: int) -> int:
    before = text.rfind("\n", max(0, at - _LINE), at) + 1
    return before if before else 0 if at <= _LINE else at


def _line_end(text: str, at: int) -> int:
    after = text.find("\n", at, at + _LINE)
    return after if after >= 0 else len(text) if at + _LINE >= len(text) else at


def _cut_at_lines(text: str, begin: int, end: int, marked: Marks) -> TextExcerpt:
    is_cut_before = begin > 0 and text[begin - 1] != "\n"
    is_cut_behind = end < len(text) and text[end] != "\n"
    ahead = _ELLIPSIS * is_cut_before
    shift = len(ahead) - begin
    return TextExcerpt(
        text=ahead + text[begin:end] + _ELLIPSIS * is_cut_behind,
        marks=tuple((start + shift, stop + shift) for start, stop in marked if begin <= start and stop <= end),
        earlier_lines=text.count("\n", 0, begin) + is_cut_before,
        later_lines=text.count("\n", end) + is_cut_behind,
    )
