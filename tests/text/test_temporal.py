"""The time that a question names. Asked on Wednesday, 18 October 2023, 14:30, if a test says nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.cost import cost

from picomem.clock import to_datetime, to_micros
from picomem.errors import InvalidTime
from picomem.text.temporal.parsing import ParsedWindow, TimeReading, parse_window, read_time
from picomem.text.temporal.words import NAMES, holiday

WEDNESDAY = datetime(2023, 10, 18, 14, 30)


def ask(question: str, at: datetime = WEDNESDAY, zone: tzinfo = UTC) -> TimeReading:
    return read_time(question, to_micros(at.replace(tzinfo=zone)), zone)


def shown(window: ParsedWindow | None, zone: tzinfo = UTC) -> str:
    """A window in local time: days as “first..last”, finer ones with hours."""
    if window is None:
        return ""
    since, until = to_datetime(window.since, zone), to_datetime(window.until, zone)
    if (since.hour, since.minute, until.hour, until.minute) == (0, 0, 0, 0):
        last = until - timedelta(days=1)
        return f"{since:%Y-%m-%d}" if since.date() == last.date() else f"{since:%Y-%m-%d}..{last:%Y-%m-%d}"
    return f"{since:%Y-%m-%dT%H:%M}..{until:%Y-%m-%dT%H:%M}"


def read(question: str) -> str:
    return shown(ask(question).window)


@pytest.mark.requirement("A4")
@each_case(
    ("phrase", "window"),
    [
        ("today", "2023-10-18"),
        ("yesterday", "2023-10-17"),
        ("the day before yesterday", "2023-10-16"),
        ("2 days ago", "2023-10-16"),
        ("three days ago", "2023-10-15"),
        ("21 days ago", "2023-09-26..2023-09-27"),
        ("two weeks ago", "2023-10-01..2023-10-07"),
        ("a month ago", "2023-09-01..2023-09-30"),
        ("3 months ago", "2023-07-01..2023-07-31"),
        ("2 years ago", "2021-01-01..2021-12-31"),
        ("two quarters ago", "2023-04-01..2023-06-30"),
        ("last week", "2023-10-09..2023-10-15"),
        ("this week", "2023-10-16..2023-10-22"),
        ("last month", "2023-09-01..2023-09-30"),
        ("last quarter", "2023-07-01..2023-09-30"),
        ("last year", "2022-01-01..2022-12-31"),
        ("last weekend", "2023-10-14..2023-10-15"),
        ("over the weekend", "2023-10-14..2023-10-15"),
        ("the last week", "2023-10-11..2023-10-18"),
        ("this past month", "2023-09-18..2023-10-18"),
        ("in the last 30 days", "2023-09-18..2023-10-18"),
        ("last Tuesday", "2023-10-17"),
        ("on Tuesday", "2023-10-17"),
        ("on Wednesday", "2023-10-11"),
        ("this Monday", "2023-10-16"),
        ("this past Friday", "2023-10-13"),
        ("two Tuesdays ago", "2023-10-10"),
        ("two weekends ago", "2023-10-07..2023-10-08"),
        ("the Tuesday before last", "2023-10-10"),
        ("the week before last", "2023-10-02..2023-10-08"),
        ("Tuesday of last week", "2023-10-10"),
        ("last summer", "2023-06-01..2023-08-31"),
        ("in the winter", "2022-12-01..2023-02-28"),
        ("last May", "2023-05-01..2023-05-31"),
        ("earlier this month", "2023-10-01..2023-10-31"),
    ],
)
def test_relative_words_count_from_the_day_of_asking(phrase: str, window: str) -> None:
    assert read(f"What did we talk about {phrase}?") == window


@each_case(
    ("phrase", "window"),
    [
        ("on May 8th", "2023-05-08"),
        ("on May 8", "2023-05-08"),
        ("on May eighth", "2023-05-08"),
        ("on the eighth of May", "2023-05-08"),
        ("on May the twenty-first", "2023-05-21"),
        ("on 8 May 2022", "2022-05-08"),
        ("on Feb. 12, 2022", "2022-02-12"),
        ("on Tuesday, May 9th", "2023-05-09"),
        ("on 5/8/2023", "2023-05-08"),
        ("on 25/8/2023", "2023-08-25"),
        ("on 5/8/23", "2023-05-08"),
        ("on 2023-05-08", "2023-05-08"),
        ("at 2023-05-08T10:00", "2023-05-08"),
        ("on 2023/5/8", "2023-05-08"),
        ("on December 17th", "2022-12-17"),
        ("on the 8th", "2023-10-08"),
        ("on the 30th", "2023-09-30"),
        ("on February 29th", "2020-02-29"),
        ("in May", "2023-05-01..2023-05-31"),
        ("in December", "2022-12-01..2022-12-31"),
        ("in October", "2023-10-01..2023-10-31"),
        ("in April of 2022", "2022-04-01..2022-04-30"),
        ("in 2023", "2023-01-01..2023-12-31"),
        ("in Q2 2022", "2022-04-01..2022-06-30"),
        ("in summer 2022", "2022-06-01..2022-08-31"),
        ("in early May", "2023-05-01..2023-05-12"),
        ("in mid-May", "2023-05-09..2023-05-23"),
        ("in late May", "2023-05-20..2023-05-31"),
        ("at the end of last month", "2023-09-19..2023-09-30"),
        ("in the first half of 2022", "2022-01-01..2022-07-01"),
        ("in the first week of May", "2023-05-01..2023-05-07"),
        ("in the week of May 10th", "2023-05-08..2023-05-14"),
        ("the day after Christmas", "2022-12-27"),
    ],
)
def test_dates_without_a_year_are_the_latest_not_after_the_asking(phrase: str, window: str) -> None:
    assert read(f"What did we talk about {phrase}?") == window


@each_case(
    ("phrase", "window"),
    [
        ("between May 4th and May 20th", "2023-05-04..2023-05-20"),
        ("between December 22nd and January 9th", "2022-12-22..2023-01-09"),
        ("from March to May", "2023-03-01..2023-05-31"),
        ("from May 4 to May 20, 2022", "2022-05-04..2022-05-20"),
        ("from 8 to 12 May", "2023-05-08..2023-05-12"),
        ("from May 8 to 12", "2023-05-08..2023-05-12"),
        ("May 8-12", "2023-05-08..2023-05-12"),
        ("from the 3rd to the 8th of May", "2023-05-03..2023-05-08"),
        ("from Monday to Wednesday", "2023-10-16..2023-10-18"),
        ("in May and June", "2023-05-01..2023-06-30"),
        ("since May", "2023-05-01..2023-10-18"),
        ("since last week", "2023-10-09..2023-10-18"),
        ("before May 8th", "1970-01-01..2023-05-07"),
        ("prior to 2022", "1970-01-01..2021-12-31"),
        ("after May 8th", "2023-05-09..2023-10-18"),
        ("until last week", "1970-01-01..2023-10-15"),
    ],
)
def test_ranges_and_bounds(phrase: str, window: str) -> None:
    assert read(f"What did we talk about {phrase}?") == window


@each_case(
    ("phrase", "window"),
    [
        ("this morning", "2023-10-18T04:00..2023-10-18T12:00"),
        ("yesterday afternoon", "2023-10-17T12:00..2023-10-17T18:00"),
        ("last night", "2023-10-17T18:00..2023-10-18T06:00"),
        ("on the morning of May 8th", "2023-05-08T04:00..2023-05-08T12:00"),
        ("on Tuesday evening", "2023-10-17T17:00..2023-10-18T00:00"),
        ("3 hours ago", "2023-10-18T10:30..2023-10-18T12:30"),
        ("half an hour ago", "2023-10-18T13:45..2023-10-18T14:15"),
        ("昨晚", "2023-10-17T18:00..2023-10-18T06:00"),
        ("昨天上午", "2023-10-17T04:00..2023-10-17T12:00"),
        ("3小时前", "2023-10-18T10:30..2023-10-18T12:30"),
    ],
)
def test_parts_of_a_day_and_hours_are_finer_than_a_day(phrase: str, window: str) -> None:
    assert read(f"What did we discuss {phrase}") == window


@each_case(
    ("phrase", "window"),
    [
        ("on Christmas Eve", "2022-12-24"),
        ("over Christmas", "2022-12-24..2022-12-26"),
        ("on New Year’s Eve", "2022-12-31"),
        ("on Halloween", "2022-10-31"),
        ("on Valentine's Day", "2023-02-14"),
        ("on Valentine's Day last year", "2022-02-14"),
        ("on Thanksgiving 2022", "2022-11-24"),
        ("on Easter", "2023-04-09"),
        ("去年春节", "2022-01-31..2022-02-08"),
        ("中秋节", "2023-09-29..2023-10-01"),
        ("国庆", "2023-10-01..2023-10-07"),
    ],
)
def test_feasts_are_dates(phrase: str, window: str) -> None:
    assert read(f"What did we do {phrase}?") == window


def test_every_feast_has_a_day_in_every_year_of_the_lunar_table() -> None:
    for name in NAMES:
        for year in range(2015, 2045):
            assert abs(holiday(name).at(year).first.year - year) <= 1


@each_case(
    ("phrase", "window"),
    [
        ("今天", "2023-10-18"),
        ("昨天", "2023-10-17"),
        ("前天", "2023-10-16"),
        ("大前天", "2023-10-15"),
        ("三天前", "2023-10-15"),
        ("十五天前", "2023-10-02..2023-10-03"),
        ("两周前", "2023-10-01..2023-10-07"),
        ("三个月前", "2023-07-01..2023-07-31"),
        ("两年前", "2021-01-01..2021-12-31"),
        ("上周", "2023-10-09..2023-10-15"),
        ("上周二", "2023-10-10"),
        ("上上周", "2023-10-02..2023-10-08"),
        ("这周", "2023-10-16..2023-10-22"),
        ("本周一", "2023-10-16"),
        ("上个星期天", "2023-10-15"),
        ("上週末", "2023-10-14..2023-10-15"),
        ("周二", "2023-10-17"),
        ("本月", "2023-10-01..2023-10-31"),
        ("上个月", "2023-09-01..2023-09-30"),
        ("上个月15号", "2023-09-15"),
        ("上月底", "2023-09-21..2023-09-30"),
        ("去年", "2022-01-01..2022-12-31"),
        ("前年", "2021-01-01..2021-12-31"),
        ("今年", "2023-01-01..2023-12-31"),
        ("去年五月", "2022-05-01..2022-05-31"),
        ("五月八日", "2023-05-08"),
        ("5月8号", "2023-05-08"),
        ("12月17日", "2022-12-17"),
        ("2023年5月", "2023-05-01..2023-05-31"),
        ("2022年3月15日", "2022-03-15"),
        ("二〇二二年三月", "2022-03-01..2022-03-31"),
        ("1月中旬", "2023-01-11..2023-01-20"),
        ("9月上旬", "2023-09-01..2023-09-10"),
        ("2月下旬", "2023-02-21..2023-02-28"),
        ("今年年初", "2023-01-01..2023-03-31"),
        ("去年底", "2022-11-01..2022-12-31"),
        ("去年夏天", "2022-06-01..2022-08-31"),
        ("上半年", "2023-01-01..2023-06-30"),
        ("第二季度", "2023-04-01..2023-06-30"),
        ("过去30天", "2023-09-18..2023-10-18"),
        ("近两个月", "2023-08-18..2023-10-18"),
        ("从5月3日到8日", "2023-05-03..2023-05-08"),
        ("5月3日至5日之间", "2023-05-03..2023-05-05"),
        ("5月以来", "2023-05-01..2023-10-18"),
        ("5月8日之后", "2023-05-09..2023-10-18"),
        ("5月8日之前", "1970-01-01..2023-05-07"),
        ("在2023/5/8", "2023-05-08"),
    ],
)
def test_chinese_words(phrase: str, window: str) -> None:
    assert read(f"我们{phrase}聊了什么？") == window


@each_case(
    "question",
    [
        "How was the 3 day trip?",
        "I was ill for two weeks, what helped?",
        "May I ask who you are?",
        "She may 2 of them, or not",
        "Is it from 5 to 8 people, or 10 - 12?",
        "Who joined the march on Washington?",
        "What was the second item?",
        "What did I get done in 5 minutes of work?",
        "Did we pick Python 3.11 or 3.12?",
        "What did I see in 10 days in Rome?",
        "Was the price $2023?",
        "Can you remind me of the 27th parameter on that list?",
        "Which room on the 8th floor?",
        "Did it take 2000 words, or an essay in 1800 words?",
        "How many days ago did I run?",
        "How much do I pay a month?",
        "What do I do every Tuesday?",
        "What time do I get up on Saturday mornings?",
        "What is planned for next Tuesday?",
        "What will happen in 3 days?",
        "What did April say to May?",
        "Is the fall of Rome in the book?",
        "Which bean did I use in spring boot?",
        "Did I fix port 8080 at 10.0.0.2/24?",
        "What does https://example.org/2023/05/08/post say?",
        "Where is notes-2023-05-08.md?",
        "What came of CVE-2023-1234?",
        "On 30 February?",
        "It happened in 1950",
        "3号线在哪里？",
        "我每周一做什么？",
        "两周一次的课是什么？",
        "五月天的演唱会",
        "三天的旅行怎么样？",
        "下周做什么？",
        "99999999999天前",
        "99999999999 days ago",
        "日本周边有什么？",
        "1970年代",
        "2月30日",
    ],
)
def test_durations_ages_numbers_and_names_are_not_windows(question: str) -> None:
    reading = ask(question)
    assert (reading.window, reading.phrase, reading.certain) == (None, "", False)


@each_case(
    "question",
    [
        'Who wrote the song "yesterday"?',
        "Who sings ‘Last Christmas’ or “last week”?",
        "What was the plot of 'the day before yesterday'?",
        "What does `git log --since=yesterday` print?",
        "谁写了《昨天》？",
        "「上周」这首歌",
    ],
)
def test_words_in_quotation_marks_are_not_a_filter(question: str) -> None:
    assert ask(question).window is None


def test_an_apostrophe_is_not_a_quotation_mark() -> None:
    assert ask("What did the kids' teacher say last week about my parents' visit?").phrase == "last week"


@each_case(
    ("question", "phrase"),
    [
        ("What did we decide last Tuesday?", "last Tuesday"),
        ("Since May, what did I buy?", "Since May"),
        ("What did we do in MAY 2023, exactly?", "MAY 2023"),
        ("上週二我們說了什麼", "上週二"),
        ("İİ what did we say 2 days ago", "2 days ago"),
    ],
)
def test_the_phrase_is_as_it_stands_in_the_question(question: str, phrase: str) -> None:
    assert ask(question).phrase == phrase


@each_case(
    ("question", "order"),
    [
        ("When was the first time we met?", "first"),
        ("What was the earliest idea?", "first"),
        ("第一次见面聊了什么", "first"),
        ("What did you recommend last time?", "last"),
        ("Whom did I visit most recently?", "last"),
        ("When did I last see Anna?", "last"),
        ("上次聊了什么", "last"),
        ("最近一次体检是什么时候", "last"),
        ("Did we first meet the first time or the last time?", ""),
        ("What is her first name and his last name?", ""),
        ("What did I do last week?", ""),
    ],
)
def test_order_says_which_end_is_wanted(question: str, order: str) -> None:
    assert ask(question).order == order


@each_case(
    "question",
    [
        "What did we chat about on May 8th?",
        "What did I do last week?",
        "meeting notes last Tuesday",
        "Summarize yesterday",
        "what did we discuss in 2022",
        "What does Ann mention about dogs on May 8th, 2022?",
        "What did Ann adopt a month ago, as mentioned on May 8th, 2022?",
        "三天前我们聊了什么？",
    ],
)
def test_a_question_that_looks_back_may_filter(question: str) -> None:
    assert ask(question).certain


@each_case(
    "question",
    [
        "What have I been painting recently?",
        "What did we say a while ago?",
        "What did I read a few days ago?",
        "What should I do today?",
        "What do I have this week?",
        "I have got time this afternoon, any recommendations?",
        "How long was it since last week?",
        "How many days passed between May 4th and the party?",
        "How many pages have I written since I began three weeks ago?",
        "Where did she move from 4 years ago?",
        "My train was late today. Which hotel did we book?",
        "最近在忙什么？",
        "从9月1日到完成隔了多少天？",
    ],
)
def test_vague_words_plans_and_durations_are_not_certain(question: str) -> None:
    reading = ask(question)
    assert reading.window is not None
    assert not reading.certain


def test_about_belongs_to_the_verb_before_it() -> None:
    assert ask("What did we talk about two weeks ago?").certain
    assert not ask("What did I buy about two weeks ago?").certain


def test_several_times_give_the_stretch_over_all_and_are_not_certain() -> None:
    reading = ask("What changed after our trip on May 8th and what did I do on June 9th?")
    assert (shown(reading.window), reading.certain) == ("2023-05-08..2023-06-09", False)
    assert reading.phrase == "May 8th … June 9th"


def test_a_time_within_another_narrows_it() -> None:
    assert shown(ask("In 2023, what did we say on May 8th?").window) == "2023-05-08"


def test_the_time_of_the_talk_counts_and_not_the_time_in_it() -> None:
    reading = ask("What did Ann do last Friday, according to the conversation on February 21, 2023?")
    assert reading.phrase == "February 21, 2023"


def test_what_is_still_to_come_is_no_window() -> None:
    assert ask("What did we say in 2030?").window is None
    assert ask("What did we plan for this weekend?").window is None


@each_case(
    ("place", "day", "hours"),
    [
        ("America/New_York", "2018-11-04", 25),
        ("America/New_York", "2018-03-11", 23),
        ("America/Sao_Paulo", "2018-11-04", 23),  # the clock goes from 23:59 to 01:00: there is no midnight
        ("Asia/Shanghai", "2018-11-04", 24),
    ],
)
def test_a_day_is_a_local_day_where_the_clock_changes(place: str, day: str, hours: int) -> None:
    window = parse_window(day, to_micros(WEDNESDAY), ZoneInfo(place))
    assert window.until - window.since == hours * 3_600_000_000
    assert to_datetime(window.since, ZoneInfo(place)).date().isoformat() == day


def test_today_is_the_askers_day_and_not_the_one_in_greenwich() -> None:
    late = datetime(2023, 10, 18, 23, 30, tzinfo=UTC)
    reading = read_time("What did we say today?", to_micros(late), ZoneInfo("Asia/Shanghai"))
    assert shown(reading.window, ZoneInfo("Asia/Shanghai")) == "2023-10-19"


@each_case(
    ("text", "window"),
    [
        ("30d", "2023-09-18..2023-10-18"),
        ("2w", "2023-10-04..2023-10-18"),
        ("6mo", "2023-04-18..2023-10-18"),
        ("1y", "2022-10-18..2023-10-18"),
        ("last week", "2023-10-09..2023-10-15"),
        (" last 30 days ", "2023-09-18..2023-10-18"),
        ("2026-05-03", "2026-05-03"),
        ("2026-05", "2026-05-01..2026-05-31"),
        ("2026", "2026-01-01..2026-12-31"),
        ("2026-05-01..2026-05-09", "2026-05-01..2026-05-09"),
        ("2026-05..2026-06", "2026-05-01..2026-06-30"),
        ("2026-05-01..", "2026-05-01..9998-12-31"),
        ("..2026-05-09", "1970-01-01..2026-05-09"),
        ("last week..yesterday", "2023-10-09..2023-10-17"),
        ("2023-05-03T14:30..2023-05-03T16:00", "2023-05-03T14:30..2023-05-03T16:01"),
        ("2023-05-03T14:30+02:00", "2023-05-03T12:30..2023-05-03T12:31"),
        ("may", "2023-05-01..2023-05-31"),
        ("tuesday", "2023-10-17"),
        ("三天前", "2023-10-15"),
        ("上周", "2023-10-09..2023-10-15"),
    ],
)
def test_a_window_given_as_an_option(text: str, window: str) -> None:
    assert shown(parse_window(text, to_micros(WEDNESDAY), UTC)) == window


@each_case(
    "text",
    [
        "", "..", "soon", "last week foo", "2026-02-30", "2023-13", "2026-05-09..2026-05-01", "1900", "30m",
        "9999999999d", "99999y", "9999-12-31", "2026-05-01..soon", "\x00", "x" * 10_000,
    ],
)  # fmt: skip
def test_an_option_that_is_no_time_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidTime) as refused:
        parse_window(text, to_micros(WEDNESDAY), UTC)
    message = str(refused.value)
    assert message.endswith(".")
    assert "\x00" not in message
    assert len(message) < 200


HOSTILE = {
    "a megabyte": "a" * 1_000_000,
    "zero bytes": "\x00" * 5_000,
    "ten thousand words": "word " * 10_000,
    "a long number": "9" * 5_000 + " days ago",
    "numbers": "1 " * 1_000,
    "nested parts": "early " * 1_000,
    "nested offsets": "2 days before " * 500,
    "nested weeks": "week of " * 500,
    "quotation marks": " 'a" * 1_000,
    "dates": "May 8 to " * 500,
    "chinese numerals": "一百十" * 1_000,
    "chinese dates": "从五月" * 1_000,
    "half a character": "\ud800 last week",
}


@each_case("text", HOSTILE.values(), ids=[*HOSTILE])
def test_a_hostile_question_is_read_quickly_and_without_an_error(text: str) -> None:
    ask("warm up last week 上周")
    assert cost(lambda: ask(text), 0.05) < 0.05


PIECES = [
    "last", "this", "the", "week", "month", "May", "8th", "2023", "between", "and", "from", "to", "since",
    "before", "after", "early", "of", "in", "on", "Tuesday", "ago", "two", "half", "Christmas", "new",
    "year's", "eve", "-", ",", "99999", "30", "February", "first", "morning", "night", "三天前", "上周",
    "五月", "从", "到", "8", "号", "之前", "年", "春节", "\x00", "。",
]  # fmt: skip
MOMENTS = [WEDNESDAY, datetime(1970, 1, 1), datetime(1, 1, 3), datetime(9999, 12, 29)]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(MOMENTS), st.sampled_from([" ", ""]))
def test_any_words_give_a_window_that_is_not_empty_or_none(words: list[str], asked: datetime, between: str) -> None:
    question = between.join(words)
    reading = ask(question, asked)
    if reading.window is None:
        assert not reading.certain
    else:
        assert 0 <= reading.window.since < reading.window.until
        assert all(part in question for part in reading.phrase.split(" … "))


def test_reading_time_loads_no_library_outside_the_standard_one() -> None:
    code = "import sys, picomem.text.temporal; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "apsw", "pydantic", "dateparser", "dateutil"} & set(done.stdout.split())


@each_case(
    ("phrase", "window"),
    [
        ("the last weekend before October 10", "2023-10-07..2023-10-08"),
        ("the weekend before October 10", "2023-10-07..2023-10-08"),
        ("the last Friday before October 6", "2023-09-29"),
        ("the first weekend after October 2", "2023-10-07..2023-10-08"),
        ("the Monday after October 2", "2023-10-09"),
        ("the last weekend before Christmas", "2022-12-17..2022-12-18"),
    ],
)
def test_a_weekend_or_weekday_beside_a_date_is_the_nearest_one(phrase: str, window: str) -> None:
    reading = ask(f"Where did we eat on {phrase}?")
    assert (shown(reading.window), reading.phrase) == (window, phrase)


def test_what_was_to_be_done_by_a_date_may_have_been_said_at_any_time_before_it() -> None:
    reading = ask("What did I have to hand in by October 10?")
    assert (shown(reading.window), reading.certain) == ("1970-01-01..2023-10-10", False)


@each_case("question", ["What must be finished by November 10?", "What is due by Friday?"])
def test_a_deadline_that_is_still_to_come_is_no_time_of_a_talk(question: str) -> None:
    assert ask(question).window is None


@each_case(
    ("text", "said"),
    [
        ("1963-04-07", "“1963-04-07” is before 1970"),
        ("1960..1965", "“1960..1965” is before 1970"),
        ("0001-01-01", "“0001-01-01” is before 1970"),
        ("0001-01-01..2026-05-01", "“0001-01-01” is before 1970"),
        ("1899-12", "“1899-12” is before 1970"),
        ("0001", "“0001” is before 1970"),
        ("2100-01-01", "“2100-01-01” is too late a date; name one from 1970 to 2099"),
        ("10000-01-01", "“10000-01-01” is too late a date"),
        ("2026-02-30", "“2026-02-30” is not in the calendar"),
        ("2026-13", "“2026-13” is not in the calendar"),
        ("soon", "“soon” cannot be read as a time"),
        ("2026-05-09..2026-05-01", "ends before it begins; write the earlier date first"),
    ],
)
def test_a_window_that_cannot_be_says_why(text: str, said: str) -> None:
    with pytest.raises(InvalidTime, match=re.escape(said)):
        parse_window(text, to_micros(WEDNESDAY), UTC)
