"""Templates into HTML. Every text is made inert (text/inert_text.py) and escaped on its way, unless it is HTML of ours.

Jinja2 comes with the extra `server`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import tzinfo
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from picomem.clock import DAY, HOUR, MINUTE, SECOND, Micros, parse_iso, to_datetime
from picomem.coded_text import CodedText, without
from picomem.light_dataclass import dataclass
from picomem.page.markdown_rendering import markdown, marked_pieces, passage_of
from picomem.page.message_catalog import LANGUAGES, Say, catalog, told, told_word
from picomem.page.page_view import address_of
from picomem.page.svg_marks import columns, icon, score_bar
from picomem.text.inert_text import for_prompt, one_line

# Errors in the reader's language, by their codes.


@dataclass(frozen=True, slots=True)
class ToldError:
    """`meaning` says in the reader's language what the code means, and `detail` in English what exactly went wrong;
    empty where the other says it."""

    meaning: str
    detail: str


def told_error(code: str, message: str, say: Say) -> ToldError:
    """An error as the page shows it: by its message alone, where that is known in the reader's language."""
    if isinstance(message, CodedText):
        return ToldError(told(message, say), "")
    key = f"error_code.{code}"
    english, meaning = catalog("en")[key], say(key)
    if meaning == english:
        return ToldError("", message)
    return ToldError(meaning, "" if message == english else message)


def error_meanings(say: Say) -> dict[str, list[str]]:
    """What each code means, in English and as told, for the page's scripts; empty where it is told in English."""
    codes = [key.removeprefix("error_code.") for key in catalog("en") if key.startswith("error_code.")]
    meanings = {code: [catalog("en")[f"error_code.{code}"], say(f"error_code.{code}")] for code in codes}
    return {code: [english, told] for code, (english, told) in meanings.items() if told != english}


# Where a statement stands in a text. Pure.


def passage_mark(text: str, statement: str) -> list[list[int]]:
    """The place in a text where a statement stands with all of its words in their order, whatever is between them that
    is no word; an empty list where it does not stand there as a whole."""
    words = _WORD.findall(statement[:_LONGEST_STATEMENT])
    if not words:
        return []
    stands = re.search(r"\W+".join(map(re.escape, words)), text, re.IGNORECASE)
    return [[stands.start(), stands.end()]] if stands else []


_WORD = re.compile(r"\w+")
_LONGEST_STATEMENT = 2_000  # characters


# Times as people read them: how long ago, and exactly. Pure.

_STEPS = (
    (MINUTE, SECOND, "second"),
    (HOUR, MINUTE, "minute"),
    (DAY, HOUR, "hour"),
    (14 * DAY, DAY, "day"),
    (60 * DAY, 7 * DAY, "week"),
    (365 * DAY, 30 * DAY, "month"),
)


def ago(at: Micros, now: Micros, say: Say) -> str:
    """A time beside another one: “3 days ago”, “in 2 hours”, “just now”."""
    span = abs(now - at)
    if span < 45 * SECOND:
        return say("time.now")
    unit, name = next(((unit, name) for end, unit, name in _STEPS if span < end), (365 * DAY, "year"))
    return say(f"time.{name}_{'ago' if at <= now else 'ahead'}", count=max(1, span // unit))


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def dated(at: Micros, now: Micros, zone: tzinfo, say: Say) -> str:
    """A time as people read it: “12 Nov, 3 weeks ago”; of the last or the next day only how long ago."""
    since = ago(at, now, say)
    if abs(now - at) < DAY:
        return since
    moment, today = to_datetime(at, zone), to_datetime(now, zone)
    day = say("time.date", day=str(moment.day), month=say(f"month.{_MONTHS[moment.month - 1]}"))
    if moment.year != today.year:
        day = say("time.date_of_year", date=day, year=str(moment.year))
    return say("time.on", date=day, ago=since)


def exactly(at: Micros, zone: tzinfo) -> str:
    """A time to the minute, in the reader's zone: `2026-05-01 14:30`."""
    return f"{to_datetime(at, zone):%Y-%m-%d %H:%M}"


THEMES = ("system", "light", "dark")
STATIC_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def rendered(template: str, values: Mapping[str, Any]) -> str:
    """A template of this package as HTML. The values that every template needs are those of `PageLayout`."""
    return _environment().get_template(template).render(values)


@cache
def static_files() -> Mapping[str, tuple[bytes, str]]:
    """What the page loads besides HTML, by name: the content and its type."""
    return {
        entry.name: (entry.read_bytes(), STATIC_TYPES[suffix])
        for entry in (files("picomem.page") / "static").iterdir()
        if (suffix := "." + entry.name.rpartition(".")[2]) in STATIC_TYPES
    }


@cache
def static_version() -> str:
    """Changes whenever a static file does, so that a browser keeps none that is old."""
    contents = b"".join(content for _, (content, _) in sorted(static_files().items()))
    return blake2b(contents, digest_size=6).hexdigest()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("picomem.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_inert,
    )
    environment.globals |= {
        "LANGUAGES": LANGUAGES,
        "THEMES": THEMES,
        "static_version": static_version(),
        "moment": _moment,
        "score_bar": score_bar,
        "icon": icon,
        "columns": columns,
        "told_error": pass_context(lambda context, code, message: told_error(code, message, context["t"])),
        "error_meanings": pass_context(lambda context: error_meanings(context["t"])),
        "address_of": lambda path, **fields: address_of(path, {name: [str(value)] for name, value in fields.items()}),
    }
    environment.filters |= {
        "marked": _marked,
        "markdown": markdown,
        "passage_of": passage_of,
        "one_line": one_line,
        "as_typed": _as_typed,
        "short_id": _short_id,
        "told": pass_context(lambda context, text: told(text, context["t"])),
        "without": without,
        "told_word": pass_context(lambda context, word: told_word(word, context["t"])),
    }
    return environment


def _inert(value: object) -> object:
    """What an expression of a template gives, made safe to look at; `autoescape` escapes it afterwards."""
    return for_prompt(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _as_typed(text: str) -> Markup:
    """A text as it is stored, for a field in which it is edited: saving it must change nothing else."""
    return escape(text)


def _marked(text: str, marks: list[list[int]]) -> Markup:
    """A text with its marks set off."""
    pieces = (
        Markup("<mark>{}</mark>").format(piece) if is_marked else piece
        for piece, is_marked in marked_pieces(text, marks)
    )
    return Markup("").join(pieces)


def _short_id(identifier: str) -> str:
    return identifier[:13]


@pass_context
def _moment(context: Context, at: str | None) -> Markup:
    """A time, as “12 Nov, 3 weeks ago”, with the exact time on hover."""
    if not at:
        return Markup("")
    zone: tzinfo = context["zone"]
    now: Micros = context["now"]
    say: Say = context["t"]
    micros = parse_iso(at)
    text = Markup('<time datetime="{}" title="{}">{}</time>')
    return text.format(one_line(at), exactly(micros, zone), dated(micros, now, zone, say))
