"""Finds what a person asks outright to be remembered, or to be forgotten. Pure, except for the words that it reads.

Only a message of one line that the person typed asks for anything (`whose_words.typed_line`): in a longer one nothing
shows whether they typed it or pasted it. There is one exception, a line that ends with its colon ("Remember:") and the
paragraph below it. A request begins a sentence, behind words of courtesy, or ends one ("…, remember that"). So what
stands behind a colon or in a quotation is none, and neither is a question, unless it asks politely.

What was only said, as a preference or a decision, may become a suggestion (memory/suggestions.py). The words are data,
one file a language (`request_words/`). Of a request the words that only ask are dropped, and those with a meaning kept
("from now on").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from picomem.light_dataclass import dataclass
from picomem.provenance.whose_words import BLANK, Span, typed_line, without_fences, without_others
from picomem.text.terms import is_cjk, terms

# The sentences that a person says in a message: no code, no quoted lines, nothing that others wrote. Pure.

LONGEST_TEXT = 4_000  # characters; a longer text is a document with, perhaps, words around it: only its ends are read
_END = 1_000
_STOP = r"[.!?]+(?=[\s\x00]|$)|[。！？]+|\n+"
BULLET = r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+"
_ABBREVIATION = r"(?:\b\w\.\w|(?<!\S)[A-Za-z]|^\s*\d{1,2})$"
_WRAPPED_AT = 60  # a line at least so long that goes on in lower case was wrapped by an editor


def own_sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """The person's sentences, each with its place. Words that they quote within a sentence stay in it."""
    said = without_fences(without_others(text))
    for start, end in _ends(text):
        for first, last in sentence_spans(said[start:end]):
            sentence = text[start + first : start + last].strip()
            if sentence and BLANK not in said[start + first : start + last]:
                yield start + first, start + last, sentence


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences, their stops included, blanks and list marks before them left out."""
    start = 0
    while start < len(text):
        stop = _next_stop(text, start)
        mark = re.match(rf"\s*(?:{BULLET})?", text[start:stop])
        first = start + (mark.end() if mark else 0)
        if first < stop:
            yield first, stop
        start = stop


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks."""
    return sentence.rstrip(" \t\n\"'”’)").endswith(("?", "？"))


def _ends(text: str) -> list[tuple[int, int]]:
    """All of the text, or a long one's first and last part, without the sentences that are cut there."""
    if len(text) <= LONGEST_TEXT:
        return [(0, len(text))]
    stops = [match.end() for match in re.finditer(r"[.!?](?=\s)|[。！？\n]", text[:_END])]
    tail = len(text) - _END
    stop = re.search(r"[.!?]\s|[。！？\n]", text[tail:])
    return [(0, stops[-1] if stops else 0), (tail + stop.end() if stop else len(text), len(text))]


def _next_stop(text: str, start: int) -> int:
    for match in re.finditer(_STOP, text[start:]):
        at, end = start + match.start(), start + match.end()
        if match[0] == "\n":
            goes_on = match.start() >= _WRAPPED_AT and text[end : end + 1].islower()
        else:
            goes_on = match[0] == "." and re.search(_ABBREVIATION, text[max(start, at - 8) : at])
        if not goes_on:
            return end
    return len(text)


LONGEST_CONTENT = 500
_WORDS = Path(__file__).parent / "request_words"
_COLON = re.compile(r"[:：](?!//|\d)")
_BETWEEN = r"[\s,，.:：!！;；、—–-]*"
_FEWEST_WORDS, _FEWEST_CJK = 2, 3
_SAID_OF_IT = 1 / 3  # of a memory's words, by which a request to forget names it
_JOINED = re.compile(r"[_`\"“”„'‘’-]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing to remember: a clean statement, and where it was asked for.

    `text[start:end]` is the span that asks. `is_outright`: it says "remember", and not only "from now on".
    """

    content: str
    start: int
    end: int
    is_outright: bool


class _Cues(NamedTuple):
    courtesy: re.Pattern[str]
    remembering: re.Pattern[str]  # the cue, and what it asks to be remembered
    behind: re.Pattern[str]  # what is to be remembered, and the cue at the end
    lasting: re.Pattern[str]  # a cue that is part of what is to be remembered
    lasting_behind: re.Pattern[str]
    beginning: re.Pattern[str]
    asks_politely: re.Pattern[str]
    idle: re.Pattern[str]
    forgetting: re.Pattern[str]
    beside_forgotten: frozenset[str]
    any_cue: re.Pattern[str]  # searched first: most texts hold none


def find_requests(text: str) -> list[Candidate]:
    """The requests in one message of a person's, in order and without overlap."""
    cues = _cues()
    if len(text) > 100_000 or not cues.any_cue.search(_folded(text)):
        return []
    return list(_introduced(text, cues)) or list(_in_line(text, *typed_line(text), cues))


def asks_to_forget(text: str, key: str, content: str) -> bool:
    """Return whether a typed line asks for a memory to be forgotten, in a sentence that names it and little else."""
    start, end = typed_line(text)
    name, about = frozenset(terms(key.replace("_", " "))), frozenset(terms(f"{key.replace('_', ' ')} {content}"))
    cues = _cues()
    line = _folded(text[start:end])
    sentences = [line[first:last] for first, last in sentence_spans(line)]
    orders = [order[1] for sentence in sentences if (order := cues.forgetting.match(sentence)) and len(sentences) <= 2]
    for order in orders:
        said = frozenset(terms(_JOINED.sub(" ", order)))
        named = bool(name and name <= said) or len(said & about) >= max(1, _SAID_OF_IT * len(about))
        if named and (is_cjk(order) or said <= about | cues.beside_forgotten):
            return not is_question(line) or bool(cues.asks_politely.match(line))
    return False


def statement(said: str) -> str:
    """A sentence as it is kept: one line, without courtesy or a full stop."""
    lead = _cues().courtesy.match(_folded(said))
    return _clean(said[lead.end() :] if lead and lead.end() < len(said) else said)


def without_beginning(sentence: str) -> str:
    """A sentence without the words that say since when it is so ("from now on")."""
    return _cues().beginning.sub("", _folded(sentence))


def _introduced(text: str, cues: _Cues) -> Iterator[Candidate]:
    """The paragraph below a line that only asks for it to be remembered."""
    head, _, rest = text.strip().partition("\n")
    match = cues.remembering.match(_folded(head)) if head.endswith((":", "：")) else None
    if match is not None and not match["said"] and not re.search(r"\n[ \t]*\n", rest.strip()):
        start = text.index(head)
        yield from _made(rest, start, start + len(text.strip()), is_outright=True)


def _in_line(text: str, start: int, end: int, cues: _Cues) -> Iterator[Candidate]:
    line = _folded(text[start:end])
    before: Span | None = None
    for first, last in sentence_spans(line):
        sentence = line[first:last].rstrip()
        asked = _asked(sentence, cues)
        span = (start + first, start + first + len(sentence))
        if asked is not None:
            (begin, finish), is_outright = asked
            said = (span[0] + begin, span[0] + finish) if begin < finish else before
            if said is not None:
                yield from _made(text[slice(*said)], min(said[0], span[0]), span[1], is_outright=is_outright)
        elif _COLON.search(sentence):  # what stands behind it may be a quotation
            return
        before = None if is_question(sentence) else span


def _asked(sentence: str, cues: _Cues) -> tuple[Span, bool] | None:
    """The part of a sentence that it asks to be remembered, an empty one where it means the sentence before, and
    whether it says so outright; None where it asks for nothing."""
    asks = is_question(sentence)
    if asks and not cues.asks_politely.match(sentence):
        return None
    if behind := cues.behind.search(sentence):
        return (0, behind.start()), True
    lead = cues.courtesy.match(sentence)
    if cues.idle.match(sentence, lead.end() if lead else 0):
        return None
    if match := cues.remembering.match(sentence):
        return match.span("said"), True
    if match := None if asks else cues.lasting.match(sentence):
        return match.span("said"), False
    return ((0, len(sentence)), False) if not asks and cues.lasting_behind.search(sentence) else None


def _made(said: str, start: int, end: int, *, is_outright: bool) -> Iterator[Candidate]:
    content = _clean(said)
    ideographs = len(re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", content))
    if ideographs >= _FEWEST_CJK or len(re.findall(r"\w+", content)) + ideographs >= _FEWEST_WORDS:
        yield Candidate(content, start, end, is_outright)


def _clean(content: str) -> str:
    """One line, or a line and its list; no remains of a cue, no full stop; at most 500."""
    content = content.strip(" \t\n,，:：;；—–-") if "\n" not in content.strip() else content.strip()
    if re.search(rf"(?m)^{BULLET}", content):
        content = "\n".join(" ".join(line.split()) for line in content.splitlines() if line.strip())
    else:
        content = " ".join(content.split()).rstrip(" .!?。！？,，;；:：")
    if re.match(r"[a-z]+(?:'[a-z]+)?(?=[\s,:]|$)", content):
        content = content[0].upper() + content[1:]
    return content if len(content) <= LONGEST_CONTENT else _cut(content)


def _cut(content: str) -> str:
    """The longest head that ends where a line, a clause or at least a word does."""
    head = content[: LONGEST_CONTENT - 1]
    for stop in ("\n", "; ", "；", ", ", "，", " "):
        at = head.rfind(stop)
        if at >= LONGEST_CONTENT // 2:
            return head[:at].rstrip() + "…"
    return head + "…"


def _folded(text: str) -> str:
    """The text as the words of the files are written, of the same length."""
    folded = text.replace("’", "'").replace("‘", "'").lower()
    return folded if len(folded) == len(text) else text


@cache
def _cues() -> _Cues:
    import tomllib

    words: dict[str, list[str]] = {}
    for file in sorted(_WORDS.glob("*.toml")):
        for name, phrases in tomllib.loads(file.read_text("utf-8")).items():
            words.setdefault(name, []).extend(phrases)
    lead = rf"(?:(?:{_any(words['courtesy'] + words['asking'])}){_BETWEEN}){{0,6}}"
    that = rf"(?:{_BETWEEN}(?:{_any(words['that'])})){{0,2}}"
    lasting, since = _any(words["since"] + words["always"]), _any(words["since"])
    endings = "|".join(words["idle_endings"])
    anywhere = _any(word for word in words["behind"] if is_cjk(word))  # in these languages the request ends a sentence
    return _Cues(
        courtesy=re.compile(lead),
        remembering=re.compile(
            rf"{lead}(?:(?:{_any(words['remember'])}){that}|(?:{_any(words['note'])}){that}[ \t]*[:：])"
            r"[\s,，:：]*(?P<said>.*)\Z",
            re.DOTALL,
        ),
        behind=re.compile(rf"(?:(?:^|[,，;；—–]\s*){lead}(?:{_any(words['behind'])})|(?:{anywhere}))[\s.!。！?？]*\Z"),
        lasting=re.compile(
            rf"{lead}(?P<said>(?:{lasting})(?!{_BETWEEN}[^\W_]+(?:{endings})(?!\w))\s*[,，]?\s*\S.*)\Z", re.DOTALL
        ),
        lasting_behind=re.compile(rf"\w[\s,，]+(?:{since})[\s.!。！]*\Z"),
        beginning=re.compile(rf"(?<!\w)(?:{since})[\s,，]*"),
        asks_politely=re.compile(rf"{lead}(?:{_any(words['asking'])})"),
        idle=re.compile(_any(words["idle"])),
        forgetting=re.compile(rf"{lead}(?:{_any(words['forget'])}){_BETWEEN}(.*)\Z", re.DOTALL),
        beside_forgotten=frozenset(terms(" ".join(words["forget_beside"] + words["courtesy"]))),
        any_cue=re.compile(
            "|".join(
                map(
                    re.escape,
                    (word for name in ("remember", "note", "behind", "since", "always") for word in words[name]),
                )
            )
        ),
    )


def _any(phrases: Iterable[str]) -> str:
    """A pattern for any of the phrases, the longest first; one of letters ends where its last word does."""
    ordered = sorted(phrases, key=len, reverse=True)
    ends = ("" if is_cjk(phrase) or not phrase[-1].isalpha() else r"(?!\w)" for phrase in ordered)
    return "|".join(re.escape(phrase) + end for phrase, end in zip(ordered, ends, strict=True))
