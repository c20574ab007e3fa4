"""One statement as a pair of statements is judged by: its words, numbers, names, subject and word vectors. Pure.

A new statement is compared with several older ones, and an older one with many new ones. So what concerns one text
alone is read once and kept for a while.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from picomem.light_dataclass import dataclass
from picomem.memory.likeness import words
from picomem.models.static_embedder import StaticEmbedder
from picomem.text.terms import STOP_WORDS, is_cjk, terms

if TYPE_CHECKING:
    import numpy as np

_LONGEST = 400  # characters of a statement that are read
_KEPT = 512  # statements: about 15 kB each
_CHANGE = (
    r"\b(?:moved?|switch(?:ed|es)?|replac\w+|no longer|any ?more|not any more|instead|chang(?:ed|es)|became|becomes|left|"
    r"sold|stopped|stops|quit|gave up|given up|since|from now on|cancel\w*|dropped|removed|until|handed|took over|taken|"
    r"takes over|went|gone|grew|grown|rose|raised|lowered|cut|postponed|slipped|brought forward|rescheduled|extended|"
    r"shortened|renamed|migrated|upgraded|downgraded|turned|converted|new|now|nowadays|these days|meanwhile|has been|"
    r"finished|ended|over|died|broke up|divorced|married|engaged|retired|fired|hired|promoted|passed|failed|closed|"
    r"opened|revoked|lifted|abolished|introduced|back|again|returned|recovered|healed|used to|was|were|had|ex|former|"
    r"formerly|previous\w*|rather than|not .{1,30} but|grown|doubled|halved|reached|already|done|fixed|works again|"
    r"changed (?:his|her|their|my|our) mind|after all|effective|as of|starting)\b|"
    r"换|改|搬|迁|不再|现在|已经|取消|升级|调整|停用|变|涨|降|离职|辞职|卖|买了|结婚|离婚|分手|恢复|推迟|提前|延|缩短|"
    r"增加|减少|接手|交给|转|废|关|开放|下线|上线了|完成|结束|戒|放弃|升|退|新|从.{1,6}起|以后|了$|了[，。]|不.{1,4}了|"
    r"\b(?:umgezogen|gewechselt|statt|nicht mehr|kein\w* mehr|jetzt|nun|ab|seit|neu\w*|abgeschafft|ersetzt|verschoben|"
    r"aufgehört|ya no|ahora|cambi\w+|mud\w+|dej\w+|nuev\w+|sustitu\w+|reemplaz\w+|plus|désormais|maintenant|déménag\w+|"
    r"remplac\w+|chang\w+|nouve\w+|passé\w*|agora|não .{1,12} mais|mudou|trocou|novo|nova)\b|変わ|変更|やめ|引っ越|になった|今は|もう"
)
_STRONG_CHANGE = (
    r"\b(?:no longer|any ?more|moved|switched|replac\w+|instead of|was changed|changed to|stopped|gave up|quit|sold|handed|"
    r"took over|takes over|cancel\w+|dropped|renamed|migrated|used to|has left|postponed|slipped|raised to|lowered to|"
    r"cut to|grown to|is gone|is out|was removed|was lifted|not .{1,30} but)\b|不再|换成|改成|改为|改用|改到|搬到|搬去|迁到|迁移|"
    r"取消|停用|离职|调到|调整|涨到|降到|推迟|提前|接手|交给|\b(?:nicht mehr|umgezogen|gewechselt|ersetzt|ya no|dejó|mudó|"
    r"cambió|ne .{1,15} plus|déménagé|remplacé|mudou|trocou)\b|変わ|変更|やめ|引っ越"
)
# What a change leaves behind: "from Redis to …", "instead of Redis", "dropped Redis", 不再用 Redis, 从 Redis 换成.
_LEFT_BEHIND = (
    r"\b(?:moved?|moving|migrat\w+|switch\w*|chang\w+|convert\w*|rewr\w+|went|going)\b[^.;]{0,40}?\b(?:away )?from ((?:[\w.+#-]+ ?){1,3}?)(?= to\b| into\b|[,.;]|$)"
    r"|\b(?:instead of|rather than|in place of|took the place of|takes the place of|replac(?:ed|es|ing)|dropped|gave up|given up|got rid of|"
    r"abandoned|stopped using|no longer uses?|no longer on|away from|left) (?:the )?((?:[\w.+#-]+ ?){1,2})"
    r"|从\s*([\w.+#-]{1,12}?)\s*(?:换|改|迁|搬|移|转|切)|(?:不再用|不用|放弃|停用|弃用|替换|取代|换掉)了?\s*([\w.+#-]{1,12})"
    r"|\b(?:statt|anstelle von|en lugar de|en vez de|au lieu de|em vez de) ((?:[\w.+#-]+ ?){1,2})"
)
_ALSO = (
    r"\b(?:also|too|as well|another|second|additional\w*|besides|in addition|both|other|plus|own|each|else|likewise)\b|"
    r"也|还|另外|另一|同时|此外|又|第二|\b(?:auch|außerdem|zweite\w*|también|además|otro|otra|aussi|autre|também|outro)\b|も"
)
_BECAUSE = r"\b(?:because|since|so that|due to|reason|as it|in order|that's why|why)\b|因为|所以|由于|为了|原因|\b(?:weil|porque|parce)\b"
_DETAIL = (
    r"\b(?:exactly|specifically|namely|called|named|mostly|mainly|only|except|but|unless|when|while|if|which|who|whose|"
    r"where|with|including|especially|for example|at least|at most|about|during|between|within|twice|once|times?|after|"
    r"before|in case|on weekends|weekdays)\b|具体|叫|只|除|其中|包括|尤其|特别|主要|不过|但|如果|的时候|至少|最多|大约|左右"
)
_PAST = r"\b(?:was|were|had|used to|did|before|previously|last (?:year|month|week|summer|winter))\b|以前|之前|曾|过去|原来|去年|上"
_FUTURE = r"\b(?:will|going to|plans?|wants?|hopes?|might|next|soon|considering|thinking)\b|将|打算|计划|想|准备|下"
_PRONOUN = r"^(?:it|it's|its|they|he|she|his|her|their|this|that|these|those|there)\b|^(?:它|他|她|这|那|其)"
_NUMBER = r"\d+(?:[.,:]\d+)*"
_ADDRESS = r"[a-z0-9][\w-]*(?:\.[a-z0-9][\w-]*)*\.[a-z]{2,}\b|\d+(?:\.\d+){3}\b"  # stg.example.org, 10.0.3.12, data.csv
_NUMBER_WORDS = {
    word: str(number)
    for number, both in enumerate(
        "zero 零|one 一|two 二|three 三|four 四|five 五|six 六|seven 七|eight 八|nine 九|ten 十|eleven 十一|twelve 十二".split(
            "|"
        )
    )
    for word in both.split()
}
_MENTIONS = (
    ("speaks of a change", _CHANGE),
    ("says outright that it changed", _STRONG_CHANGE),
    ("says also", _ALSO),
    ("gives a reason", _BECAUSE),
    ("goes into detail", _DETAIL),
    ("speaks of the past", _PAST),
    ("speaks of the future", _FUTURE),
)
CATEGORIES: tuple[tuple[str, str], ...] = (
    ("weekday", r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天末]|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?\b|\b(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)s?\b|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?\b|[月火水木金土日]曜"),
    ("month", r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter)\b|[一二三四五六七八九十]+月|\d+月|\b(?:januar|februar|märz|mai|juni|juli|oktober|dezember|enero|marzo|abril|mayo|junio|julio|agosto|octubre|janvier|février|mars|avril|juin|juillet|août)\b"),
    ("colour", r"\b(?:red|blue|green|yellow|black|white|grey|gray|orange|purple|pink|brown|dark|light)\b|[红蓝绿黄黑白灰橙紫粉]色?|深色|浅色"),
    ("time of day", r"\b(?:morning|noon|afternoon|evening|night|midnight|am|pm)\b|早上|上午|中午|下午|晚上|凌晨"),
    ("part of a whole", r"\b(?:first|second|third|left|right|front|back|upper|lower|north|south|east|west|old|new|staging|production|prod|dev|test|frontend|backend|client|server|mother|father|son|daughter|brother|sister|wife|husband|mum|dad|upstairs|downstairs|kitchen|bathroom|bedroom|ios|android|mobile|desktop|internal|external|read|write|input|output|q[1-4])\b|第[一二三]|左|右|前|后|东|西|南|北|上午|下午|生产|测试|预发|开发|前端|后端|父|母|爸|妈|儿|女|哥|姐|弟|妹|移动|桌面"),
)  # fmt: skip
_VERB = (
    r"\b(?:is|are|was|were|am|has|have|had|will|would|can|can't|cannot|may|must|should|does|do|doesn't|don't|did|isn't|"
    r"aren't|no longer|never|always|only|now|also|runs?|ran|uses?|used|lives?|lived|goes|go|went|moved?|moves|works?|worked|"
    r"wants?|wanted|prefers?|likes?|loves?|hates?|dislikes?|needs?|needed|takes?|took|gets?|got|gave|gives?|costs?|starts?|"
    r"started|ends?|ended|opens?|opened|closes?|closed|stays?|stayed|became|becomes|switched|replaced|changed|changes|"
    r"dropped|stopped|sold|bought|left|handed|handles?|handled|leads?|led|manages?|owns?|owned|plays?|speaks?|spoke|drinks?|"
    r"eats?|ate|drives?|drove|reads?|writes?|wrote|holds?|held|lies|sits?|stands?|keeps?|kept|comes?|came|meets?|met|"
    r"returns?|expires?|belongs?|reports?|approves?|reviews?|teaches|taught|sleeps?|pays?|paid|ships?|supports?|supported|"
    r"accepts?|allows?|requires?|required|plans?|planned|decided|chose|agreed|rose|grew|fell|slipped|passed|finished|quit|"
    r"retired|adopted|collects?|rents?|rented|serves?|sends?|sent|stores?|stored|logs?|deploys?|lasts?|happens?|expects?)\b|"
    r"是|在|用|由|有|为|要|搬|换|改|迁|住|归|管|负责|喜欢|讨厌|爱|不|已|从|每|放|走|发|吃|喝|学|会|能|可以|必须|支持|叫|"
    r"\b(?:ist|sind|war|hat|haben|wird|wurde|läuft|liegt|wohnt|fährt|isst|macht|heißt|es|está|son|tiene|vive|va|fue|usa|"
    r"est|sont|a|ont|vit|habite|boit|était|é|são|tem|mora|foi|fica)\b|は|が"
)


_NEGATION = (
    r"\b(?:not|no|never|none|nothing|nobody|without|neither|cannot|avoid|stop(?:ped)?|forbidden|banned|free of)\b|n't\b|"
    r"不|没|别|无|禁|\b(?:nicht|kein\w*|nie|nunca|ya no|sin|ne|pas|jamais|sans|não|sem)\b|ない|ません"
)
_USER = r"\buser\b|用户|\bnutzer\w*|\busuari[oa]\b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is read from one statement.

    `mentions` counts the phrases of each kind, such as those that speak of a change; `left_behind` are the terms of
    what the statement says was given up. `subject` is the content of what stands before the first verb, `rest` that
    of the rest. `vectors` has a row of length 1 for each word that `row_by_word` names; `meaning` is the vector of the
    whole. `trigrams` are the pieces of three characters, with a blank on either side of the text.
    """

    text: str
    trigrams: frozenset[str]
    is_cjk: bool
    words: tuple[str, ...]
    terms: frozenset[str]
    content: tuple[str, ...]
    plain_words: frozenset[str]
    mentions: dict[str, int]
    denials: int
    left_behind: frozenset[str]
    begins_with_pronoun: bool
    is_of_user: bool
    numbers: frozenset[str]
    units: frozenset[str]
    addresses: frozenset[str]
    names: frozenset[str]
    first_word: str
    category_words: dict[str, frozenset[str]]
    subject: tuple[str, ...]
    rest: tuple[str, ...]
    row_by_word: dict[str, int]
    vectors: np.ndarray
    meaning: np.ndarray


@lru_cache(maxsize=_KEPT)
def read_statement(text: str) -> Statement:
    """Read the first 400 characters of a statement."""
    text = " ".join(text[:_LONGEST].replace("’", "'").split()).rstrip(".。!！")
    content = tuple(dict.fromkeys(_content(text)))
    subject, rest = _parts(text)
    row_by_word = {word: row for row, word in enumerate(dict.fromkeys((*content, *subject, *rest)))}
    return Statement(
        text=text,
        trigrams=_trigrams(text),
        is_cjk=is_cjk(text),
        words=words(text),
        terms=frozenset(terms(text)),
        content=content,
        plain_words=_plain_words(text),
        mentions={name: len(_pattern(pattern).findall(text)) for name, pattern in _MENTIONS},
        denials=len(_pattern(_NEGATION).findall(text)),
        left_behind=frozenset(term for match in _pattern(_LEFT_BEHIND).findall(text) for term in terms("".join(match))),
        begins_with_pronoun=bool(_pattern(_PRONOUN).search(text)),
        is_of_user=bool(_pattern(_USER).search(text)),
        numbers=_numbers(text),
        units=_units(text),
        addresses=frozenset(re.findall(_ADDRESS, text.casefold())),
        names=_names(text),
        first_word=_first_word(text),
        category_words={
            category: frozenset(match.casefold() for match in _pattern(pattern).findall(text))
            for category, pattern in CATEGORIES
        },
        subject=tuple(subject),
        rest=tuple(rest),
        row_by_word=row_by_word,
        vectors=_vectors(row_by_word),
        meaning=_embedder().embed([text])[0],
    )


def _trigrams(text: str) -> frozenset[str]:
    padded = f" {text.casefold()} "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _parts(text: str) -> tuple[list[str], list[str]]:
    """The content of what stands before the first verb, and of the rest. Of what the user is or does, the verb and its
    object are the subject: the user themselves are no subject that tells two statements apart."""
    match = _pattern(_VERB).search(text, 1) if text else None
    if match is None:
        content = _content(text)
        half = (len(content) + 1) // 2
        return content[:half], content[half:]
    return _content(text[: match.start()]), _content(text[match.start() :])


def _numbers(text: str) -> frozenset[str]:
    numbers = set(re.findall(_NUMBER, text))
    for word in re.findall(r"[a-z]+|[零一二三四五六七八九十两]+", text.casefold()):
        if word in _NUMBER_WORDS:
            numbers.add(_NUMBER_WORDS[word])
        elif re.fullmatch(r"[零一二三四五六七八九十两]+", word):
            numbers.add(word)
    return frozenset(numbers)


def _units(text: str) -> frozenset[str]:
    """The words behind numbers."""
    folded = text.casefold()
    units = {unit[:5] for unit in re.findall(rf"{_NUMBER} ?([a-z%€$°]+)", folded)}
    units |= set(re.findall(r"[\d一二三四五六七八九十百千万两半]+(?:多|个)?([\u3400-\u9fff])", text))
    units |= {"before:" + word[:5] for word in re.findall(rf"([a-z]{{3,}}) {_NUMBER}", folded)}
    return frozenset(units)


def _names(text: str) -> frozenset[str]:
    """Capitalised words behind the first, acronyms, and Latin words in Chinese; the first word, where it is no common
    word."""
    names = {word.casefold() for word in re.findall(r"(?<=[\w,;:)'\"] )[A-Z][\w.+#-]*|\b[A-Z]{2,}\w*", text)}
    if is_cjk(text):
        names |= {word.casefold() for word in re.findall(r"[A-Za-z][\w.+#-]+", text)}
    first = re.match(r"[A-Z][\w-]*", text)
    if first and first[0].casefold() not in _COMMON_FIRST and not first[0].casefold().endswith(("s", "ing", "ed")):
        names.add(first[0].casefold())
    return frozenset(names - {"the", "user", "i", "user's"})


_COMMON_FIRST = STOP_WORDS | frozenset(
    """use never always do don no user all every each never please only code team office main staging production
    backup release answer commit email coffee water code breakfast lunch dinner rent test api daily weekly old new
    der die das wir el la los las le les nous""".split()
)


def _first_word(text: str) -> str:
    for word in re.findall(r"[\w'’-]+", text):
        folded = word.casefold().removesuffix("'s")
        if folded not in ("the", "a", "an", "our", "my", "der", "die", "das", "el", "la", "le"):
            return folded
    return ""


def _plain_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+(?:['-][a-z]+)*", text.casefold()))


def _content(text: str) -> list[str]:
    """Index terms; of Chinese single characters as well, for its pairs cross the borders of words."""
    content = [term for term in terms(text) if term not in ("user", "用户", "户")]
    if is_cjk(text):
        content = [term for term in content if not is_cjk(term)]
        content += [
            char for char in re.findall(r"[\u3040-\u30ff\u3400-\u9fff]", text) if char not in "用户的是了在和我们"
        ]
    return content


def _vectors(content: Iterable[str]) -> np.ndarray:
    import numpy as np

    rows = [_vector(word) for word in content]
    return np.stack(rows) if rows else np.zeros((0, StaticEmbedder.dimensions), np.float32)


@cache
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()


@lru_cache(maxsize=4096)
def _vector(word: str) -> np.ndarray:
    return _embedder().embed([word])[0]
