from __future__ import annotations

from tests.cases import each_case

from picomem.recall.question_form import is_search_phrase


@each_case(
    "text",
    [
        "decisions about the booking rules",
        "the lens that fogged up in the cold",
        "errors when starting the importer",
        "user's preferred tea and biscuits",
        "things we agreed on about opening hours",
        "test failures on the arm machines",
        "open questions about the lease",
        "changes to src/garden/beds.py",
        "timeouts, retries and backoff of the feed reader",
        "Regeln für die Vergabe der Liegeplätze",
        "船位分配的规则",
        "关于租约的决定",
        "我的生日",
        "用户的饮食偏好",
        "船着き場の料金",
    ],
)
def test_a_phrase_that_names_a_thing_is_a_search(text: str) -> None:
    assert is_search_phrase(text)


@each_case(
    "text",
    [
        "",
        "Add a retry to the feed reader",
        "test the login",
        "the tests are green",
        "it's the other one",
        "I moved the beds to the south side",
        "don't touch the lease",
        "The importer went through.",
        "thanks a lot",
        "staging first then production",
        "SELECT id FROM beds;",
        "what did we agree on?",
        "把租约翻译成中文",
        "船位都分完了",
        "我先去吃饭",
        "页面还是打不开",
        "word " * 30,
    ],
)
def test_a_question_an_order_a_remark_and_code_are_no_phrase(text: str) -> None:
    assert not is_search_phrase(text)
