"""Recognises a person's request to forget a memory, or the statement that it is no longer true. Pure.

An agent that read a page may do what the page wants and point at any sentence of its user's. So a sentence counts only
if nothing else can be meant:

- it orders by itself: an imperative at its start (behind words of courtesy) or behind a clause of the person's own, not
  denied, no condition, not quoted, not what somebody else says, not the text of something that is to be written;
- what it orders to be forgotten is the memory and little else: "delete the payment rule row in the firewall's table"
  speaks of another thing;
- the person does not take it back in the next sentence.

In doubt it asks for nothing: the agent then tells the person what to say.
"""

from __future__ import annotations

import re

from picomem.policy.request_cues import FILLER, SPOILER
from picomem.text.terms import is_cjk, terms

CONDITION = r"(?i)\b(?:if|suppose|supposing|imagine|whether|unless|falls|angenommen)\b|如果|假如|要是|除非"
_TAKEN_BACK = (
    r"(?i)\b(?:kidding|joking|just a (?:joke|test|prank)|disagree|don['’]t agree|do not agree|scratch that|"
    r"no,? wait|wait,? no|on second thoughts?|i take (?:that|it) back|ignore (?:that|this|it)|changed my mind again|"
    r"nope|not really|not true|nonsense|lol|rofl|as if|(?:that|this|it)(?:['’]s| is| was) (?:only |just )?(?:wrong|"
    r"false|a lie|a joke|a test|an example|hypothetical)|keep (?:it|that|this)|leave (?:it|that|this)|scherz|spaß|"
    r"doch nicht)\b|"
    r"开玩笑|骗你|不是真的|我不同意"
)
_MOST_WORDS_TO_TAKE_BACK = 8

_VERB = (
    r"forget|delete|remove|drop|erase|discard|clear|archive|purge|wipe|get rid of|stop (?:remembering|storing)|"
    r"unlearn|disregard"
)
_ASKING = (
    r"(?:(?:(?:can|could|would|will) you|you (?:can|may|should|could|must|have to|need to)|(?:it['’]?s |it is )?"
    r"(?:safe|fine|ok|okay|time) to|i(?:['’]d| would)? (?:want|need|like) you to|let['’]?s|please|pls|kindly|safely|"
    r"now|just|"
    r"also|then)[\s,]+){0,5}"
)
_ORDER = rf"{_ASKING}(?P<verb>{_VERB})\b(?P<object>[^\n]*)"
_AT_START = rf"(?i)^\W*{FILLER}{_ORDER}"
_JOINED = rf"(?i)(?:[,;—–]\s*|\s+(?=(?:and|so|but)\b))(?:(?:and|so|but|then)[\s,]+)?{_ORDER}"
_OWN_START = r"(?i)^\W*(?:i|we|my|our|it|that|this|the|yes|yeah|no|ok|okay|since|because|as)\b"
_DEUTSCH = rf"(?i)^\W*{FILLER}(?:bitte |kannst du |du kannst )?(?:vergiss|vergesst|lösche?|streiche?|entferne?)\b"
_ZH = (
    r"^[\s，,]*(?:(?:请|請|麻烦|你|帮我|可以|能不能|那|好的?|现在|把[^，。]{1,20})[\s，,]*){0,4}"
    r"(?:忘|删|刪|去掉|移除|清除)"
)
_ENDS_OBJECT = r"(?i)[,;—–(]|[.!?]|\b(?:because|since|as|so)\b"
_HARMLESS_TAIL = (
    r"(?i)^[\s,;.!?—–()]*(?:$|(?:please|pls|thanks|thank you|ok|okay|i|it|that|this|we|they|my|our|because|since|as|"
    r"bitte|danke)\b)"
)
_POINTS_BACK = (
    r"(?i)^(?:about |all )?(?:that|it|this)(?: (?:rule|memory|one|entry|preference|fact|note|again|please))*\W*$"
)
_DENIED = r"(?i)\b(?:not|never|no|nobody|without|refuse|avoid|nicht|nie|niemals|kein\w*)\b|n['’]t\b|别|別|不|勿|没"
_QUOTED = (
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|「[^「」\n]*」|『[^『』\n]*』|"
    r"(?<!\w)['‘][^'’\n]*['’](?!\w)"
)
_OF_MEMORY = (
    r"(?i)\b(?:memor(?:y|ies)|remember\w*|know|knew|stored|saved|notes?|entry|"
    r"entries|facts?|preferences?|rules?|key|about|"
    r"regel|eintrag|notiz|sache)\b|记忆|记录|规则|偏好|的事"
)
# Words that may stand beside the memory's own in what is to be forgotten.
_BESIDE = frozenset(
    terms(
        "rule entry memory memories hold apply valid count note fact preference key what everything all every thing "
        "things stuff told said "
        "know knew remember remembered stored saved have stated earlier before old previous current wrong outdated "
        "obsolete "
        "true longer anymore any more mind please now again completely entirely ever too user agent i like want prefer "
        "use is be vergiss vergesst lösche lösch streiche entferne bitte für über dass ich mag nicht mehr falsch "
        "veraltet sache regel eintrag notiz die der das was du weißt no not never today just really since changed"
    )
) | frozenset("in on at".split())
_OVER = (
    r"(?i)(?<!can )(?<!cannot )(?<!could )\bno longer\b|\bnot \w+ any ?more\b|n['’]t\b.{0,60}\bany ?more\b|"
    r"\bwrong\b(?! with)|\b(?:outdated|obsolete|isn['’]t true|not true|never mind|nicht mehr|falsch|veraltet)\b|"
    r"不再|不用再|错了|錯了|过时"
)
_NOT_OVER = (
    r"(?i)(?:\bnot|n['’]t|\bnever|\bhardly|\bno longer|\bnicht|\bkeineswegs)\s+(?:\w+\s+){0,2}(?:wrong|outdated|"
    r"obsolete|falsch|veraltet)\b|\b(?:wish|would|should|could|might|may|soon|almost|nearly|until|when|once)\b|[没沒不]过时"
)


def is_taken_back(following: str) -> bool:
    """Return whether a short sentence takes back what was said right before it."""
    return bool(re.search(_TAKEN_BACK, following)) and len(following.split()) <= _MOST_WORDS_TO_TAKE_BACK


def orders_forgetting(sentence: str, before: str, key: str, about: frozenset[str]) -> str | None:
    """Return the memory that a sentence orders to be forgotten: the words that name it, empty where it points back
    ("forget that"). None where it orders nothing of the kind. `about` are the terms of the memory, `before` is the
    sentence before."""
    said = re.sub(_QUOTED, " ", _unquoted(sentence, key))
    if re.search(CONDITION, said) or (
        re.search(CONDITION, before) and re.match(r"(?i)\W*(?:then|in that case)\b", said)
    ):
        return None
    if is_cjk(said):
        return said if re.match(_ZH, said) and not re.search(r"[别別勿]", said) else None
    if re.match(_DEUTSCH, said):
        return said if not re.search(_DENIED, said) and _is_only_about(said, about) else None
    match = re.match(_AT_START, said)
    if match is None:
        match = re.search(_JOINED, said)
        head = said[: match.start()] if match else ""
        if not re.match(_OWN_START, head) or re.search(rf"(?i){SPOILER}|[:：]", head):
            return None
    if match is None or re.search(_DENIED, said[: match.start("verb")]):
        return None
    return _ordered(match["verb"], match["object"], key, about)


def is_called_over(sentence: str, about: frozenset[str]) -> bool:
    """Return whether a sentence says of the memory's subject, and of nothing else, that it is so no more."""
    said = re.sub(_QUOTED, " ", sentence)
    if not re.search(_OVER, said) or re.search(_NOT_OVER, said) or re.search(CONDITION, said):
        return False
    return is_cjk(said) or _is_only_about(said, about)


def _ordered(verb: str, words: str, key: str, about: frozenset[str]) -> str | None:
    ends = re.search(_ENDS_OBJECT, words.lstrip())
    named = words.lstrip()[: ends.start()] if ends else words.strip()
    tail = words.lstrip()[ends.start() :] if ends else ""
    if not re.match(_HARMLESS_TAIL, tail):
        return None
    if re.match(_POINTS_BACK, named):
        return ""
    is_forget = verb.lower() == "forget"
    if not is_forget and key not in named and not re.search(_OF_MEMORY, named):
        return None
    parts = re.split(r"(?i)\s+(?:and|or|as well as)\s+", named) if is_forget else [named]
    return next((part for part in parts if set(terms(part)) & about and _is_only_about(part, about)), None)


def _is_only_about(words: str, about: frozenset[str]) -> bool:
    return frozenset(terms(re.sub(r"[-_]", " ", words))) <= about | _BESIDE


def _unquoted(sentence: str, key: str) -> str:
    """The sentence with the memory's key without quotation marks: it may be quoted, as it is a name."""
    names = "|".join(re.escape(name) for name in {key, key.replace("_", " ")})
    return re.sub(rf"[`\"“„'‘]({names})[`\"”“'’]", r"\1", sentence)
