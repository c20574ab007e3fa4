"""Finds what a user asks to be remembered in the user's messages; pure, without a model.

For text of origin `user` only: the same words in a tool's result or on a web page are not a request. Nor are those of
a mail that the user pasted, or of another agent's message (`pasted_text`).

The steps:

1. A long text is a pasted document with, perhaps, a request around it: only its two ends are searched.
2. A shadow of the text is made, of the same length, so that positions are valid in both. Letters are folded
   (traditional characters, curly apostrophes), and text that the user shows rather than says (code, quotes, quoted
   lines) is blanked. Cues are searched in the shadow; content is cut from the text.
3. The shadow is split into sentences. A cue counts at a sentence's start, after words of politeness ("ok, and
   please"); a strong cue also within one, unless the words before it make it a condition, a report or a
   denial. A sentence gives at most one candidate, by the first cue of the table (`request_cues`) that fits.
4. The sentence ends where it turns to another request ("…, by the way, could you").
5. The rest must be complete by itself ("let's go with that" is not) and must last ("remember that this line
   is wrong" does not). The cue is dropped if it is only a cue, and kept if it is part of the meaning.

A candidate still passes redaction and the write gate like anything else that is offered to memory. Patterns hold no
nested repeats and run on windows of a few thousand characters; only fences are searched in all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from picomem.light_dataclass import dataclass, replace
from picomem.policy.pasted_text import without_fences, without_pasted
from picomem.policy.request_cues import ASIDE, CUES, FILLER, SPOILER, Cue, Keep
from picomem.records.kinds import Kind
from picomem.text.late_pattern import late_pattern
from picomem.text.memory_keys import suggest_key

LONGEST_TEXT = 4_000  # characters; of a longer text only the ends are read
LONGEST_CONTENT = 500
_END = 1_000

_IMPORTANCE = {Kind.INSTRUCTION: 0.8, Kind.DECISION: 0.7, Kind.PREFERENCE: 0.7, Kind.FACT: 0.6}
_ASKED_FOR = 0.75  # at least, when the user said "remember"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing to remember: a clean statement, and where it was asked for.

    `text[start:end]` is the span that asks, cue included; `cue` is the words that triggered it. `key` is
    valid and comes from the content. `importance` is 0 to 1. `outright` says that it was asked for explicitly.
    """

    content: str
    kind: Kind
    key: str
    importance: float
    start: int
    end: int
    cue: str
    outright: bool = True


def find_requests(text: str) -> list[Candidate]:
    """The requests in one message of the user's, in order and without overlap; at most one a sentence."""
    requests: list[Candidate] = []
    cues = _possible(text)
    if not cues:
        return requests
    said = without_fences(without_pasted(text))
    for start, end in _ends(text):
        part = _Part(text[start:end], _shadow(said[start:end]))
        before: tuple[int, int] | None = None
        free = 0
        for first, last in _sentences(part.shadow):
            candidate = _candidate(part, first, last, before, cues)
            if candidate and candidate.start >= free:
                free = candidate.end
                requests.append(replace(candidate, start=start + candidate.start, end=start + candidate.end))
            before = (first, last)
    return requests


def own_sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """The sentences that the user says, each with its place: no code, no quoted lines, nothing that others wrote. Words
    that the user quotes within a sentence stay in it."""
    said = without_fences(without_pasted(text))
    for start, end in _ends(text):
        part = said[start:end]
        for first, last in _sentences(_shadow(part)):
            sentence = part[first:last]
            if _BLANK not in sentence and sentence.strip():
                yield start + first, start + last, text[start + first : start + last].strip()


def statement(said: str) -> str:
    """A sentence as it is kept: one line, without courtesy, remains of a cue, or a full stop."""
    lead = _lead(said)
    return _clean(said[lead:] if lead < len(said) else said)


# ----------------------------------------------------------------------------------- the text and its shadow

_FOLD = str.maketrans("’‘記請後從現開們決歡習慣個這別準備錄", "''记请后从现开们决欢习惯个这别准备录")
_BLANK = "\x00"
# What is shown and not said, each with the signs without which there is none.
_SHOWN = (
    (">", late_pattern(r"(?m)^[ \t]{0,3}>.*$")),
    ("`", late_pattern(r"`[^`\n]{1,500}`")),
    ('"“「『', late_pattern(r"\"[^\"\n]{1,800}\"|“[^“”\n]{1,800}”|「[^「」\n]{1,800}」|『[^『』\n]{1,800}』")),
    ("'", late_pattern(r"(?<!\w)'[^'\n]{1,300}'(?!\w)")),
)


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    shadow: str


def _shadow(text: str) -> str:
    shadow = text.translate(_FOLD)
    for signs, shown in _SHOWN:
        if any(sign in shadow for sign in signs):
            shadow = shown.sub(_blanked, shadow)
    return shadow


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", _BLANK, match[0])


def _ends(text: str) -> list[tuple[int, int]]:
    """All of the text, or a long one's first and last part, without the sentences that are cut there."""
    if len(text) <= LONGEST_TEXT:
        return [(0, len(text))]
    stops = [match.end() for match in re.finditer(r"[.!?](?=\s)|[。！？\n]", text[:_END])]
    tail = len(text) - _END
    stop = re.search(r"[.!?]\s|[。！？\n]", text[tail:])
    return [(0, stops[-1] if stops else 0), (tail + stop.end() if stop else len(text), len(text))]


_STOP = late_pattern(r"[.!?]+(?=[\s\x00)]|$)|[。！？]+|\n+")
_BULLET = r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+"
_MARK = late_pattern(rf"\s*(?:{_BULLET})?")
_ABBREVIATION = late_pattern(r"(?i)(?:\b(?:e\.g|i\.e|vs|etc|dr|mr|mrs|ms|no|approx|st)|^\s*\d{1,2})$")
_WRAPPED_AT = 60  # a line at least so long that goes on in lower case was wrapped by an editor


def _sentences(shadow: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences, their stops included, blanks and list marks before them left out."""
    start = 0
    while start < len(shadow):
        stop = _next_stop(shadow, start)
        mark = _MARK.match(shadow, start, stop)
        first = mark.end() if mark else start
        if first < stop:
            yield first, stop
        start = stop


def _next_stop(shadow: str, start: int) -> int:
    for match in _STOP.finditer(shadow, start):
        at, end = match.span()
        if match[0] == "\n":
            goes_on = at - start >= _WRAPPED_AT and shadow[end : end + 1].islower()
        else:
            goes_on = match[0] == "." and _ABBREVIATION.search(shadow[max(start, at - 8) : at])
        if not goes_on:
            return end
    return len(shadow)


# -------------------------------------------------------------------------------------------------- the cues


# `re` keeps compiled patterns too, but asking it costs more than most of these matches do.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _inner(within: str, pattern: str) -> re.Pattern[str]:
    """A cue that stands further in, behind what may precede it."""
    return re.compile(f"{within}(?P<cue>{pattern})", re.IGNORECASE)


_GATES = tuple(dict.fromkeys(gate for cue in CUES for gate in cue.gates))


def _possible(text: str) -> list[Cue]:
    """The cues of the table that may stand in this text: of most texts none, which is all that is read of them."""
    folded = text.lower() if text.isascii() else text.translate(_FOLD).lower()
    seen = {gate for gate in _GATES if gate in folded}
    return [cue for cue in CUES if not seen.isdisjoint(cue.gates)] if seen else []


def _cue_in(sentence: str, cues: list[Cue]) -> tuple[Cue, re.Match[str]] | None:
    """The first of these cues that counts in this sentence."""
    lead = _lead(sentence)
    question = _asks(sentence)
    for cue in cues:
        for at in _places(cue, sentence, lead):
            match = _compiled(cue.pattern).match(sentence, at)
            if match is None or (cue.never and _compiled(cue.never).match(sentence[match.end() :])):
                continue
            if not question or (cue.asks and re.match(r"(?:can|could|would|will) you\b", match[0], re.IGNORECASE)):
                return cue, match
    return None


def _places(cue: Cue, sentence: str, lead: int) -> Iterator[int]:
    """The possible positions of the cue in a sentence: at its start, and for a strong one also further in."""
    yield lead
    if cue.within is not None:
        inner = _inner(cue.within, cue.pattern).search(sentence, lead)
        if inner and not _compiled(SPOILER).search(sentence[: inner.start("cue")]):
            yield inner.start("cue")


def _lead(sentence: str) -> int:
    match = _compiled(FILLER).match(sentence)
    return match.end() if match else 0


_NOD = r"(?i)[,，]? ?\b(?:ok|okay|right|please|got it)[?]\s*$|[,，](?:好吗|好吧|可以吗|行吗|好不好)[?？]\s*$"


def _asks(sentence: str) -> bool:
    """A question, but not one that only wants a nod ("…, ok?")."""
    ends_so = re.search(r"[?？]\s*$", sentence) is not None
    return ends_so and re.search(_NOD, sentence) is None


# ----------------------------------------------------------------------------------------------- the content


def _candidate(part: _Part, first: int, last: int, before: tuple[int, int] | None, cues: list[Cue]) -> Candidate | None:
    """The request that the sentence at `first`…`last` makes, if it makes one."""
    sentence = part.shadow[first:last]
    if aside := _compiled(ASIDE).search(sentence, _lead(sentence)):
        last = first + aside.start()
        sentence = part.shadow[first:last]
    cue_match = _cue_in(sentence, cues)
    if cue_match is None:
        return None
    cue, match = cue_match
    start, end = first + match.start(), _content_end(part.shadow, last)
    if cue.keep is Keep.BEFORE:
        said = (first + _lead(sentence), start) if match.start() > _lead(sentence) else before
        if said is None or _asks(part.shadow[slice(*said)]):
            return None
        start, end, content = said[0], last, part.text[slice(*said)]
    elif cue.keep is Keep.WHOLE:
        start = first + _lead(sentence)
        content = part.text[start:end]
    elif cue.keep is Keep.LED:
        led = re.sub(r"(?i)(,? please)?[, ]*$", "", match[0])
        content = f"{led}, {part.text[first + match.end() : end]}"
    else:
        begin = match.end() if cue.keep is Keep.AFTER else match.start()
        begin = match.start("from") if "from" in match.re.groupindex else begin
        content = part.text[first + begin : end]
    return _made(part, content, cue, match[0], start, end)


# It points at the moment or at something on the screen; nobody needs it later.
_PASSING = (
    r"(?i)\b(?:in|on|of|at|from|to) this (?:line|function|file|loop|block|test|case|snippet|example|diff|commit|"
    r"message|sentence|paragraph|variable|bracket)\b|\b(?:right now|at the moment|just this once|"
    r"for this (?:one|time|task|session)|not \w+ (?:this|that|it) (?:now|today|yet))\b|这一?行|这里|现在就|马上|"
    r"待会|一会儿|稍后|刚才"
)


def _made(part: _Part, content: str, cue: Cue, words: str, start: int, end: int) -> Candidate | None:
    content = _clean(content)
    if not _stands_alone(content) or re.search(_PASSING, content):
        return None
    kind = cue.kind or kind_of(content)
    importance = max(_IMPORTANCE[kind], _ASKED_FOR if cue.asks else 0.0)
    end = start + len(part.text[start:end].rstrip())
    said = words.strip(" ,.:：，!\n")
    return Candidate(content, kind, _key(content, kind), importance, start, end, said, outright=cue.asks)


def _content_end(shadow: str, last: int) -> int:
    """The end of content that starts in a sentence: a colon includes the list or the sentence after it."""
    if not re.search(r"[:：]\s*$", shadow[max(0, last - 8) : last]):
        return last
    items = re.match(rf"(?:{_BULLET}[^\n]*(?:\n|$))+", shadow[last:])
    if items:
        return last + items.end()
    return _next_stop(shadow, last) if shadow[last : last + 1] not in ("", _BLANK) else last


_TAIL = (
    r"(?i)[\s,，—(-]*\b(?:please|thanks|thank you|ok|okay|got it|alright|right|for (?:the future|"
    r"future reference|later|next time))[?.!)\s]*$|[,，](?:好吗|好吧|可以吗|行吗|好不好|谢谢)[?？。！\s]*$"
)


def _clean(content: str) -> str:
    """One line, or a line and its list; no remains of a cue or courtesy, no full stop; at most 500."""
    content = content.strip(" \t\n,，:：;；—–-") if "\n" not in content.strip() else content.strip()
    content = re.sub(_TAIL, "", content)
    if re.search(rf"(?m)^{_BULLET}", content):
        content = "\n".join(" ".join(line.split()) for line in content.splitlines() if line.strip())
    else:
        content = re.sub(r"(?<=[:：])\s*\n\s*", " ", content)
        content = " ".join(content.split()).rstrip(" .!?。！？,，;；:：")
    content = re.sub(r"^(\w{0,10}就用.*?|叫我.*?)\s*(?:就行|就好|吧)+$", r"\1", content)
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


def _stands_alone(content: str) -> bool:
    """Enough words, and not only a word that points elsewhere, or says since when."""
    if re.fullmatch(
        r"(?i)(?:from now on|going forward|henceforth|in future|从现在(?:开始|起)|以后|今后)[\W_]*", content
    ):
        return False
    if re.fullmatch(r"(?i)(?:please |do |to )*(?:this|that|it|these|those|them|so)(?: .{0,8})?", content):
        return False
    ideographs = len(re.findall(r"[\u3400-\u9fff]", content))
    return ideographs >= 3 or len(re.findall(r"\w+", content)) + ideographs >= 2


def kind_of(content: str) -> Kind:
    """The kind of a memory, by its words."""
    if re.match(r"(?i)(?:from now on|going forward|henceforth|from today|starting \w+),? ", content):
        content = content.partition(", ")[2]
        statement = r"(?i)(?:i'll|i'm|i am|i work|i live|my|the|our|it|he|she|they)\b(?!.*\b(?:must|should|need)\b)"
        if re.match(statement, content):
            return Kind.FACT
        return Kind.PREFERENCE if re.match(r"(?i)i(?:'d)? (?:prefer|like|want)", content) else Kind.INSTRUCTION
    for kind, words in _TELLING:
        if re.search(words, content):
            return kind
    return Kind.FACT


_TELLING = (
    (
        Kind.DECISION,
        r"(?i)\bwe(?:'ve| have)? (?:decided|agreed|chose|picked|settled|are going with)\b|我们.{0,4}决定|选定",
    ),
    (
        Kind.PREFERENCE,
        r"(?i)^i(?:'d| would)? (?:\w+ )?(?:prefer|like|love|hate|dislike|enjoy|favou?r|rather)\b|"
        r"我.{0,4}(?:喜欢|偏好|习惯|讨厌|不爱|爱吃|爱喝)",
    ),
    (
        Kind.INSTRUCTION,
        r"(?i)^(?:always|never|don't|do not|please|use|run|write|keep|avoid|make sure|you (?:should|must))\b|"
        r"\b(?:must|should) (?:always|never|not)\b|\brules:|\b(?:from now on|going forward)\b|^(?:不要|别|必须|"
        r"务必|始终|总是|一律|每次|请|用)|以后|今后",
    ),
)


def _key(content: str, kind: Kind) -> str:
    """A key from the content; a name changes what it says, not what it is about."""
    if re.match(r"(?i)my (?:\w+ )?name(?: is|'s) |我(?:的名字)?叫", content):
        return "user_name"
    return "preferred_name" if re.match(r"(?i)call me |叫我", content) else suggest_key(content, kind)
