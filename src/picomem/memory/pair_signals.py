"""Signals that describe how an older and a newer statement differ; a classifier decides their relation from them. Pure.

Similarity alone decides nothing. What counts is whether the differing words are alternatives (Redis and PostgreSQL,
Tuesday and Friday, one port and another), whether the subject is the same, and whether the newer statement mentions a
change, adds something, or gives a reason.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from picomem.memory.likeness import Relation, compare, words
from picomem.models.classifier import Observed
from picomem.models.static_embedder import StaticEmbedder
from picomem.text.terms import STOP_WORDS, is_cjk, terms

if TYPE_CHECKING:
    import numpy as np

_LONGEST = 400  # characters of a statement that are read
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
_NUMBER_WORDS = {
    word: str(number)
    for number, both in enumerate(
        "zero 零|one 一|two 二|three 三|four 四|five 五|six 六|seven 七|eight 八|nine 九|ten 十|eleven 十一|twelve 十二".split(
            "|"
        )
    )
    for word in both.split()
}
_CATEGORIES: tuple[tuple[str, str], ...] = (
    ("weekday", r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天末]|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?\b|\b(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)s?\b|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?\b|[月火水木金土日]曜"),
    ("month", r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter)\b|[一二三四五六七八九十]+月|\d+月|\b(?:januar|februar|märz|mai|juni|juli|oktober|dezember|enero|marzo|abril|mayo|junio|julio|agosto|octubre|janvier|février|mars|avril|juin|juillet|août)\b"),
    ("colour", r"\b(?:red|blue|green|yellow|black|white|grey|gray|orange|purple|pink|brown|dark|light)\b|[红蓝绿黄黑白灰橙紫粉]色?|深色|浅色"),
    ("time of day", r"\b(?:morning|noon|afternoon|evening|night|midnight|am|pm)\b|早上|上午|中午|下午|晚上|凌晨"),
    ("part of a whole", r"\b(?:first|second|third|left|right|front|back|upper|lower|north|south|east|west|old|new|staging|production|prod|dev|test|frontend|backend|client|server|mother|father|son|daughter|brother|sister|wife|husband|mum|dad|upstairs|downstairs|kitchen|bathroom|bedroom|ios|android|mobile|desktop|internal|external|read|write|input|output|q[1-4])\b|第[一二三]|左|右|前|后|东|西|南|北|上午|下午|生产|测试|预发|开发|前端|后端|父|母|爸|妈|儿|女|哥|姐|弟|妹|移动|桌面"),
)  # fmt: skip
_OPPOSITES = tuple(
    tuple(both.split("/"))
    for both in """on/off open/closed opens/closes single/married likes/dislikes likes/hates loves/hates allowed/forbidden
    required/optional enabled/disabled public/private manual/automatic monthly/weekly daily/weekly alone/with rent/own
    rents/owns rents/bought employed/unemployed works/retired lives/moved true/false yes/no up/down free/paid free/costs
    before/after more/less always/never all/none active/inactive broken/works broken/repaired full/empty in/out
    short/long formal/informal formal/casual remote/office hired/fired accepted/rejected vegetarian/meat smokes/quit
    tabs/spaces dark/light metric/imperial hot/cold early/late single-threaded/parallel should/shouldn't can/can't
    喜欢/不喜欢 喜欢/讨厌 可以/不可以 允许/禁止 单身/结婚 租/买 开/关 有/没有 需要/不需要 吃/不吃 能/不能 每天/每周 每周/每月
    公开/私有 手动/自动 收费/免费""".split()
)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def observe_pair(old: str, new: str) -> Observed:
    """The signals of an older statement and a newer one."""
    old, new = _plain(old), _plain(new)
    signals: dict[str, float] = {}
    _of_change(signals, old, new)
    _of_values(signals, old, new)
    cjk = is_cjk(old) or is_cjk(new)
    gone, came, shared = _differing(old, new)
    _of_words(signals, old, new, gone, came, shared)
    _of_meaning(signals, old, new, gone, came)
    _of_subject(signals, old, new)
    _of_order(signals, old, new)
    if cjk:
        signals["~cjk"] = 1.0
    hashed = [f"-{word}" for word in gone] + [f"+{word}" for word in came] + [f"={word}" for word in shared]
    return Observed(signals, hashed)


def differ_in_a_value(observed: Observed) -> bool:
    """Return whether two statements have the same words but for a negation, or for one or two that are another number,
    name or opposite."""
    signals = observed.signals
    if signals.get(f"by their words: {Relation.CONTRADICTS.value}"):
        return True
    same_mould = signals.get(_ONE_PART, 0.0) and signals["~part sizes"] <= 1.0
    return bool(same_mould) and any(signals.get(name) for name in _OTHER_VALUES)


def leaves_behind(observed: Observed) -> bool:
    """Return whether the newer statement says that it leaves behind what the older names, in a few words that both
    have."""
    return bool(observed.signals.get(_LEAVES_BEHIND)) and observed.signals["~shared"] >= 1.0  # three words


_LEAVES_BEHIND = "the newer leaves behind what the older names"
_ONE_PART = "one part stands in another's place"
_OTHER_VALUES = (
    "the numbers differ",
    "the names differ",
    "they say opposite things",
    *(f"another {category}" for category, _ in _CATEGORIES),
)


def _plain(text: str) -> str:
    return " ".join(text[:_LONGEST].replace("’", "'").split()).rstrip(".。!！")


def _of_change(signals: dict[str, float], old: str, new: str) -> None:
    """Words that speak of a change, an addition, a reason, a detail."""
    for name, pattern in (
        ("speaks of a change", _CHANGE),
        ("says outright that it changed", _STRONG_CHANGE),
        ("says also", _ALSO),
        ("gives a reason", _BECAUSE),
        ("goes into detail", _DETAIL),
        ("speaks of the past", _PAST),
        ("speaks of the future", _FUTURE),
    ):
        in_new, in_old = len(_pattern(pattern).findall(new)), len(_pattern(pattern).findall(old))
        if in_new:
            signals[f"the newer {name}"] = min(in_new, 3) / 2
        if in_old:
            signals[f"the older {name}"] = min(in_old, 3) / 2
        if in_new and not in_old:
            signals[f"only the newer {name}"] = 1.0
    if _pattern(_PRONOUN).search(new):
        signals["the newer begins with a pronoun"] = 1.0
    old_words, new_words = _folded(old), _folded(new)
    for one, other in _OPPOSITES:
        for first, second in ((one, other), (other, one)):
            if first in old_words and second in new_words and second not in old_words and first not in new_words:
                signals["they say opposite things"] = 1.0
            if is_cjk(first) and first in old and second in new and second not in old:
                signals["they say opposite things"] = 1.0
    left = {term for match in _pattern(_LEFT_BEHIND).findall(new) for term in terms("".join(match))}
    if left & set(terms(old)):
        signals[_LEAVES_BEHIND] = 1.0
    denied, denies = _denials(old), _denials(new)
    if denied:
        signals["the older denies"] = 1.0
    if denies:
        signals["the newer denies"] = 1.0
    if bool(denied) != bool(denies):
        signals["only one denies"] = 1.0
        if denies:
            signals["only the newer denies"] = 1.0


def _of_values(signals: dict[str, float], old: str, new: str) -> None:
    """Numbers, names and words of one category that stand opposite each other."""
    numbers, others = _numbers(old), _numbers(new)
    if numbers and others:
        signals["both have numbers"] = 1.0
        signals["the numbers are the same"] = float(numbers == others)
        signals["the numbers differ"] = float(not numbers & others)
        signals["~numbers overlap"] = float(bool(numbers & others) and numbers != others)
        if _units(old) & _units(new):
            signals["the numbers have one unit"] = 1.0
            if not numbers & others:
                signals["another number of the same unit"] = 1.0
    elif others:
        signals["only the newer has a number"] = 1.0
    elif numbers:
        signals["only the older has a number"] = 1.0
    names, other_names = _names(old), _names(new)
    if names and other_names:
        signals["both have names"] = 1.0
        signals["the names are the same"] = float(names == other_names)
        signals["the names differ"] = float(not names & other_names)
        signals["~names overlap"] = float(bool(names & other_names) and names != other_names)
    elif other_names:
        signals["only the newer has a name"] = 1.0
    elif names:
        signals["only the older has a name"] = 1.0
    first, other_first = _first_word(old), _first_word(new)
    if first and other_first:
        begins_with_name = first in names, other_first in other_names
        if all(begins_with_name) and first != other_first:
            signals["they begin with different names"] = 1.0
        if first == other_first:
            signals["they begin alike"] = 1.0
            if all(begins_with_name):
                signals["they begin with the same name"] = 1.0
    for category, pattern in _CATEGORIES:
        ours = {match.casefold() for match in _pattern(pattern).findall(old)}
        theirs = {match.casefold() for match in _pattern(pattern).findall(new)}
        if ours and theirs:
            same = ours == theirs
            signals[f"the same {category}" if same else f"another {category}"] = 1.0
        elif ours or theirs:
            signals[f"only one names a {category}"] = 1.0


def _of_words(
    signals: dict[str, float], old: str, new: str, gone: list[str], came: list[str], shared: list[str]
) -> None:
    """Return how many words they share, and how many are only in one."""
    ours, theirs = len(gone) + len(shared), len(came) + len(shared)
    union = len(gone) + len(came) + len(shared)
    signals["share many words"] = len(shared) / max(1, union)
    signals["the newer holds the older's words"] = len(shared) / max(1, ours)
    signals["the older holds the newer's words"] = len(shared) / max(1, theirs)
    signals["~only older"] = min(len(gone), 6) / 3
    signals["~only newer"] = min(len(came), 8) / 4
    signals["~shared"] = min(len(shared), 6) / 3
    signals["~nothing shared"] = float(not shared)
    signals["~nothing gone"] = float(not gone)
    signals["~nothing came"] = float(not came)
    signals["~one for one"] = float(len(gone) == 1 and len(came) == 1)
    signals["~few for few"] = float(1 <= len(gone) <= 2 and 1 <= len(came) <= 2)
    signals["the newer is longer"] = max(-1.0, min(1.5, (len(new) - len(old)) / max(12, len(old))))
    signals["~letters alike"] = SequenceMatcher(None, old.casefold(), new.casefold(), autojunk=False).ratio()
    relation = compare(new, old).relation
    signals[f"by their words: {relation.value}"] = 1.0
    if re.search(r"\buser\b|用户|\bnutzer\w*|\busuari[oa]\b", old.casefold()) and re.search(
        r"\buser\b|用户|\bnutzer\w*|\busuari[oa]\b", new.casefold()
    ):
        signals["~both of the user"] = 1.0


def _of_meaning(signals: dict[str, float], old: str, new: str, gone: list[str], came: list[str]) -> None:
    """Return signals of meaning: the similarity of both, and whether words that differ are opposites."""
    import numpy as np

    one, other = _embedder().embed([old, new])
    signals["near in meaning"] = float(one @ other)
    if not gone or not came:
        return
    left = np.stack([_vector(word) for word in gone[:12]])
    right = np.stack([_vector(word) for word in came[:12]])
    cosines = left @ right.T
    signals["what differs stands opposite"] = float(cosines.max())
    signals["~gone met"] = float(cosines.max(axis=1).mean())
    signals["~came met"] = float(cosines.max(axis=0).mean())
    signals["~gone unmet"] = float((cosines.max(axis=1) < 0.25).sum()) / 3
    signals["~came unmet"] = float((cosines.max(axis=0) < 0.25).sum()) / 3
    signals["~last meets"] = float(cosines[-1, -1])
    signals["~first meets"] = float(cosines[0, 0])


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


def _parts(text: str) -> tuple[list[str], list[str]]:
    """The content of what stands before the first verb, and of the rest. Of what the user is or does, the verb and its
    object are the subject: the user themselves are no subject that tells two statements apart."""
    match = _pattern(_VERB).search(text, 1) if text else None
    if match is None:
        content = _content(text)
        half = (len(content) + 1) // 2
        return content[:half], content[half:]
    return _content(text[: match.start()]), _content(text[match.start() :])


def _of_subject(signals: dict[str, float], old: str, new: str) -> None:
    """Return whether what the older is about stands in the newer, and the other way round, by the word or by one near
    it."""
    old_subject, old_rest = _parts(old)
    new_subject, new_rest = _parts(new)
    everything_new, everything_old = new_subject + new_rest, old_subject + old_rest
    for name, wanted, held in (
        ("the older's subject is in the newer", old_subject, everything_new),
        ("the newer's subject is in the older", new_subject, everything_old),
        ("the subjects agree", old_subject, new_subject),
        ("what they say of it agrees", old_rest, new_rest),
        ("~new rest in old", new_rest, everything_old),
        ("~old rest in new", old_rest, everything_new),
    ):
        if not wanted:
            signals[f"{name}: has none"] = 1.0
            continue
        met = _met(wanted, held)
        signals[name] = sum(met) / len(met)
        signals[f"~least, {name}"] = min(met)
        signals[f"~unmet, {name}"] = min(3, sum(share < 0.4 for share in met)) / 2
    both = set(old_subject) & set(new_subject)
    foreign = [word for word in new_subject if word not in everything_old]
    missing = [word for word in old_subject if word not in everything_new]
    if both and not foreign and not missing:
        signals["they have the same subject"] = 1.0
    if foreign and missing:
        signals["each has a subject of its own"] = 1.0
        if both:
            signals["of one kind, another one"] = 1.0
    if set(old_subject) & set(new_rest) and set(new_subject) & set(old_rest):
        signals["subject and value changed places"] = 1.0


def _met(wanted: list[str], held: list[str]) -> list[float]:
    """Return how well each wanted word is met by one that is held: 1 for the same, else the cosine of the nearest."""
    import numpy as np

    if not held:
        return [0.0] * len(wanted)
    have = set(held)
    others = np.stack([_vector(word) for word in held[:16]])
    return [1.0 if word in have else max(0.0, float((others @ _vector(word)).max())) for word in wanted[:16]]


def _of_order(signals: dict[str, float], old: str, new: str) -> None:
    """The differences of the two texts, aligned word by word."""
    ours, theirs = words(old), words(new)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    replaced = [step for step in steps if step[0] == "replace"]
    signals["~steps"] = min(len(steps), 5) / 3
    length = max(1, len(ours))
    common = steps[0][1] / length if steps else 1.0
    signals["they begin with the same words"] = common
    tail = (len(ours) - steps[-1][2]) / length if steps else 1.0
    signals["they end with the same words"] = tail
    signals["~align"] = matcher.ratio()
    if len(steps) == 1 and replaced:
        _, start, end, new_start, new_end = replaced[0]
        signals[_ONE_PART] = 1.0
        if start == 0:
            signals["another subject"] = 1.0
        if end == len(ours) and start:
            signals["another value at the end"] = 1.0
        signals["~part sizes"] = min(4, max(end - start, new_end - new_start)) / 2
    if len(steps) == 1 and steps[0][0] == "insert":
        signals["something is put in"] = 1.0
        if steps[0][1] == len(ours):
            signals["something is added at the end"] = 1.0
    if len(replaced) >= 2:
        signals["several parts differ"] = 1.0
        if replaced[0][1] == 0:
            signals["subject and value differ"] = 1.0


_NEGATION = (
    r"\b(?:not|no|never|none|nothing|nobody|without|neither|cannot|avoid|stop(?:ped)?|forbidden|banned|free of)\b|n't\b|"
    r"不|没|别|无|禁|\b(?:nicht|kein\w*|nie|nunca|ya no|sin|ne|pas|jamais|sans|não|sem)\b|ない|ません"
)


def _denials(text: str) -> int:
    return len(_pattern(_NEGATION).findall(text))


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


def _folded(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+(?:['-][a-z]+)*", text.casefold()))


def _differing(old: str, new: str) -> tuple[list[str], list[str], list[str]]:
    """The index terms that only the older has, that only the newer has, and that both have."""
    ours, theirs = list(dict.fromkeys(_content(old))), list(dict.fromkeys(_content(new)))
    mine, other = set(ours), set(theirs)
    gone = [term for term in ours if term not in other]
    came = [term for term in theirs if term not in mine]
    return gone, came, [term for term in ours if term in other]


def _content(text: str) -> list[str]:
    """Index terms; of Chinese single characters as well, for its pairs cross the borders of words."""
    content = [term for term in terms(text) if term not in ("user", "用户", "户")]
    if is_cjk(text):
        content = [term for term in content if not is_cjk(term)]
        content += [
            char for char in re.findall(r"[\u3040-\u30ff\u3400-\u9fff]", text) if char not in "用户的是了在和我们"
        ]
    return content


@cache
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()


@lru_cache(maxsize=4096)
def _vector(word: str) -> np.ndarray:
    return _embedder().embed([word])[0]
