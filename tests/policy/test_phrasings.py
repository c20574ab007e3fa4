"""Everyday phrasings, in English and Chinese: how many are heard.

The first 60 were written before the cues were read, and what was missed of them was then added to the cues; so they
guard, and do not measure. The last 20 were written after that, and no cue was changed for them.
"""

from __future__ import annotations

import re

import pytest

from benchmarks.gate_lines import FRESH, HELD_OUT, TUNED
from picomem.policy.request_cues import CUES
from picomem.policy.requests import find_requests

# What was said, and words that must be in what is kept.
PHRASINGS = (
    ("Remember that I take my coffee without sugar.", "coffee"),
    ("Please keep in mind that our CI machines have only 4 GB of memory.", "4 GB"),
    ("Don't forget: the demo is on Thursday at 15:00.", "Thursday"),
    ("From now on, answer me in German.", "German"),
    ("Going forward, use pnpm instead of npm in this repo.", "pnpm"),
    ("For future reference, the staging database is called quokka.", "quokka"),
    ("Note to self: the lease ends on 3 March.", "lease"),
    ("Make a note that Priya is on leave until Monday.", "Priya"),
    ("Just so you know for next time, the tests need Docker running.", "Docker"),
    ("Never push directly to main.", "main"),
    ("Always run the linter before you commit.", "linter"),
    ("I'd like you to remember my sister's name is Ingrid.", "Ingrid"),
    ("Can you remember that I'm allergic to peanuts?", "peanuts"),
    ("I prefer tabs over spaces.", "tabs"),
    ("Save this for later: the router password hint is the cat's birthday.", "router"),
    ("Bear in mind we still support Python 3.11.", "3.11"),
    ("We decided to go with Postgres rather than MySQL.", "Postgres"),
    ("Keep a note of this: invoices go to billing@example.org.", "invoices"),
    ("Stop adding comments to every line, from here on out.", "comments"),
    ("It's important that you remember the release branch is called harbour.", "harbour"),
    ("You should know that I work part time, Mondays to Wednesdays.", "part time"),
    ("Add to your memory that my dog is called Biscuit.", "Biscuit"),
    ("In the future please write commit messages in the imperative.", "imperative"),
    ("Let's agree that every new endpoint gets an integration test.", "integration test"),
    ("My preferred editor is Helix.", "Helix"),
    ("记住我不吃香菜。", "香菜"),
    ("请记住,我们的生产环境用的是 Kubernetes。", "Kubernetes"),
    ("以后回答请用中文。", "中文"),
    ("别忘了周五要交报告。", "报告"),
    ("帮我记一下,我的车牌号是沪A12345。", "沪A12345"),
    ("从现在开始,提交信息一律用英文写。", "英文"),
    ("我更喜欢深色主题。", "深色"),
    ("下次记得先跑测试再提交。", "测试"),
    ("我们决定用 Redis 做缓存。", "Redis"),
    ("请牢记:不要直接改动线上数据库。", "数据库"),
    ("麻烦你记下来,我妈妈的生日是六月八号。", "六月八号"),
    ("以后不要再用表情符号了。", "表情"),
    ("记得我对花生过敏。", "花生"),
    ("顺便记住,我的时区是东八区。", "东八区"),
    ("永远不要强制推送到主分支。", "主分支"),
    ("Could you please keep in mind that my working hours are 8 to 4?", "8 to 4"),
    ("Never use global variables in this codebase.", "global"),
    ("One thing to remember: the API key rotates every Friday.", "Friday"),
    ("I want you to remember our design system is called Larch.", "Larch"),
    ("In future, put tests next to the code.", "tests"),
    ("Please don't ever delete the fixtures folder.", "fixtures"),
    ("Make sure to always bump the version before a release.", "version"),
    ("My favourite colour is teal.", "teal"),
    ("We've settled on GraphQL for the public API.", "GraphQL"),
    ("FYI for the future: the VPN drops at midnight.", "VPN"),
    ("Jot this down: the wifi name is heron.", "heron"),
    ("I would like all answers to be short from now on.", "short"),
    ("Write this down, my flight is on the 9th of June.", "June"),
    ("You need to know that our customers are hospitals.", "hospitals"),
    ("请记得我是左撇子。", "左撇子"),
    ("以后所有的注释都用英文写。", "英文"),
    ("请始终先写测试。", "测试"),
    ("我最喜欢的编辑器是 Vim。", "Vim"),
    ("我们约定每周一开站会。", "站会"),
    ("下回请先问我再删除文件。", "删除"),
    ("Hey, remember for me that the alarm code changed to a new one.", "alarm code"),
    ("Please always answer with the conclusion first.", "conclusion"),
    ("Store this in memory: our fiscal year starts in April.", "April"),
    ("I hate trailing whitespace.", "whitespace"),
    ("For next time: the build needs Node 22.", "Node 22"),
    ("I'm vegetarian, please remember that.", "vegetarian"),
    ("Henceforth, name branches after the ticket.", "ticket"),
    ("We agreed to freeze the schema until May.", "schema"),
    ("My name is Tomasz, by the way.", "Tomasz"),
    ("Let's stick with SQLite for now.", "SQLite"),
    ("Do not forget that the client is in New Zealand.", "New Zealand"),
    ("Keep in mind our budget is 200 euros a month.", "200 euros"),
    ("你要记住,测试环境每晚会重置。", "测试环境"),
    ("今后所有接口都要写文档。", "文档"),
    ("我习惯用四个空格缩进。", "四个空格"),
    ("请不要再自动提交代码了。", "自动提交"),
    ("叫我小林就好。", "小林"),
    ("我们选定了 Vue 作为前端框架。", "Vue"),
    ("记一下:会议室改到三楼了。", "三楼"),
    ("一律使用 UTC 时间。", "UTC"),
)
SILENT = (
    "Do you remember what we decided about the cache?",
    "I can't remember where I put the config.",
    "Remember when we used to deploy by hand?",
    "The function never returns None here.",
    "It always fails on the second run.",
    "I don't remember the name of that library.",
    "Why does the parser forget the last line?",
    "He told me to remember the milk.",
    "你还记得我们上次说的方案吗?",
    "我不记得密码了。",
    "以后再说吧。",
    "这个测试总是失败。",
    "What do you prefer, tabs or spaces?",
    "We have not decided yet whether to use Redis.",
    "Note that the second argument is optional in this API, which is why the call failed.",
    "In the future we might move to Rust.",
    "You should know better.",
    "My preferred approach failed.",
    "Let's agree to disagree.",
    "记得上次我们改过这个文件。",
    "永远不知道它什么时候会崩。",
    "下次再聊。",
    "What is my favourite colour?",
    "Save the file and run the tests.",
    "I want to know that too.",
)


@pytest.mark.requirement("P9")
def test_nearly_all_everyday_phrasings_are_heard() -> None:
    missed = [
        said
        for said, words in PHRASINGS
        if not any(words.lower() in request.content.lower() for request in find_requests(said))
    ]
    assert len(missed) <= 0.05 * len(PHRASINGS), missed


@pytest.mark.parametrize("said", SILENT)
def test_what_only_sounds_like_a_request_is_none(said: str) -> None:
    assert find_requests(said) == []


def test_every_match_of_a_cue_holds_one_of_its_gates() -> None:
    texts = [said for said, _ in PHRASINGS]
    texts += [request.text for lines in (TUNED, HELD_OUT, FRESH) for request in lines.requests]
    matched = set()
    for cue in CUES:
        for text in texts:
            for match in re.finditer(cue.pattern, text, re.IGNORECASE):
                matched.add(cue)
                assert any(gate in match[0].lower() for gate in cue.gates), (cue.pattern, match[0])
    assert len(matched) > 0.9 * len(CUES)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("remember that I live in Oslo, by the way can you fix the tests", "I live in Oslo"),
        ("Remember that the host is quokka, and could you also fix the header?", "The host is quokka"),
        ("Remember that the host is quokka. By the way, could you fix the header?", "The host is quokka"),
        ("I prefer tabs, now please fix the linter errors", "I prefer tabs"),
        ("记住我住在上海，另外帮我看一下测试", "我住在上海"),
        ("Hello, could you remember that I live in Oslo?", "I live in Oslo"),
    ],
)
def test_what_is_wanted_besides_is_no_part_of_what_is_remembered(said: str, kept: str) -> None:
    assert [request.content for request in find_requests(said)] == [kept]


def test_a_chinese_request_gets_a_key_that_can_be_typed() -> None:
    (request,) = find_requests("请记住我今年20岁，不吃香菜")
    assert re.fullmatch(r"[a-z]+(?:_[a-z]+)*_[0-9a-f]{4}", request.key)
