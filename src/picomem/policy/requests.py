"""What a user asks to be remembered, found in what the user said; pure, without a model.

For text of origin `user` only: the same words in a tool's result or on a web page are no request.

How it is found:

1. A long text is a pasted document with, perhaps, a request around it: only its two ends are looked at.
2. A shadow of the text is made, of the same length, so that positions hold in both: letters folded
   (traditional characters, curly apostrophes), and what the user shows rather than says (code, quotes, quoted
   lines) blanked. Cues are sought in the shadow; content is cut from the text.
3. The shadow is cut into sentences. A cue counts at a sentence's start, after words of politeness ("ok, and
   please"); a strong cue also within one, unless what stands before it makes it a condition, a report or a
   denial. A sentence gives at most one candidate, by the first cue of the table that fits.
4. What follows must stand alone ("let's go with that" does not) and must last ("remember that this line
   is wrong" does not). The cue is dropped where it is only a cue, and kept where it is part of the meaning.

A candidate still passes redaction and the write gate like anything else that is offered to memory. Patterns
hold no nested repeats and run on windows of a few thousand characters; only fences are sought in all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from picomem.records.kinds import Kind
from picomem.text.keys import suggest_key

LONGEST_TEXT = 4_000  # characters; of a longer text only the ends are read
LONGEST_CONTENT = 500
_END = 1_000

_IMPORTANCE = {Kind.INSTRUCTION: 0.8, Kind.DECISION: 0.7, Kind.PREFERENCE: 0.7, Kind.FACT: 0.6}
_ASKED_FOR = 0.75  # at least, when the user said "remember"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing to remember: a clean statement, and where it was asked for.

    `text[start:end]` is the span that asks, cue included; `cue` is the words that triggered it. `key` is
    valid and comes from the content. `importance` is 0 to 1.
    """

    content: str
    kind: Kind
    key: str
    importance: float
    start: int
    end: int
    cue: str


def find_requests(text: str) -> list[Candidate]:
    """The requests in one message of the user's, in order and without overlap; at most one a sentence."""
    found: list[Candidate] = []
    said = _without_fences(text)
    for start, end in _ends(text):
        part = _Part(text[start:end], _shadow(said[start:end]))
        before: tuple[int, int] | None = None
        free = 0
        for first, last in _sentences(part.shadow):
            candidate = _candidate(part, first, last, before)
            if candidate and candidate.start >= free:
                free = candidate.end
                found.append(replace(candidate, start=start + candidate.start, end=start + candidate.end))
            before = (first, last)
    return found


# ----------------------------------------------------------------------------------- the text and its shadow

_FOLD = str.maketrans("’‘記請後從現開們決歡習慣個這別準備錄", "''记请后从现开们决欢习惯个这别准备录")
_BLANK = "\x00"
_SHOWN = (
    r"(?m)^[ \t]{0,3}>.*$",
    r"`[^`\n]{1,500}`",
    r"\"[^\"\n]{1,800}\"|“[^“”\n]{1,800}”|「[^「」\n]{1,800}」|『[^『』\n]{1,800}』",
    r"(?<!\w)'[^'\n]{1,300}'(?!\w)",
)


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    shadow: str


def _without_fences(text: str) -> str:
    """The text with fenced code blanked; a fence that is never closed runs to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    return re.sub(r"(?ms)^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[^\n]*|\Z)", _blanked, text)


def _shadow(text: str) -> str:
    shadow = text.translate(_FOLD)
    for shown in _SHOWN:
        shadow = re.sub(shown, _blanked, shadow)
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


_STOP = r"[.!?]+(?=[\s\x00)]|$)|[。！？]+|\n+"
_BULLET = r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+"
_ABBREVIATION = r"(?i)(?:\b(?:e\.g|i\.e|vs|etc|dr|mr|mrs|ms|no|approx|st)|^\s*\d{1,2})$"
_WRAPPED_AT = 60  # a line at least so long that goes on in lower case was wrapped by an editor


def _sentences(shadow: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences, their stops included, blanks and list marks before them left out."""
    start = 0
    while start < len(shadow):
        stop = _next_stop(shadow, start)
        mark = re.match(rf"\s*(?:{_BULLET})?", shadow[start:stop])
        first = start + (mark.end() if mark else 0)
        if first < stop:
            yield first, stop
        start = stop


def _next_stop(shadow: str, start: int) -> int:
    for match in re.finditer(_STOP, shadow[start:]):
        at, end = start + match.start(), start + match.end()
        if match[0] == "\n":
            goes_on = match.start() >= _WRAPPED_AT and shadow[end : end + 1].islower()
        else:
            goes_on = match[0] == "." and re.search(_ABBREVIATION, shadow[max(start, at - 8) : at])
        if not goes_on:
            return end
    return len(shadow)


# -------------------------------------------------------------------------------------------------- the cues


class _Keep(Enum):
    """What becomes the content. A group `from` in the pattern says where it starts, whatever this says."""

    AFTER = auto()  # what follows the cue
    FROM = auto()  # the cue and what follows
    LED = auto()  # the cue, a comma, and what follows
    WHOLE = auto()  # the sentence
    BEFORE = auto()  # what stands before the cue, or the sentence before


@dataclass(frozen=True, slots=True)
class _Cue:
    pattern: str
    keep: _Keep
    kind: Kind | None = None  # None: what the content says
    within: str | None = None  # what must precede it inside a sentence; None: it counts at the start only
    asks: bool = False  # it says in so many words that something is to be remembered
    never: str = ""  # what follows must not begin so


_FILLER = (
    r"(?:(?:please|pls|and|also|oh|ok|okay|(?:hey|hi|hello)(?: there)?|so|but|then|well|btw|by the way|actually|"
    r"yes|yeah|no|great|cool|thanks|thank you|ps|important|reminder|one more thing|another thing|just|right|"
    r"alright|sure|perfect|now|fyi|because|since|picobot|claude|additionally|finally|first|generally|in general|"
    r"honestly|personally|basically|frankly|tbh|to be honest|for me|just so you know|heads up|"
    r"ideally)\b[\s,.:!;—–-]*|(?:另外|对了|顺便(?:说一下|提一下)?|好的?|嗯|请|麻烦|还有|那么|哦|你好|您好|嗨|"
    r"大家好|谢谢|最后|而且|所以)[\s，,。：:！!、]*){0,6}"
)
_JOINT = (
    r"(?:[,;，；、—–(]\s*|\s-+\s+|\b(?:and|so|but|also|then|because|since)\s+)(?:(?:and|so|but|also|then|please|"
    r"just|另外|请|那|而且|所以)[\s,，]*){0,3}"
)
_WORD = r"(?<!\w)"
_ANYWHERE = ""

# Before a cue within a sentence, these make it something else than a request.
_SPOILER = (
    r"\b(?:if|suppose|supposing|imagine|unless|whether|pretend|when|said|says?|saying|told|tells?|asked|asks|"
    r"wrote|writes|mentioned|claims?|suggested|suggests|according to|thinks?|believes?|doesn't|didn't|don't|"
    r"do not|can't|cannot|couldn't|won't|no need|not|does|did|why|how|what|who|means?|called|named|prints?|"
    r"reads)\b|如果|要是|假如|假设|[他她]们?说|说过|说的|告诉|文档|听说|不用|不必|不需要|没|吗|还|什么|据说|问|"
    r"[别不]要?$"
)

# What does not stand alone, and what points at a time instead of saying something.
_DEICTIC = (
    r"(?:(?:that|this|it|these|those|them|you|me|us|him|her|either|both|neither|one|whatever|what|how|"
    r"yours?)(?: please)?[\s,.!]*(?:$|(?:and|then|for|in|as|if|when|here|instead|better|first)\b)|not\b|"
    r"to not\b|the (?:same|(?:first|second|third|last|latter|former|other|left|right|top|bottom|new|old|blue|"
    r"red|green) (?:one|option|approach|version|idea)|latter|former)\b|(?:leave|keep|do|use|have|try|see|fix|"
    r"drop|skip) (?:it|this|that|these|those)\b|(?:this|that) (?:one|approach|option|version|idea|plan)\b|"
    r"(?:option|choice|approach|number|variant|plan) \w{1,2}\b)"
)
_DEICTIC_ZH = r"(?:(?:你的?)?(?:这|那|前者|后者|上面|下面)|它|第[一二三四五\d]|你)"
_MOMENT = (
    r"(?:that |the )?(?:time|day|one|moment|meeting|episode|thing)\b|(?:when|how|what|who|where|why|which|if)\b|"
    r"(?:this|that|it|me|us|them|him)\b[\s.!]*$"
)
_PASSING = (
    r"(?i)\b(?:in|on|of|at|from|to) this (?:line|function|file|loop|block|test|case|snippet|example|diff|commit|"
    r"message|sentence|paragraph|variable|bracket)\b|\b(?:right now|at the moment|just this once|"
    r"for this (?:one|time|task|session)|not \w+ (?:this|that|it) (?:now|today|yet))\b|这一?行|这里|现在就|马上|"
    r"待会|一会儿|稍后|刚才"
)

_POLITE = (
    r"(?:(?:can|could|would|will) you (?:please )?|(?:you should|you (?:need|have) to|you must|i (?:want|need|"
    r"'d like) you to|i'd like you to|make sure (?:to|you)) )?"
)
_REMEMBER = (
    r"(?:remember|memori[sz]e|don't (?:ever )?forget|do not forget|never forget|keep in mind|bear in mind|"
    r"make a (?:mental )?note|take note)"
)
_NOT_AN_ORDER = (  # after "always" or "never"
    r"(?:mind|been|seen|had|heard|did|knew|known|thought|again|gonna|a|an|the|in|on|at|too|so|not|is|was|are|"
    r"were|has|ever|good|nice|better|best|worth|fun|hard|easy|great|happy|glad|lovely|forget|said|saw|got|felt|"
    r"before|there|here|this|that|these|those|i|we|you|they|he|she|it|my|came|went|ran|took|made|gets|works|"
    r"fails)\b|[a-z]{2,20}ing\b(?<!bring)(?<!ping)(?<!string)|"
    r"[a-z]{2,20}ed\b(?<!need)(?<!embed)(?<!feed)(?<!seed)(?<!proceed)"
)
_NOT_A_NAME = (  # after "call me"
    r"(?:when|later|back|if|at|on|in|tomorrow|today|tonight|once|after|before|a|an|the|crazy|maybe|now|again|"
    r"old|out|names|asap|anytime|as|and|up|for|to|about|from|every|sometime|soon)\b"
)

_CUES = (
    # Said in so many words. "Remember to …" is a reminder, unless it is for always.
    _Cue(
        rf"{_POLITE}{_REMEMBER} to (?!.{{0,200}}\b(?:today|tonight|tomorrow)\b)(?=(?:always|never)\b|"
        rf".{{0,120}}\b(?:every|each|whenever|before you|after you|from now"
        r" on)\b)",
        _Keep.AFTER,
        Kind.INSTRUCTION,
        within=_JOINT,
        asks=True,
    ),
    _Cue(rf"{_POLITE}{_REMEMBER} that,? ", _Keep.AFTER, within=_JOINT, asks=True, never=_MOMENT),
    _Cue(
        rf"{_POLITE}(?:{_REMEMBER}|note to self|for the record)(?: this| that| the following)? ?[:：] ?",
        _Keep.AFTER,
        within=_JOINT,
        asks=True,
    ),
    _Cue(
        rf"{_POLITE}{_REMEMBER},? (?=(?:i|i'm|i've|my|we|we're|our|all|every|always|never|these [\w ]{{1,40}}:|"
        rf"the \w+"
        r"(?: \w+){0,4} (?:is|are|was|uses?|runs?|has|lives?|needs?|must|can|can't|will|should|expires?|starts?|"
        r"ends?|takes?|belongs?|opens?|closes?|comes?|goes))(?:\s|$))",
        _Keep.AFTER,
        asks=True,
        never=_MOMENT,
    ),
    _Cue(
        rf"{_POLITE}(?:save|store|add|commit|put|write)(?: this| that| it| the following)?(?: down)?,? (?:to|in|"
        rf"into) "
        r"(?:your |the |long-term )?memor(?:y|ies)(?: that |[:：,] ?)",
        _Keep.AFTER,
        within=_JOINT,
        asks=True,
    ),
    _Cue(
        r"note (?:that )?(?=.{3,300}\bfor (?:the future|future reference|later|next time)\b)",
        _Keep.AFTER,
        asks=True,
    ),
    _Cue(
        r"for (?:future reference|the future|next time)[,:]? ",
        _Keep.AFTER,
        within=_JOINT,
        asks=True,
        never=r"(?:of|and|is|are)\b",
    ),
    _Cue(
        r"(?:[,;—] ?)?(?:(?:and|so|please) ){0,3}(?:remember|memori[sz]e|don't forget|keep in mind|note|save|"
        r"keep) (?:that|this|it)(?: (?:for (?:later|the future|next time)|please|in mind))?[\s.!]*$",
        _Keep.BEFORE,
        within=r"(?=[,;—])",
        asks=True,
    ),
    _Cue(r", for (?:future reference|the future|next time)[\s.!]*$", _Keep.BEFORE, within=_ANYWHERE, asks=True),
    # For always.
    _Cue(
        r"(?:from now on|from here on(?: out)?|from today(?: on)?|going forward|starting (?:now|today)|"
        r"henceforth)(?:,? please)?,? ",
        _Keep.LED,
        within=_JOINT,
        never=r"(?:and|or|but|in|to|with)\b",
    ),
    _Cue(r"(?:from now on|going forward)(?:,? please)?[\s.!]*$", _Keep.WHOLE, within=r"(?<=\w)[,\s]+"),
    _Cue(
        r"(?:(?:you should|you must|make sure (?:you|to)|be sure to|i want you to|"
        r"i need you to) )?(?P<from>(?:always|never)(?:,? ever)?,? (?=[a-z]))",
        _Keep.FROM,
        Kind.INSTRUCTION,
        never=_NOT_AN_ORDER,
    ),
    # Preferences and names.
    _Cue(
        r"i(?:'d| would)? (?:(?:really|generally|usually|personally|strongly|always|much|still) ){0,2}prefer |"
        r"my preference is ",
        _Keep.FROM,
        Kind.PREFERENCE,
        never=_DEICTIC,
    ),
    _Cue(
        r"i (?:(?:really|much|usually) )?(?:like|love) (?=.{1,120}\b(?:over|more than|better than|"
        r"rather than) \w)",
        _Keep.FROM,
        Kind.PREFERENCE,
        never=rf"{_DEICTIC}|how\b|that\b|this\b|.{{1,120}}\bover (?:here|there|time)\b",
    ),
    _Cue(r"i(?:'d| would) (?:much )?rather ", _Keep.FROM, Kind.PREFERENCE, never=_DEICTIC),
    _Cue(
        r"my (?:(?:first |full |last )?name is|name's) ",
        _Keep.FROM,
        Kind.FACT,
        never=r"(?:not|on|in|wrong|spelled|missing)\b",
    ),
    _Cue(
        r"(?:you (?:can|may|should) )?(?P<from>call me )",
        _Keep.FROM,
        Kind.PREFERENCE,
        within=_JOINT,
        never=_NOT_A_NAME,
    ),
    # Decisions.
    _Cue(
        r"we(?:'ve| have)?(?: now| finally| all| just)? (?:(?:decided|agreed|settled|opted) (?:to|on|that|"
        r"against|for|not to)|chose|chosen|picked) ",
        _Keep.WHOLE,
        Kind.DECISION,
        within=_WORD,
        never=_DEICTIC,
    ),
    _Cue(
        r"(?:let's|we(?:'re| are)|we(?:'ll| will)) (?:just )?(?:go|going|stick|sticking) with ",
        _Keep.FROM,
        Kind.DECISION,
        within=_JOINT,
        never=_DEICTIC,
    ),
    _Cue(
        r"let's use (?=.{1,80}\b(?:instead of|rather than|over)\b)",
        _Keep.FROM,
        Kind.DECISION,
        within=_JOINT,
        never=_DEICTIC,
    ),
    # Chinese.
    _Cue(
        r"(?:(?:请你?|帮我|麻烦你?|你|要|一定要|千万|务必)*)(?:记住|牢记|记一下|记下来?|备忘|(?:保存|存|加|"
        r"写)(?:到|进|入)你?的?(?:长期)?记忆里?)(?:一下)?[，,:： ]*",
        _Keep.AFTER,
        within=_JOINT,
        asks=True,
        never=r"我?的?(?:密码|账号|登录)(?:的|按钮|选项|框)|[这那](?:个|点|一点|些)?[了吧。！\s]*$|[了吧啊]",
    ),
    _Cue(
        r"(?:请|千万|可)*(?:别|不要|不能)忘(?:了|记)?[，,:： ]*(?=我|咱|他|她|它|所有|每|周|[A-Za-z]|"
        r".{1,20}(?:是|必须|不能|不要|都))",
        _Keep.AFTER,
        within=_JOINT,
        asks=True,
    ),
    _Cue(r"从(?:现在|今天|今|此|这次)(?:开始|起|以后|往后)", _Keep.FROM, Kind.INSTRUCTION, within=_JOINT),
    _Cue(
        r"(?:以后|今后)",
        _Keep.FROM,
        Kind.INSTRUCTION,
        within=_JOINT,
        never=r"再[说看弄做改讨考聊议处]|可能|也许|有(?:空|时间|机会)|会|想|的|呢",
    ),
    _Cue(
        r"我们?(?:也|不太|不|更|比较|最|一直|很|特别|还是|都|平时|一般|通常|个人)*(?:喜欢|偏好|偏爱|习惯|"
        r"倾向于?|宁愿)",
        _Keep.FROM,
        Kind.PREFERENCE,
        within=_JOINT,
        never=_DEICTIC_ZH,
    ),
    _Cue(
        r"我(?:的名字)?(?:叫做?|是叫)(?=[\w·]{1,20}(?:[，,。！!\s]|$))",
        _Keep.FROM,
        Kind.FACT,
        within=_JOINT,
        never=r"[他她它你您]|了|过|人|车|不|醒|外卖|什么|啥|到",
    ),
    _Cue(
        r"(?:你们?)?(?:可以|请|就|都)?(?P<from>叫我(?=[^他她去来做\s，。！]{1,10}(?:就行|就好|吧)?(?:$|"
        r"[\s。，！])))",
        _Keep.FROM,
        Kind.PREFERENCE,
    ),
    _Cue(
        r"(?:我们|咱们|团队)(?:已经|最终|最后|一致|商量后|刚|都|就)*(?:决定|商定|敲定|选择了|选定)",
        _Keep.WHOLE,
        Kind.DECISION,
        within=_ANYWHERE,
        never=r"了?(?:没|吗)",
    ),
    _Cue(
        r"(?:那么?|我们|咱们)?(?P<from>(?:(?![说问想如要])\w){0,10}?就用(?=.{1,40}吧))",
        _Keep.FROM,
        Kind.DECISION,
        within=_JOINT,
        never=_DEICTIC_ZH,
    ),
    _Cue(
        r"(?:请|你)?(?P<from>不要再)",
        _Keep.FROM,
        Kind.INSTRUCTION,
        within=_JOINT,
        never=r"说|问|等|想|吵|闹|见|这样|那样",
    ),
    _Cue(
        r"(?:请|要)?记得(?=.{0,20}(?:每次|总是|始终|一律|每天|每周))",
        _Keep.AFTER,
        Kind.INSTRUCTION,
        asks=True,
    ),
)


def _cue_in(sentence: str) -> tuple[_Cue, re.Match[str]] | None:
    """The first cue of the table that counts in this sentence."""
    lead = _lead(sentence)
    question = _asks(sentence)
    for cue in _CUES:
        for at in _places(cue, sentence, lead):
            match = re.compile(cue.pattern, re.IGNORECASE).match(sentence, at)
            if match is None or (cue.never and re.match(cue.never, sentence[match.end() :], re.IGNORECASE)):
                continue
            if not question or (cue.asks and re.match(r"(?:can|could|would|will) you\b", match[0], re.IGNORECASE)):
                return cue, match
    return None


def _places(cue: _Cue, sentence: str, lead: int) -> Iterator[int]:
    """Where in a sentence the cue may stand: at its start, and, if it is a strong one, further in."""
    yield lead
    if cue.within is not None:
        inner = re.compile(f"{cue.within}(?P<cue>{cue.pattern})", re.IGNORECASE).search(sentence, lead)
        if inner and not re.search(_SPOILER, sentence[: inner.start("cue")], re.IGNORECASE):
            yield inner.start("cue")


def _lead(sentence: str) -> int:
    match = re.match(_FILLER, sentence, re.IGNORECASE)
    return match.end() if match else 0


_NOD = r"(?i)[,，]? ?\b(?:ok|okay|right|please|got it)[?]\s*$|[,，](?:好吗|好吧|可以吗|行吗|好不好)[?？]\s*$"


def _asks(sentence: str) -> bool:
    """A question, but not one that only wants a nod ("…, ok?")."""
    ends_so = re.search(r"[?？]\s*$", sentence) is not None
    return ends_so and re.search(_NOD, sentence) is None


# ----------------------------------------------------------------------------------------------- the content


def _candidate(part: _Part, first: int, last: int, before: tuple[int, int] | None) -> Candidate | None:
    """The request that the sentence at `first`…`last` makes, if it makes one."""
    sentence = part.shadow[first:last]
    found = _cue_in(sentence)
    if found is None:
        return None
    cue, match = found
    start, end = first + match.start(), _content_end(part.shadow, last)
    if cue.keep is _Keep.BEFORE:
        said = (first + _lead(sentence), start) if match.start() > _lead(sentence) else before
        if said is None or _asks(part.shadow[slice(*said)]):
            return None
        start, end, content = said[0], last, part.text[slice(*said)]
    elif cue.keep is _Keep.WHOLE:
        start = first + _lead(sentence)
        content = part.text[start:end]
    elif cue.keep is _Keep.LED:
        led = re.sub(r"(?i)(,? please)?[, ]*$", "", match[0])
        content = f"{led}, {part.text[first + match.end() : end]}"
    else:
        begin = match.end() if cue.keep is _Keep.AFTER else match.start()
        begin = match.start("from") if "from" in match.re.groupindex else begin
        content = part.text[first + begin : end]
    return _made(part, content, cue, match[0], start, end)


def _made(part: _Part, content: str, cue: _Cue, words: str, start: int, end: int) -> Candidate | None:
    content = _clean(content)
    if not _stands_alone(content) or re.search(_PASSING, content):
        return None
    kind = cue.kind or _kind_of(content)
    importance = max(_IMPORTANCE[kind], _ASKED_FOR if cue.asks else 0.0)
    end = start + len(part.text[start:end].rstrip())
    return Candidate(content, kind, _key(content, kind), importance, start, end, words.strip(" ,.:：，!\n"))


def _content_end(shadow: str, last: int) -> int:
    """Where content that starts in a sentence ends: a colon takes the list or the sentence after it."""
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
    """Enough words, and not only a word that points elsewhere."""
    if re.fullmatch(r"(?i)(?:please |do |to )*(?:this|that|it|these|those|them|so)(?: .{0,8})?", content):
        return False
    ideographs = len(re.findall(r"[\u3400-\u9fff]", content))
    return ideographs >= 3 or len(re.findall(r"\w+", content)) + ideographs >= 2


def _kind_of(content: str) -> Kind:
    """What a thing that is to be remembered is, by its words."""
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
