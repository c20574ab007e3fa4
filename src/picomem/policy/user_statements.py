"""Decides whether a person stated something, in these words or nearly. Pure.

After reading a page, an agent can reword it freely, so the words that a statement shares with the page prove little.
But it can be checked whether the person said it. A statement is grounded if a few sentences of one message of theirs

- contain every word of it that carries meaning; only words of the frame ("is located", "takes place") may be the
  agent's (of Chinese, Japanese and Korean three in five pairs of characters, and every word in another script),
- negate what it negates and nothing else, clause by clause, and
- do not name its persons and things in opposite positions ("Alice pays Bob").

A question, a doubt, a condition and the claim of somebody else state nothing. A question that asks for something to
be remembered does, and a question presupposes what the person calls theirs ("what does it say of my boat Swift?").
Text that a person pasted, or passed on to be worked on ("translate this: …"), is not theirs (`pasted_text`).

The same sentences show what a person wants forgotten: they order it, or say that the memory is no longer true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache

from picomem.policy.forget_requests import CONDITION, is_called_over, is_taken_back, orders_forgetting
from picomem.policy.pasted_text import own_words, without_fences
from picomem.policy.refusal import LONGEST_CONTENT
from picomem.text.late_pattern import late_pattern
from picomem.text.terms import is_cjk, terms

# Words of whoever writes about a conversation: that somebody else used them too says nothing.
NEUTRAL = frozenset(
    terms(
        "user agent assistant prefers preference likes wants uses using needs called named works working project "
        "decided decision currently wishes asked said person people team"
    )
)
_NEUTRAL_CJK = "用户|使用者|助手|喜欢|偏好|希望|需要|使用|决定|正在"
_DENIALS = frozenset(terms("not no never none nobody nothing without cannot neither nor except unless"))
# Words that carry no name and no value. A paraphrase may add them.
_FRAME = frozenset(
    terms(
        "go going goes gone get take place happen run locate live stay stand have hold hosted host listen set know now "
        "current today new also only just really please over than instead rather via per each every always all both "
        "because since until while whenever during after before own keep make use call name must want "
        "need like love employ born drink eat work belong contain include remain become start begin end require "
        "moved switched changed changing agreed stated own located there here up down out off "
        "der die das den dem des ein eine einen einem einer ist sind war hat haben "
        "wird werden und oder mit von zu zum zur "
        "auf für im am bei als auch dass ich wir mein meine meinen unser unsere er "
        "sie es sich nutzer benutzer nutzerin "
        "heißt heisst bevorzugt mag möchte immer jetzt nun bitte person lebt wohnt"
    )
) | frozenset("in an on at".split())
_SHARE_CJK = 0.6
_MENTIONED = 1 / 3  # of a memory's words that the person must say to have it forgotten, unless they say its key
_SPAN = 3  # sentences that are read as one statement
_LONGEST = 20_000  # characters of a message
_MOST_SENTENCES = 600
_SHORTEST_STEM = 4  # characters
_ENDINGS = frozenset("e n en s es er em ern ly d ed ing ism".split())

_STOP = r"(?<=[.!?])\s+|(?<=[。！？])|\n+"
_QUESTION = r"[?？]\s*$"
_POLITE_REQUEST = (
    r"(?i)\b(?:can|could|would|will) you\b|\bplease\b|\b(?:kannst|könntest|würdest) du\b|\bbitte\b|"
    r"请|請|帮我|能不能|可以"
)
_REQUEST = (
    r"(?i)\b(?:remember|forget|note|store|save|keep|record|delete|remove|drop|erase|update|change|correct|merk\w*|"
    r"vergiss|vergessen|speicher\w*|lösch\w*)\b|记|忘|删|刪|改|存"
)
_TAKEN_FOR_GRANTED = r"(?i)\b(?:my|our|mein\w*|unser\w*)\s+(\S+(?:\s+\S+){0,3})|(?:我的|我们的)([^，。？?！]{1,12})"
_HANDED_OVER = (
    r"(?is)\b(?:summari[sz]e|translate|explain|rephrase|proofread|review|analy[sz]e|read|check|übersetz\w*|"
    r"erklär\w*|prüf\w*|lies|zusammenfass\w*|fass\w*)\b[^.!?:：\n]{0,60}[:：].*|"
    r"(?:总结|翻译|解释|阅读|检查)[^。！？:：]{0,30}[:：].*"
)
_REPORTED = (
    r"(?i)(?<!\bi )(?<!\bwe )(?<!\bi have )\b(?:claim(?:s|ed)|say(?:s|ing)|said|told (?:me|us|you)|alleg(?:es|ed|edly)|"
    r"supposedly|reportedly|apparently|according to|writes|wrote|states|wants me to|asks? (?:me|us|you) to|"
    r"behauptet|sagt|schreibt|angeblich|laut)\b|据说|聲稱|声称|据称|[他她]们?说|"
    r"(?:邮件|网页|页面|文章|文档)[里中上]?(?:说|写)"
)
_DOUBT = (
    r"(?i)\b(?:i (?:really |strongly )?doubt|i (?:don['’]t|do not) (?:believe|think|"
    r"trust)|not sure|unsure|perhaps|maybe|might|"
    r"is (?:that|this|it) (?:right|true|correct)|(?:that|this|it)(?:['’]s| is|"
    r" sounds| looks) (?:wrong|false|fake|a lie|"
    r"not (?:true|right|correct)|suspicious|phishing)|(?:that|this|"
    r"it) isn['’]t (?:true|right|correct)|ich (?:be)?zweifle|"
    r"glaube (?:ich|das) nicht|stimmt das|vielleicht)\b|我怀疑|不相信|不确定|也许|可能|对吗|是真的吗"
)
# What a sentence may say besides a statement that it makes: when, how sure, how polite, and what to do with it.
_LEFT_OUT = frozenset(
    terms(
        "now from today yesterday tomorrow week month year last next monday tuesday wednesday thursday friday "
        "saturday sunday recently finally actually instead again please remember note update memory memories notes "
        "changed "
        "change moved switched anymore longer any more instead already only just also well yes yeah no ok okay hey "
        "hi oh btw "
        "way fyi thanks sorry correction correct actually mind so then jetzt nun bitte ab heute "
        "gestern letzte woche monat jahr umgezogen gewechselt merk dir"
    )
)
_OF_OTHERS = (
    r"(?i)(?<!\bi )(?<!\bwe )(?<!\bi really )(?<!\bwe all )(?<!\bi['’]d )(?<!\bi would )\b(?:wants?|wanted|says?|said|"
    r"thinks?|thought|believes?|asks?|asked|claims?|suggests?|suggested|demands?|wish(?:es|ed)?|hopes?|argues?|"
    r"insists?|propos(?:es?|ed)|recommends?|requires? me|told|heißt es|will,? dass|meint|findet)\b|"
    r"[他她]们?(?:想|要|说|认为|觉得)"
)
_UNREAL = (
    r"(?i)\b(?:false|untrue|nonsense|a (?:lie|myth|joke|mistake)|wrong that|hypothetical(?:ly)?|for example|e\.g|"
    r"for instance|pretend|would(?! like| you)|could(?! you)|might|should we|never again|in theory|wäre|würde|"
    r"könnte)\b|假设|比如"
)
_TURNS = r"(?i)^\W*(?:but|however|although|though|yet|whereas|while|aber|sondern|jedoch|doch|obwohl|但|不过|可是)"
_NEGATION = (
    r"(?i)\b(?:not|no|never|none|nobody|nothing|without|cannot|stop|avoid|except|unless|neither|nor|nicht|kein\w*|nie|"
    r"niemals|ohne)\b|n['’]t\b|不|别|別|没|沒|勿|无需|禁止|除了|除非"
)
_CLAUSE = (
    r"(?i)[;；:：]\s*|[,，]\s*|\s+(?=(?:and|but|or|then|und|aber|sondern|oder)\b)|"
    r"\s+(?=(?:except|unless|without|instead of|rather than|ohne|außer|statt)\b)|"
    r"(?<=[a-zäöü])\s+(?=(?:over|than)\s+[a-z])(?<!more)"
)
_CONTRAST = r"(?i)^(?:instead of|rather than|statt)\b"
_OWN_CLAUSE = (
    r"(?i)^(?:(?:and|or|then|und)\s+)?(?:i|we|my|our|he|she|it|they|you|there|ich|"
    r"wir|mein\w*|unser\w*|er|sie|es|always|"
    r"immer)\b|^(?:but|aber|sondern|then)\b|^[我你他她它]"
)
_CHANGE = (
    r"(?i)\b(?:moved?|switched|changed|now|renamed|replaced|from now on|jetzt|nun|umgezogen|gewechselt)\b|搬|换|改|现在"
)
# What a paraphrase keeps: numbers, addresses, paths, identifiers. Dates are reckoned ("next Tuesday").
_UNBROKEN = r"[^\s,;，。；！？（）()\[\]{}\"'`<>]+"
_HARD = late_pattern(r"[\d_/@\\#$]")  # asked of each word
_DATE = r"\b\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?\b"
_DAY = r"\b\d{4}-(\d\d)-(\d\d)"
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DIGIT = late_pattern(r"\d")
_CAPITALIZED = r"(?<=[^\s.!?:]\s)[A-Z]\w*"
_GAP = r"[^\S\n]{2,}"


def content_words(text: str) -> frozenset[str]:
    """The terms of a statement that say something."""
    return frozenset(terms(re.sub(_NEUTRAL_CJK, " ", text))) - NEUTRAL


Find = Callable[[frozenset[str], float], Iterable[str]]


def find_nothing(_words: frozenset[str], _share: float) -> Iterable[str]:
    """Find no message."""
    return ()


class Grounds:
    """The statements in messages of one or several persons.

    The messages are `texts`, and those that `find` returns as holding a share (0–1) of some words.
    """

    def __init__(self, texts: Iterable[str] = (), find: Find = find_nothing) -> None:
        self._messages = {text: _Message(text) for text in texts if text.strip()}
        self._find = find
        self._others: dict[tuple[frozenset[str], float], list[_Message]] = {}

    def joined(self, texts: Iterable[str]) -> Grounds:
        """These statements and those in more texts."""
        return Grounds((*self._messages, *texts), self._find)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Every word that was said, questions included."""
        return frozenset(term for text in self._messages for term in terms(own_words(text[:_LONGEST])))

    def hold(self, statement: str, known: str = "", *, whole: bool = False) -> bool:
        """Return whether it was stated, with `whole` word for word. With `known`, which it is to replace, whether what
        is new in it was, and something is."""
        if len(statement) > LONGEST_CONTENT:  # no memory is longer
            return False
        statement = re.sub(_GAP, " ", statement)
        undated = re.sub(_GAP, " ", re.sub(_DATE, " ", statement))
        words = content_words(undated) - _DENIALS
        news, days = words, _days(statement)
        same_sign = _denies(statement) == _denies(known)
        if known and same_sign:
            news, days = words - frozenset(terms(known)), days - _days(known)
        if not news and not (known and days):
            return not known
        core = (news - _FRAME) or news
        clauses = {(clause.terms & core, clause.denies) for clause in _clauses(undated)}
        messages = self._with_words(*((news, _SHARE_CJK) if is_cjk(undated) else (core, 1.0)))
        messages = [message for message in messages if _has(message.terms, core, undated, whole=whole, all_words=news)]
        for passage in _passages_of(messages):
            if (
                _has(passage.terms, core, undated, whole=whole, all_words=news)
                and passage.has_days(days, needed=not news)
                and (passage.conditional <= bool(re.search(CONDITION, statement)))
                and all(passage.agrees(words, denies) for words, denies in clauses)
                and not passage.turns_around(undated, core)
                and passage.is_meant(core, undated)
                and (not known or passage.says_only(core, undated, known))
                and (not known or not same_sign or passage.is_linked(known, core))
            ):
                return True
        denies = _denies(statement)
        granted = (things for message in messages for things in message.taken_for_granted)
        return not known and not denies and any(words <= things for things in granted)

    def ask_to_forget(self, key: str, content: str) -> bool:
        """Return whether a memory is asked to be forgotten or called wrong."""
        return any(passage.wants_forgotten(key, content) for passage in self._about(key, content))

    def speak_of(self, key: str, content: str) -> bool:
        """Return whether one of the messages at hand speaks of a memory."""
        return any(_is_about(frozenset(terms(own_words(text[:_LONGEST]))), key, content) for text in self._messages)

    def _with_words(self, words: frozenset[str], share: float) -> list[_Message]:
        """The messages at hand, and those that may be found by the words."""
        return [*self._messages.values(), *self._other_messages(words, share)]

    def _other_messages(self, words: frozenset[str], share: float) -> list[_Message]:
        """The messages that are found by the words; each is looked for and taken apart once."""
        if (words, share) not in self._others:
            texts = self._find(words, share)
            self._others[words, share] = [_Message(text) for text in texts if text not in self._messages]
        return self._others[words, share]

    def _about(self, key: str, content: str) -> Iterator[_Passage]:
        name, words = _subject(key, content)
        messages = [*self._with_words(name, 1.0), *self._other_messages(words, _MENTIONED)]
        return _passages_of(message for message in messages if _is_about(message.terms, key, content))


class _Message:
    """A message, taken apart only as far as it is asked for: most share no word with what is looked for."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms(self._text[:_LONGEST]))

    @cached_property
    def passages(self) -> list[_Passage]:
        parts = _sentences(self._text)
        sentences = [
            _StatedSentence(part, before, after)
            for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False)
            if not _is_question(part)
        ]
        sentences = [sentence for sentence in sentences if not sentence.is_reported]
        return [
            _Passage(sentences[at : at + span])
            for span in range(1, _SPAN + 1)
            for at in range(max(1, len(sentences) - span + 1))
            if sentences
        ]

    @cached_property
    def taken_for_granted(self) -> list[frozenset[str]]:
        """The things that a question calls the person's own."""
        questions = [part for part in _sentences(self._text) if _is_question(part)]
        return [
            frozenset(terms("".join(match.groups(default=""))))
            for question in questions
            for match in re.finditer(_TAKEN_FOR_GRANTED, question)
        ]


def _passages_of(messages: Iterable[_Message]) -> Iterator[_Passage]:
    return (passage for message in messages for passage in message.passages)


class _Clause:
    """A part of a sentence that asserts or denies. Of an item behind a denial `denies` may be None: either."""

    def __init__(self, text: str, denies: bool | None) -> None:
        self.text = text
        self.terms = frozenset(terms(text))
        self.denies = denies


class _StatedSentence:
    def __init__(self, text: str, before: str, after: str) -> None:
        self.text = text
        self.before = before
        self.terms = frozenset(terms(text))
        self.clauses = _clauses(text)
        doubted = re.search(_DOUBT, text) or (re.search(_DOUBT, after) and len(terms(after)) <= 4)
        self.is_reported = bool(re.search(_REPORTED, text) or doubted or is_taken_back(after))

    def says_only(self, core: frozenset[str], allowed: frozenset[str]) -> bool:
        """Return whether the clauses that hold what is new, the words `core`, hold nothing besides what is
        `allowed`."""
        if is_cjk(self.text):
            return True
        if any(re.match(_TURNS, clause.text) and clause.terms & allowed for clause in self.clauses):
            return False
        return all(clause.terms <= allowed for clause in self.clauses if clause.terms & core)


class _Passage:
    """A few sentences that follow one another."""

    def __init__(self, sentences: list[_StatedSentence]) -> None:
        self._sentences = sentences
        self.terms = frozenset(term for sentence in sentences for term in sentence.terms)
        self.text = " ".join(sentence.text for sentence in sentences)
        self.conditional = bool(re.search(CONDITION, self.text))
        clauses = [clause for sentence in sentences for clause in sentence.clauses]
        self._asserted = frozenset(term for clause in clauses if clause.denies is False for term in clause.terms)
        self._denied = frozenset(term for clause in clauses if clause.denies for term in clause.terms)

    def has_days(self, days: frozenset[tuple[int, int]], *, needed: bool) -> bool:
        """Return whether no day that it names speaks against these; where they are `needed`, whether it names them."""
        named = _days(self.text) | _named_days(self.text)
        return days <= named if named or needed else True

    def agrees(self, words: frozenset[str], denies: bool | None) -> bool:
        """Return whether words that a clause asserts are not only denied here, or the other way round."""
        words &= self.terms
        if not words:
            return True
        if not denies:
            return all(word in self._asserted for word in words if not is_cjk(word)) and bool(words & self._asserted)
        return bool((words & self._denied) - self._asserted)

    def turns_around(self, statement: str, core: frozenset[str]) -> bool:
        """Return whether two names stand in opposite places, with the same word between them."""
        if is_cjk(statement) or re.search(r"(?i)\bby\b", statement) or re.search(r"(?i)\bby\b", self.text):
            return False
        names = _names(statement) | _names(self.text)
        said = _first_places(terms(self.text))
        both = [term for term in dict.fromkeys(terms(statement)) if term in said and term in core]
        latest = between = -1  # the latest name so far, and the latest term that stands before it in the passage
        for term in both:
            if term in names and said[term] < between:
                return True
            if said[term] < latest:
                between = max(between, said[term])
            if term in names:
                latest = max(latest, said[term])
        return False

    def is_linked(self, known: str, news: frozenset[str]) -> bool:
        """Return whether it speaks of what is known, or of a change."""
        linked = (content_words(known) & self.terms) - news
        return bool(linked) or bool(re.search(_CHANGE, self.text))

    def is_meant(self, core: frozenset[str], statement: str) -> bool:
        """Return whether no sentence with the words `core` gives them as somebody else's wish or opinion, or as unreal,
        unless the statement does so as well."""
        said = " ".join(sentence.text for sentence in self._sentences if sentence.terms & core)
        return all(not re.search(marks, said) or re.search(marks, statement) for marks in (_OF_OTHERS, _UNREAL))

    def says_only(self, core: frozenset[str], statement: str, known: str) -> bool:
        """Return whether the sentences that state what is new say nothing that the statement leaves out."""
        allowed = frozenset(terms(statement)) | frozenset(terms(known)) | core | _LEFT_OUT | _FRAME | NEUTRAL | _DENIALS
        allowed |= frozenset(terms(" ".join(_day_words(self.text))))
        allowed |= frozenset(term for term in self.terms if _is_form_of(term, allowed))
        return all(sentence.says_only(core, allowed) for sentence in self._sentences if sentence.terms & core)

    def wants_forgotten(self, key: str, content: str) -> bool:
        if not _is_about(self.terms, key, content):
            return False
        about = _all_terms(f"{key} {key.replace('_', ' ')} {content}")
        last = self._sentences[-1]
        ordered = orders_forgetting(last.text, last.before, key, about)
        if ordered is not None and not self.conditional:
            return ordered == "" or _is_about(last.terms, key, content)
        return any(is_called_over(sentence.text, about) for sentence in self._sentences)


def _has(said: frozenset[str], core: frozenset[str], statement: str, *, whole: bool, all_words: frozenset[str]) -> bool:
    """Return whether the words of a statement are among those said; if they are no names, with another ending."""
    if whole:
        return all_words <= said
    hard = _hard(statement) & core
    if not is_cjk(statement):
        return hard <= said and all(word in said or _is_form_of(word, said) for word in core)
    latin = frozenset(word for word in core if not is_cjk(word))
    pairs = all_words - latin
    return latin | hard <= said and len(pairs & said) >= _SHARE_CJK * len(pairs)


def _clauses(text: str) -> list[_Clause]:
    clauses: list[_Clause] = []
    before: bool | None = False
    for sentence in re.split(_STOP, text):
        before = False
        for part in re.split(_CLAUSE, sentence):
            if not part.strip():
                continue
            denies: bool | None = _denies(part) or bool(re.search(_CONTRAST, part))
            if re.match(r"(?:over|than)\s", part):
                denies = not before if re.search(r"(?i)prefer|like|love|rather|favou?r|choose", sentence) else before
            elif not denies and before is not False and not re.search(_OWN_CLAUSE, part):
                denies = before if len(terms(re.sub(r"(?i)^(?:and|or|und|oder)\b", "", part))) <= 1 else None
            clauses.append(_Clause(part, denies))
            before = denies
    return clauses


def _denies(text: str) -> bool:
    return bool(re.search(_NEGATION, text))


def _days(text: str) -> frozenset[tuple[int, int]]:
    return frozenset((int(month), int(day)) for month, day in re.findall(_DAY, text))


def _named_days(text: str) -> frozenset[tuple[int, int]]:
    """The days that a text names without a year: March 3rd, 3 March, 3月3日."""
    months = "|".join(_MONTHS)
    named = [(m, d) for m, d in re.findall(rf"(?i)\b({months})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?\b", text)]
    named += [(m, d) for d, m in re.findall(rf"(?i)\b(\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? ({months})[a-z]*", text)]
    days = {(_MONTHS.index(month.lower()) + 1, int(day)) for month, day in named}
    return frozenset(days | {(int(m), int(d)) for m, d in re.findall(r"(\d{1,2})月(\d{1,2})[日号]", text)})


def _day_words(text: str) -> list[str]:
    """The words by which a text names days."""
    months = "|".join(_MONTHS)
    return re.findall(rf"(?i)\b(?:{months})[a-z]*\b|\b\d{{1,2}}(?:st|nd|rd|th)?\b|\b\w+day\b", text)


def _is_form_of(word: str, known: frozenset[str]) -> bool:
    """Return whether a word is a known one with another ending."""
    return word.isalpha() and not known.isdisjoint(_other_forms(word))


@lru_cache(maxsize=1_000)
def _other_forms(word: str) -> set[str]:
    longer = {f"{word}{ending}" for ending in _ENDINGS} if len(word) >= _SHORTEST_STEM else set()
    stems = {word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending)}
    return longer | {stem for stem in stems if len(stem) >= _SHORTEST_STEM}


@lru_cache(maxsize=8)
def _names(text: str) -> frozenset[str]:
    """The terms of what is written as a name or holds a digit."""
    numbered = [word for word in text.split() if _DIGIT.search(word)]
    return frozenset(terms(" ".join([*re.findall(_CAPITALIZED, text), *numbered])))


def _first_places(words: list[str]) -> dict[str, int]:
    return {word: place for place, word in reversed(list(enumerate(words)))}


@lru_cache(maxsize=8)  # a memory's are asked for with each passage
def _all_terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


@lru_cache(maxsize=8)
def _subject(key: str, content: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a memory's key, and all its words that carry meaning."""
    name = frozenset(terms(key.replace("_", " ")))
    return name, (name | content_words(content)) - _DENIALS - _FRAME


def _is_about(said: frozenset[str], key: str, content: str) -> bool:
    name, words = _subject(key, content)
    return bool(name and name <= said) or len(words & said) >= max(1, _MENTIONED * len(words))


def _sentences(text: str) -> list[str]:
    parts = re.split(_STOP, re.sub(_HANDED_OVER, " ", re.sub(_GAP, " ", _own_prose(text[:_LONGEST]))))
    return [part.strip() for part in parts if part.strip()][-_MOST_SENTENCES:]


def _own_prose(text: str) -> str:
    """Return the person's own text, without fenced code."""
    return without_fences(own_words(text)).replace("\x00", "")


def _is_question(sentence: str) -> bool:
    """A question that asks for no change of what is remembered."""
    asks = re.search(_REQUEST, sentence) and re.search(_POLITE_REQUEST, sentence)
    return bool(re.search(_QUESTION, sentence)) and not asks


@lru_cache(maxsize=8)
def _hard(text: str) -> frozenset[str]:
    """The terms of the numbers and the identifiers in a text."""
    text = re.sub(_DATE, " ", text)
    return frozenset(terms(" ".join([word for word in re.findall(_UNBROKEN, text) if _HARD.search(word)])))
