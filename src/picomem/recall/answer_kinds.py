"""What kind of answer a question calls for, and whether a statement holds anything of that kind. Pure.

“Who painted the kitchen?” is not answered by “The kitchen was painted sage green in spring”, whose words it shares.
Only statements are judged so, for each says by itself what it says; what is asked of a turn in a talk may stand in the
turn before.
"""

from __future__ import annotations

import re

from picomem.text.terms import is_cjk

_NUMBER = (
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|dozen|couple|half|twice|once|both|several|few|many|most|every|daily|weekly|monthly"
    r"|yearly|hourly|nightly|free|unlimited|forever)\b|[一二两三四五六七八九十百千万半几每]"
)
_TIME = (
    r"(?i)\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|spring|summer|autumn|winter|mornings?|noon|afternoons?|evenings?|nights?"
    r"|midnight|weekends?|yesterday|today|tomorrow|weeks?|months?|years?|days?|hours?|minutes?|ago|since|until|before"
    r"|after|when|while|during|last|next|early|late|every|daily|weekly|monthly|yearly|hourly|nightly|once|twice|as soon"
    r"|never|always|half past|quarter (?:to|past)|o['’]clock)\b|[一二三四五六七八九十年月日周天时后前每]"
    r"|\b(?:at|by|around|till) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?=$|[^\w ]| (?:sharp|on|in|every|or|and|to|until|till|unless|but)\b)"  # and no “by two people”
)
_REASON = (
    r"(?i)\b(?:because|since|as (?:it|we|they|the|there)|so (?:that|we|it|they|as)|due|reasons?|causes?|caused|in order"
    r"|to (?:avoid|save|keep|make|prevent|reduce|get|let|allow)|avoids?|otherwise|needs?|needed|wants?|wanted|too"
    r"|breaks?|broke|fail\w*|therefore|for (?:its|their|reasons|the sake)|thanks to|better|worse|cheaper|faster|slower"
    r"|easier|safer|simpler|cannot|can['’]t|couldn['’]t|loses?|lost)\b|因|由于|所以|为了|原因|导致|太|要"
    r"|[;:—–] |, (?:it|they|he|she|we|that|there)\b"  # an explanation that no word introduces
)
_PLACE = (
    r"(?i)\b(?:in|at|on|under|near|to|from|into|behind|by|through|via|inside|next|over|of|with)\b|[/\\]"
    r"|在|到|从|位于|住|放|去"
)
_KINDS = (
    (
        r"(?i)\bhow (?:many|much|long|often|old|big|large|fast|tall|far|high|expensive)\b|\bcosts?\b"
        r"|\bwhat(?:['’]s| is| was| are| were) the (?:price|cost|number|amount|rent|size|rate|limit)\b"
        r"|多少|几[个天次点岁年月号位人]|多[久大长快高远]",
        _NUMBER,
    ),
    (
        r"(?i)\bwhen\b|\b(?:what|which) (?:time(?! zones?)|day|date|month|year)\b|什么时候|何时|哪[天年月]|几[点号月]",
        _TIME,
    ),
    (r"(?i)\bwhy\b|\bhow come\b|为什么|为何|原因", _REASON),
)
_WHERE = r"(?i)\bwhere\b|在哪|哪里|哪儿|什么地方"
_WHO = r"(?i)\bwho(?:m|se)?\b"
_PEOPLE = (
    r"\b(?:I|he|she|they|we|my|his|her|our|their|team|agency|company|department|wife|husband|partner|mother|father|sister"
    r"|brother|son|daughter|friend|boss|colleague|doctor|everyone|everybody|nobody|anyone|anybody|users?|admins?)\b"
)
# A name within a sentence, one with a sign or a digit in it, or a Latin word in Chinese: “where are the images” is
# answered by “Images: the bucket acme-img”, and “where are secrets kept” by “Secrets: Vault”.
_NAMED = r"(?<=[\w,;:] )[A-Z]\w+|\b[A-Za-z]+[-_\d]\w*|(?<=[\u3400-\u9fff])\s?[A-Za-z]{2,}"
_CAPITALISED = r"(?<![.!?] )(?<!^)\b[A-Z]\w+"  # within a sentence


def calls_for_kind(question: str) -> bool:
    """Return whether a question calls for a number, a time, a reason, a place or a person."""
    return any(re.search(asked, question) for asked in (_WHO, _WHERE, *(asked for asked, _ in _KINDS)))


def lacks_kind(question: str, statement: str) -> bool:
    """Return whether a question calls for a number, a time, a reason, a place or a person, and a statement has none."""
    if re.search(_WHO, question):
        return not (is_cjk(statement) or _names_somebody(question, statement))
    if re.search(_WHERE, question) and not re.search(_PLACE, statement):
        asked = question.casefold()
        return all(name.strip().casefold() in asked for name in re.findall(_NAMED, statement))
    return any(re.search(asked, question) and not re.search(answer, statement) for asked, answer in _KINDS)


def _names_somebody(question: str, statement: str) -> bool:
    """Return whether a statement has a name, or a word for people, that the question does not have."""
    asked = question.casefold()
    named = [*re.findall(_CAPITALISED, statement), *re.findall(_PEOPLE, statement, re.IGNORECASE)]
    # The first word is capitalised in any case: a name if it stands before a verb, not before the rest of a subject.
    first = re.match(r"\s*([A-Z][a-z]+)(?: [A-Z]\w+)? (?:\w+s|will|can|has|\w+ed)\b", statement)
    return any(word.casefold() not in asked for word in [*named, *([first[1]] if first else [])])
