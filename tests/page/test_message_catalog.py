"""The page's texts: every key in every language, every key used, and every used key there."""

from __future__ import annotations

import json
import re

from tests.cases import each_case
from tests.conftest import SOURCES

from picomem.coded_text import CodedText
from picomem.english_texts import ENGLISH
from picomem.errors import PicomemError, Refused, meanings
from picomem.page.html_rendering import ToldError, told_error
from picomem.page.message_catalog import LANGUAGES, catalog, preferred_language, say_in
from picomem.page.view_table import VIEWS
from picomem.policy.refusal import Refusal

PAGE = SOURCES / "page"
# A key in a template or a module: a whole text, or the beginning of one that a value ends.
_SOURCES = [
    *sorted((PAGE / "templates").glob("*.html")),
    *sorted(PAGE.glob("*.py")),
    SOURCES / "gateway" / "web_pages.py",
]
_KEY = re.compile(r"""["']([a-z_]+\.[a-z_]*)["']""")
_STARTED = re.compile(r"""["f]?["']([a-z_]+\.[a-z_]*?)(?:["'] ~ |\{)""")


def used_keys() -> tuple[set[str], set[str]]:
    """The keys that the page uses, and the beginnings of those that it puts together."""
    text = "\n".join(path.read_text("utf-8") for path in _SOURCES)
    started = set(_STARTED.findall(text))
    families = {key.split(".")[0] for key in catalog("en")}
    keys = {key for key in _KEY.findall(text) if key.split(".")[0] in families and not key.endswith((".", ".html"))}
    return keys - started - {key for key in keys if key.endswith((".html", ".json"))}, started


def test_every_language_has_the_same_texts_with_the_same_places() -> None:
    def shape(language: str) -> dict[str, set[str]]:
        texts = {key: text for key, text in catalog(language).items() if not key.endswith(".one")}
        return {key: set(re.findall(r"{(\w+)}", text)) for key, text in texts.items()}

    for language in LANGUAGES:
        assert shape(language) == shape("en"), language
        own = list(json.loads((PAGE / "messages" / f"{language}.json").read_text("utf-8")))
        assert own == sorted(own), language


def test_every_text_is_used_and_every_used_text_exists() -> None:
    used, started = used_keys()
    known = {key.removesuffix(".one") for key in catalog("en")}
    assert used - known == set()
    assert {key for key in known - used - ENGLISH.keys() if not key.startswith(tuple(started))} == set()
    assert {start for start in started if not any(key.startswith(start) for key in known)} == set()


def test_every_coded_text_is_said_and_every_code_that_is_said_has_a_text() -> None:
    """Issue 40, point 3: the wordings are those of the codes in the sources; the test above has them in each language."""
    families = "|".join({code.partition(".")[0] for code in ENGLISH})
    literals: set[tuple[str, str]] = set()
    for path in SOURCES.rglob("*.py"):
        if path.name != "english_texts.py":
            literals |= set(re.findall(rf'"((?:{families})\.[a-z_]*)(["{{])', path.read_text("utf-8")))
    said = {code for code, end in literals if end == '"'}
    started = tuple(code for code, end in literals if end == "{")
    assert said - ENGLISH.keys() == set()
    unsaid = {code.removesuffix(".one") for code in ENGLISH} - said
    assert {code for code in unsaid if not code.startswith(started)} == set()


def test_every_code_of_an_error_is_told_in_every_language() -> None:
    for code, meaning in meanings().items():
        for language in LANGUAGES:
            assert (told_error(code, meaning, say_in(language)).meaning == "") == (language == "en"), (language, code)


def test_every_error_of_operations_is_among_those_that_are_told() -> None:
    def classes(error: type[PicomemError]) -> list[type[PicomemError]]:
        return [error, *(below for subclass in error.__subclasses__() for below in classes(subclass))]

    packages = {error: error.__module__.split(".") for error in classes(PicomemError)}
    # The benchmarks have errors of their own, which no page meets.
    served = [error for error, (first, *_) in packages.items() if first == "picomem"]
    assert {error.code for error in served} <= meanings().keys()


def test_an_error_with_a_code_of_its_own_is_told_without_english() -> None:
    refused = Refused(CodedText("reason.not_written", why=Refusal.QUESTION.reason))
    assert str(refused) == "Not written: It asks something and states nothing."
    assert told_error(refused.code, refused.message, say_in("en")) == ToldError(refused.message, "")
    told = "未写入：它在提问，没有陈述任何事。"
    assert told_error(refused.code, refused.message, say_in("zh")) == ToldError(told, "")


def test_what_went_wrong_stands_beside_its_meaning_once() -> None:
    assert told_error("no_store", "There is no file.", say_in("en")) == ToldError("", "There is no file.")
    meaning = catalog("zh")["error_code.no_store"]
    assert told_error("no_store", "There is no file.", say_in("zh")) == ToldError(meaning, "There is no file.")
    assert told_error("no_store", catalog("en")["error_code.no_store"], say_in("zh")) == ToldError(meaning, "")


@each_case(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de,en;q=0.5", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en;q=0.4, zh-TW;q=0.8", "zh"),
        ("x;q=y,zh", "zh"),
    ],
)
def test_the_language_is_the_first_that_the_browser_asks_for(accepted: str, language: str) -> None:
    assert preferred_language(accepted) == language


def test_the_documentation_names_every_view_of_the_rail() -> None:
    page = (SOURCES.parents[1] / "docs" / "page.md").read_text("utf-8")
    labels = [say_in("en")(f"rail.{view.name}") for view in VIEWS if view.icon]
    assert [label for label in labels if f"| {label} |" not in page] == []


def test_a_text_agrees_with_its_count() -> None:
    say = say_in("en")
    assert say("search.hits", count=1) == "1 result"
    assert say("search.hits", count=2_000) == "2,000 results"
    assert say_in("zh")("search.hits", count=1) == "1 条结果"
