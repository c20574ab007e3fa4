"""Keys: what is valid, what is suggested instead, and what content is called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.errors import InvalidKey
from picomem.text.memory_keys import check_key, suggest_key

ANY_TEXT = st.text(st.characters(), max_size=300)


@pytest.mark.requirement("P9")
@each_case("key", ["a", "uv", "staging_db_port", "k9", "systemic", "internal", "a" * 64, "a__b_"])
def test_a_valid_key_is_returned_as_it_is(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.requirement("P9")
@each_case(
    ("bad", "suggestion"),
    [
        ("Staging DB", "staging_db"),
        ("API-Key", "api_key"),
        ("stagingDbPort", "staging_db_port"),
        ("9lives", "note_9lives"),
        ("_hidden", "hidden"),
        ("trailing\n", "trailing"),
        ("café menu", "cafe_menu"),
        ("system_prompt", "note_system_prompt"),
        ("internal_state", "note_internal_state"),
        ("", "note"),
        ("Straße", "strasse"),
    ],
)
def test_a_bad_key_is_refused_with_the_rule_and_a_valid_suggestion(bad: str, suggestion: str) -> None:
    with pytest.raises(InvalidKey) as caught:
        check_key(bad)
    message = str(caught.value)
    assert caught.value.data["suggestion"] == suggestion
    assert f"“{suggestion}”" in message
    assert "lower-case letters, digits and underscores" in message
    assert "64" in message
    assert check_key(suggestion) == suggestion


@pytest.mark.requirement("P9")
def test_a_key_that_is_too_long_is_cut_between_words() -> None:
    bad = "_".join(["word"] * 20)
    with pytest.raises(InvalidKey) as caught:
        check_key(bad)
    suggestion = str(caught.value.data["suggestion"])
    assert bad.startswith(suggestion + "_")
    assert 55 <= len(suggestion) <= 64


@pytest.mark.requirement("P9")
@given(ANY_TEXT)
def test_every_refused_key_comes_with_a_key_that_is_accepted(key: str) -> None:
    try:
        assert check_key(key) == key
    except InvalidKey as refused:
        suggestion = str(refused.data["suggestion"])
        assert check_key(suggestion) == suggestion


@each_case(
    ("text", "kind", "key"),
    [
        ("The staging DB is on port 5433", "fact", "staging_db_port"),
        ("I prefer tea", "preference", "preference_tea"),
        ("I prefer tea", "", "tea"),
        ("Always run the formatter before you commit", "instruction", "run_formatter_commit"),
        ("We don't deploy on Fridays", "", "no_deploy_fridays"),
        ("We don't support Windows 10 any more", "fact", "no_support_windows"),
        ("In this repo we squash-merge, never rebase-merge", "fact", "repo_squash_merge_never_rebase"),
        ("I can't eat gluten", "fact", "no_eat_gluten"),
        ("No meetings on Fridays", "fact", "no_meetings_fridays"),
        ("It is not the cache, it is the proxy", "fact", "no_cache_proxy"),
        ("42", "fact", "fact_42"),
        ("Our standup is at 9:30", "fact", "standup_time"),
        ("We use Terraform", "fact", "uses_terraform"),
        ("The user has a dog", "fact", "has_dog"),
        ("My cat is ours", "fact", "user_cat"),
        ("The user is single", "fact", "user_single"),
        ("The standup is over", "fact", "fact_standup"),
        ("", "fact", "fact"),
        ("", "", "note"),
        ("the of and", "", "the_of_and"),
        ("System settings are locked", "fact", "fact_system_settings_locked"),
        ("Ça va à Orléans", "", "ca_va_orleans"),
    ],
)
def test_content_is_named_by_its_informative_words(text: str, kind: str, key: str) -> None:
    assert suggest_key(text, kind) == key


def test_a_value_that_changes_does_not_change_the_key() -> None:
    assert suggest_key("The staging DB is on port 5433") == suggest_key("The staging DB is on port 6000")


def test_text_in_another_script_gets_a_stable_key_that_tells_texts_apart() -> None:
    assert re.fullmatch(r"arega_ki_[0-9a-f]{4}", suggest_key("あれが好き"))
    assert suggest_key("我喜欢喝茶") == suggest_key(" 我喜欢喝茶\n")
    assert suggest_key("我喜欢喝茶") != suggest_key("我喜欢咖啡")
    assert re.fullmatch(r"privet_[0-9a-f]{4}", suggest_key("Привет"))


def test_a_text_without_latin_words_gets_a_key_as_latin_letters_spell_it() -> None:
    assert re.fullmatch(r"yi_hou_dou_yong_fan_ti_[0-9a-f]{4}", suggest_key("以后都用繁体", "preference"))
    assert re.fullmatch(r"zhivet_v_berline_[0-9a-f]{4}", suggest_key("Пользователь живёт в Берлине", "fact"))
    assert re.fullmatch(r"shu_ju_ku_zai_duan_kou_[0-9a-f]{4}", suggest_key("数据库在端口 5433"))


def test_a_chinese_text_with_latin_words_gets_a_key_that_says_what_it_says_of_them() -> None:
    assert re.fullmatch(r"sheng_chan_huan_jing_yong_postgresql_[0-9a-f]{4}", suggest_key("生产环境用 PostgreSQL"))
    assert re.fullmatch(r"bu_zai_yong_redis_[0-9a-f]{4}", suggest_key("我们不再用 Redis", "fact"))


def test_the_key_of_a_ban_says_that_it_is_one() -> None:
    assert suggest_key("Never use git push --force in this repo") == "never_git_push_force_repo"
    assert suggest_key("Don't use tabs", "instruction") == "never_tabs"


def test_at_most_six_words_make_a_key() -> None:
    key = suggest_key("alpha bravo charlie delta echo foxtrot golf hotel india juliet")
    assert len(key.split("_")) == 6


@given(ANY_TEXT, st.sampled_from(["", "fact", "preference", "system", "Not A Key", "internal_x", "k" * 70]))
def test_a_suggestion_is_always_valid_and_always_the_same(text: str, kind: str) -> None:
    key = suggest_key(text, kind)
    assert check_key(key) == key
    assert suggest_key(text, kind) == key


def test_a_megabyte_of_text_is_named_at_once() -> None:
    assert len(suggest_key("_9" * 500_000)) <= 64
    assert check_key(suggest_key("数" * 1_000_000))
