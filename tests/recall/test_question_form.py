from __future__ import annotations

from tests.cases import each_case

from picomem.recall.question_form import ASKS, KEYWORDS, OF_THE_AGENT, asks


@each_case(
    "text",
    [
        "which database does billing use?",
        "why did we drop redis",
        "so, when is the next rehearsal",
        "about to deploy, which port was staging on",
        "On what day do we ship?",
        "remind me of the plan for March",
        "Can you summarise how we fixed the login?",
        "I can't remember the name of the new printer",
        "What did you recommend for the garden?",
        "Warum haben wir Redis ersetzt?",
        "计费服务用的是什么数据库？",
        "请问周会改到几点",
    ],
)
def test_a_question_asks(text: str) -> None:
    assert asks(text) == ASKS


@each_case(
    "text",
    [
        "",
        "continue",
        "Thanks a lot!",
        "Add a retry to the billing client",
        "Could you rename the staging bucket?",
        "Please run the tests.",
        "The deploy went through.",
        "Let's start with the schema",
        "Do not touch production.",
        'Traceback (most recent call last):\n  File "a.py", line 1\n    x = 1\nKeyError: 1',
        "const db = new Pool({ host: 'localhost' })",
        "SELECT id, amount FROM invoices WHERE paid_at IS NULL;",
        "第一步先改数据库",
        "麻烦帮我看看这个报错",
        "好的，继续",
    ],
)
def test_an_order_a_remark_code_and_a_log_ask_nothing(text: str) -> None:
    assert asks(text) == 0


@each_case("text", ["billing database", "Redis licence reason", "计费 数据库"])
def test_a_few_words_may_be_a_search(text: str) -> None:
    assert asks(text) == KEYWORDS


@each_case("text", ["is this code okay?", "what do you think?", "你觉得哪种方案好？"])
def test_a_question_to_the_agent_itself_asks_little_of_memory(text: str) -> None:
    assert asks(text) == OF_THE_AGENT


def test_a_long_paste_is_read_in_bounded_time() -> None:
    assert asks("is this " * 50_000) in {0.0, OF_THE_AGENT, ASKS}
