"""Checks of a rule's match: is it a secret, and what is its exact position?

A pattern sees shapes only: `password = …` is as often code, a placeholder, a template or a word as it is a secret. A
rule names its check, a key of `CHECKS`. Most look at the value alone; those of the last part also at what stands around
it.

Most rest on two questions. `is_blank`: is the value a stand-in for one (`<token>`, `${KEY}`, `xxxx`, `your-api-key`)?
`is_random`: was it generated rather than written, so that letters, capitals and digits change more often than in words
and names? A password may be a word, so its rule checks instead how the value is written and what surrounds it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from picomem.policy.secret_rules import words_of
from picomem.policy.secret_values import (
    CONSONANTS,
    IDENTIFIER,
    ODD_SIGN,
    RUN,
    WORD,
    WORD_ENDS,
    count_digits,
    has_letter,
    is_blank,
    is_card,
    is_cased,
    is_chain,
    is_chosen,
    is_code,
    is_discord_token,
    is_embedded,
    is_login,
    is_mixed,
    is_named,
    is_odd,
    is_path,
    is_random,
    is_uuid,
    is_varied,
    is_wallet_key,
    regex,
)

Span = tuple[int, int]  # start and end, in characters
Match = re.Match[str]
Check = Callable[[str, Match], Span | None]

_VALUE_GROUPS = ("bare", "double", "secret", "value", "single", "tick")
_PEM_LINES = (
    r"[A-Za-z0-9+/=]{16,}(?:(?:[\s\"'+>|,:;→\\.]|\\[nrt]|[0-9]{1,4}[\t→|:])+[A-Za-z0-9+/=]{16,})*"
    r"(?:(?:\s|\\n)+[A-Za-z0-9+/=]{1,15}\s*$)?"
)
_PEM_END = r"-{4,5} ?END"
_LINE_ENDS = r"(?:\\+[nr]|\s)+$"
_SEED_LENGTHS = (24, 21, 18, 15, 12)
_KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_TEST_NAME = r"Test[A-Z]|test_|Benchmark[A-Z]|Example[A-Z]|Fuzz[A-Z]"
_LONG_KEYS = frozenset({"password", "passwd", "apikey", "token", "secret", "pwd"})
_PASSWORD = (
    r"(?i)pass|pw|psk|kennwort|senha|contrase|密码|密碼|口令|授权码|парол|パスワ|パスフ|비밀번호|wachtw|lösen|adgangs|salasana"
    r"|hasł|heslo|jelsz|şifre|parola|passord|암호|лозинк|парола|mật kh|sandi|mdp|κωδ|كلمة|סיסמ|पास|รหัส"
)
_FOREIGN_KEYS = ("heslo", "parola", "passord", "wachtwoord", "adgangskode", "salasana", "kata sandi", "mdp")
_WITH = r"(?i)\b(?:with|using|and) (?:the )?$"
_OWNER = r"(?i)\b(?:my|our|his|her|their|wi-?fi|guest|new|root|admin|sudo|router)\W*$"
_QUALITY = r"(?:ed|ing|able|ible|ly|ful|less)$"
_SENTENCE_END = r"[.!]*\s*(?:\n|$)"
_PHRASE_END = r"[\"'”’`*_]{0,4}(?:[ \t]*\||[.,;!]?(?:\s|$))"
_CELL_END = r"[*_`~]{0,3}[ \t]*(?:\||$|\n|</t)"
_CALL = r"[\w.]+[(\[]"
_MEASURE = r"\d+-(?:char|digit|byte|bit|day|hour)"
_LIMIT = r"(?i)(?:min|max|len|length|size|v|utf|char|rs|hs|es)?[\W_]{0,2}\d{1,5}(?:[-–]\d{1,5})?(?:[a-z]{1,5}|\|.*)?"
_SIGN = r"[^\w\-./:, ()]"
_CJK = "[\u2e80-\uffef]"
_EMPHASIS_MARKS = ("***", "**", "__", "~~", "*", "_")
_CLOSING = {'"': '"', "“": "”", "‘": "’", "`": "`", "「": "」"}
_LONGEST_QUOTED = 100  # characters


# --- what a value is ---


# --- what stands around it ---


def _value_of(match: Match) -> Span:
    """Where the value stands, however it is written."""
    return match.span(_way(match))


def _way(match: Match) -> str:
    if match.lastgroup in _VALUE_GROUPS:
        return match.lastgroup
    groups = match.groupdict()  # a pattern may go on after its value
    return next(name for name in _VALUE_GROUPS if groups.get(name) is not None)


def _by_value(accept: Callable[[str], bool], trim: str = "") -> Check:
    """A check of the value alone, without the signs of `trim` that end it."""

    def check(text: str, match: Match) -> Span | None:
        start, end = _value_of(match)
        value = text[start:end].rstrip(trim)
        return (start, start + len(value)) if value and accept(value) else None

    return check


def _seed(text: str, match: Match) -> Span | None:
    """The words of a wallet: twelve or more of three to eight letters, none of which holds sentences together."""
    words = list(re.compile(r"[a-z]+").finditer(text, *match.span("secret")))
    plain = next((at for at, word in enumerate(words) if word[0] in words_of("sentence")), len(words))
    length = next((length for length in _SEED_LENGTHS if length <= plain), 0)
    return (match.start("secret"), words[length - 1].end()) if length else None


def _pem(text: str, match: Match) -> Span | None:
    start, end = match.span("secret")
    if not regex(_PEM_END).match(text, end):  # cut off: what follows the last line of the key is not the key
        lines = regex(_PEM_LINES).match(text, start, end)
        end = lines.end() if lines else end
    body = regex(_LINE_ENDS).sub("", text[start:end])
    return (start, start + len(body)) if len(set(body)) >= 8 else None


def _cookie(_text: str, match: Match) -> Span | None:
    key, value = match["key"].lower(), match["secret"]
    of_session = any(name in key for name in words_of("sessions")) and count_digits(value) > 0
    kept = is_blank(value) or not (of_session or (len(value) >= 20 and is_random(value)))
    return None if kept else match.span("secret")


def _typed(text: str, match: Match) -> Span | None:
    """A password typed after a flag; in prose the word after `--token` is just a word."""
    start, end = _value_of(match)
    value = text[start:end]
    key = match.groupdict().get("key") or "pass"
    if _kind(key) != "password":
        return (start, end) if is_random(value) and not is_uuid(value) and not _is_neutral(key, "") else None
    if is_named(value) or value[0] in "(|" or (value.isalpha() and value.islower() and text[start - 1] not in "=\"'p"):
        return None
    return start, end


def _paired(_text: str, match: Match) -> Span | None:
    return match.span("value") if _is_worth(_kind(match["key"]), match["value"], is_text=True) else None


def _assigned(text: str, match: Match) -> Span | None:
    """`key = value` in any language: the whole key decides, how the value is written, what follows it."""
    way = _way(match)
    start, end = match.span(way)
    key, (key_start, key_end) = match["key"], match.span("key")
    ahead = text[max(0, key_start - 60) : key_start]
    head = ahead[len(ahead.rstrip(_KEY_CHARACTERS)) :]
    if ahead.endswith("\\" + head):
        head = head[1:]  # of `\n` as it stands in JSON
    elif len(head) == 2 and head[0] == "-":
        head = ""  # of the flag in `-Dpassword=`
    middle = text[key_end:start]
    rest = middle[: len(middle) - len(middle.lstrip(_KEY_CHARACTERS))]
    if not _starts_word(head, key) or _goes_on(key, rest) or _is_neutral(head, rest):
        return None
    value = text[start:end]
    if not head and key == "PASS" and regex(_TEST_NAME).match(value):
        return None  # as test runners print it
    kind = _kind(key)
    if way != "bare":
        listed, comma, _ = middle.partition(",")
        if comma and not (any(quote in listed for quote in "\"'`") and count_digits(value)):
            return None  # the next item of a list, or an argument after one that is no name
        return (start, end) if _is_worth(kind, value, is_text=True) else None
    value = value.rstrip(".:?*!")
    end = start + len(value)
    if "," in middle or text[end : end + 1] in ("(", "[", "{", "<") or value[:1] in ("$", "%", "@", "*", "|"):
        return None
    operator = middle[len(rest) :]
    is_text = (head + key + rest).isupper() or (
        operator == "=" and text[key_start - len(head) - 1 : key_start - len(head)] in tuple("?&;")
    )
    return (start, end) if _is_worth(kind, value, is_text=is_text, is_quoted=False, is_tight=operator == "=") else None


@functools.lru_cache(256)  # of names, which are no secrets
def _kind(key: str) -> str:
    """The form that the value may have: a password may be a word, a token may be the UUID of something."""
    if regex(_PASSWORD).search(key):
        return "password"
    return "token" if key.lower().endswith("token") else "secret"


def _starts_word(head: str, key: str) -> bool:
    """`pass` is no key in `compass`, but in `DB_PASS` and `dbPass`; a long word may end a longer one."""
    if not key[0].isascii() or not key[0].isalpha() or not head or not head[-1].isalpha():
        return True
    if key[0].isupper() and (head[-1].islower() or key.isupper()):
        return True
    return key.lower() in _LONG_KEYS and head[-1].islower() == key[0].islower()


def _goes_on(key: str, rest: str) -> bool:
    """`token` in `tokenizer`: the word is another one."""
    return rest[:1].isalpha() and rest[0].isupper() == key[-1].isupper()


def _is_neutral(head: str, rest: str) -> bool:
    """Return whether the words around a key's keyword say that it names something about the secret."""
    after = map(str.lower, regex(WORD).findall(rest)) if rest else ()
    before = map(str.lower, regex(WORD).findall(head.rpartition(".")[2])[-3:]) if head else ()
    return not words_of("neutral-after").isdisjoint(after) or not words_of("neutral-before").isdisjoint(before)


def _is_worth(kind: str, value: str, *, is_text: bool, is_quoted: bool = True, is_tight: bool = False) -> bool:
    """Is the value of a secret's key a secret? `is_text`: what stands around the value says that it is no code;
    `is_tight`: nothing is between it and its sign of equality."""
    is_quoted = is_quoted and is_text
    if len(value) < 4 or is_named(value) or value in words_of("types"):
        return False
    words = value.split()
    is_name = regex(IDENTIFIER).fullmatch(value) is not None
    if not is_quoted and is_name and "." in value:
        return False
    if kind != "password":
        return len(value) >= 8 and len(words) == 1 and is_random(value)
    digits = count_digits(value)
    if len(words) > 1 or value != value.strip():
        return digits > 0 and len(words) <= 4
    if is_name and not is_text:
        return digits > 0 or (is_cased(value[1:]) and value.isalpha() and (is_tight or _is_gibberish(value)))
    if digits or (regex(_SIGN).search(value) and len(value) >= 6):
        return True
    return is_text and len(value) >= 5 and value.isalnum() and not value.isupper()


def _is_gibberish(value: str) -> bool:
    """Letters that no words are made of: capitals change too often, or too many consonants follow each other."""
    return len(value) / len(regex(RUN).findall(value)) < 3 or regex(CONSONANTS).search(value) is not None


def _spoken(text: str, match: Match) -> Span | None:
    """“my password is hunter2”: people say what a password is, and far more often what it is like."""
    start, end = match.span("value")
    value = regex(_CJK).split(match["value"], 1)[0].rstrip(".,;:!?)*'\"]}")
    end = start + len(value)
    if len(value) < 4 or value.lower() in words_of("said") or is_named(value):
        return None
    key, (key_start, key_end) = match["key"].lower(), match.span("key")
    if match["key"] == "PASS" and regex(_TEST_NAME).match(value):
        return None
    groups = match.groupdict()
    ahead = text[max(0, key_start - 14) : key_start]
    operator = (groups.get("op") or groups.get("has") or "").strip()
    quote = groups.get("quote") or ""
    if key == "key" and (
        not operator.isalpha()
        or not (words_of("neutral-before") | words_of("other-keys")).isdisjoint(ahead.lower().split())
    ):
        return None  # “the key is …” of a map or a table
    if not (
        operator
        or start < key_end
        or regex(_WITH).search(ahead)
        or (quote and is_odd(value))
        or (_is_strong(key, value) and "\n" not in text[key_end:start])
    ):
        return None  # “password field”; but “with password hunter2” says it
    said = _is_said(key, value, operator)
    if not said and key.startswith("pass") and operator.isalpha():
        is_whole = quote or (regex(_OWNER).search(ahead) and regex(_SENTENCE_END).match(text[end : end + 8]))
        said = bool(is_whole) and value.isalpha() and not regex(_QUALITY).search(value)
    if not said:
        return None
    closing = _CLOSING.get(quote[-1:], "\n")
    quoted = text[end : end + _LONGEST_QUOTED].partition(closing)
    if quoted[1] and quoted[0].startswith(" ") and "\n" not in quoted[0] and closing != "\n":
        end += len(quoted[0])  # the quoted value goes on behind a blank
    return start, end


def _is_strong(key: str, value: str) -> bool:
    """Is the value alone, right after its key, enough? A word may follow the key, but nothing drawn at random."""
    if not key.isascii() or key.startswith(_FOREIGN_KEYS):
        return len(value) >= 6 and is_odd(value)
    return len(value) >= 16 and not ("." in value and regex(IDENTIFIER).fullmatch(value)) and is_mixed(value)


def _is_said(key: str, value: str, operator: str) -> bool:
    """Return whether a value cannot be a word of the sentence: it holds digits, signs or capitals where words hold
    none."""
    if key.startswith("pin"):
        return value.isdigit() and len(value) <= 8 and operator != ""
    if key.endswith(("key", "token", "secret", "密钥", "秘钥", "私钥", "令牌")) and not key.startswith("wi"):
        return len(value) >= 8 and is_random(value)
    if key in ("pass", "pw"):
        return is_odd(value) and len(value) >= 6
    if not has_letter(value):
        return value.isdigit() and len(value) >= 5
    if regex(_CALL).match(value) or regex(_MEASURE).match(value):
        return False
    return count_digits(value) > 0 or regex(ODD_SIGN).search(value) is not None


def _labelled(text: str, match: Match) -> Span | None:
    """`**Password:** x`, `| token | x |`, “password (staging): x”: decoration between a label and its value."""
    way = _way(match)
    start, end = match.span(way)
    key_start, key_end = match.span("key")
    between = text[key_end:start]
    operator = match["op"] or match["sign"] or match["plain"]
    ahead = text[max(0, key_start - 90) : key_start].rpartition("\n")[2]
    qualifier = between.partition(operator)[0]
    if _is_neutral(ahead, qualifier.lower()):
        return None
    if way == "bare":
        value = text[start:end].rstrip(".,;:")
        mark = next((mark for mark in _EMPHASIS_MARKS if mark in between and value.endswith(mark)), "")
        end = start + len(value.removesuffix(mark))
        if operator in ("|", "–", "—") and not regex(_CELL_END).match(text, end):
            return None  # the first word of a sentence
    value = text[start:end]
    kind = _kind(match["key"])
    if (kind == "token" and is_uuid(value)) or (regex(_CALL).match(value) and value.endswith((")", "]"))):
        return None  # the id of something, or a type, such as `varchar(255)`
    return (start, end) if _is_worth(kind, value, is_text=False) and not regex(_LIMIT).fullmatch(value) else None


def _worded(text: str, match: Match) -> Span | None:
    """A passphrase: words that no sentence is made of, as many as a passphrase has, and nothing behind them."""
    start, end = match.span("value")
    value = text[start:end]
    spaced = " " in value or "," in value
    if spaced and (match["key"].lower() != "passphrase" or not regex(_PHRASE_END).match(text, end)):
        return None
    words = [word for word in re.split(WORD_ENDS, value) if not word.isdigit()]
    if len(words) < (4 if spaced and not count_digits(value) else 3) or any(map(regex(_QUALITY).search, words)):
        return None
    return (start, end) if is_chain(value) else None


def _below(text: str, match: Match) -> Span | None:
    """A key that stands alone in the line below its name."""
    ahead = text[max(0, match.start("key") - 14) : match.start("key")]
    value = match["secret"]
    return None if _is_neutral(ahead, "") or not is_mixed(value) or is_path(value) else match.span("secret")


# By the name that a section of the rules gives: the text in which a pattern matched and the match, to the secret's
# place or None.
_END = ".,;:)"  # of a sentence
CHECKS: dict[str, Check] = {
    "plain": _by_value(bool),
    "varied": _by_value(is_varied),
    "mixed": _by_value(is_mixed),
    "mixed-case": _by_value(lambda value: is_cased(value) and count_digits(value) > 0 and not is_path(value)),
    "cased": _by_value(lambda value: is_random(value) and is_cased(value + "1aA"[: count_digits(value)])),
    "drawn": _by_value(lambda value: count_digits(value) > 0 or is_random(value)),
    "coded": _by_value(is_code),
    "discord": _by_value(is_discord_token),
    "wallet": _by_value(is_wallet_key),
    "basic": _by_value(is_login),
    "card": _by_value(is_card),
    "chain": _by_value(is_chain),
    "embedded": _by_value(is_embedded),
    "told": _by_value(is_odd, _END),
    "chosen": _by_value(is_chosen, _END),
    "argument": _by_value(lambda value: (len(value) >= 16 and is_mixed(value)) or is_chosen(value)),
    "unguessable": _by_value(lambda value: is_uuid(value) or (count_digits(value) > 0 and is_random(value))),
    "seed": _seed,
    "pem": _pem,
    "cookie": _cookie,
    "typed": _typed,
    "paired": _paired,
    "assigned": _assigned,
    "spoken": _spoken,
    "labelled": _labelled,
    "worded": _worded,
    "below": _below,
}
