"""Templates into HTML. Every text is made inert (text/inert_text.py) and escaped on its way, unless it is HTML of ours.

Jinja2 comes with the extra `server`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from picomem.clock import Micros, parse_iso
from picomem.coded_text import without
from picomem.page.marked_text import marked_pieces
from picomem.page.message_catalog import LANGUAGES, Say, told, told_word
from picomem.page.page_view import address_of
from picomem.page.relative_time import ago, exactly
from picomem.page.svg_marks import columns, icon, score_bar
from picomem.page.told_errors import error_meanings, told_error
from picomem.text.inert_text import for_prompt, one_line

THEMES = ("system", "light", "dark")
STATIC_TYPES = {".css": "text/css; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


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
    """A time, as “3 days ago”, with the exact time on hover."""
    if not at:
        return Markup("")
    zone: tzinfo = context["zone"]
    now: Micros = context["now"]
    say: Say = context["t"]
    micros = parse_iso(at)
    text = Markup('<time datetime="{}" title="{}">{}</time>')
    return text.format(one_line(at), exactly(micros, zone), ago(micros, now, say))
