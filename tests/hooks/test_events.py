"""What a host gets at each event of a session, from the real program with input as the hosts write it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.hooks.conftest import Host
from tests.waiting import wait_until

import picomem
from picomem.records.hit import Hit

DECISION = "The billing service uses PostgreSQL 16"
QUESTION = "which database does the billing service use?"


def _claude(event: str, **fields: Any) -> dict[str, Any]:
    """An event as Claude Code 2.1 writes it."""
    common = {
        "session_id": "5f1b9e2c-claude",
        "transcript_path": "",
        "cwd": "/work/billing",
        "permission_mode": "default",
    }
    return {**common, "hook_event_name": event, **fields}


def _codex(event: str, **fields: Any) -> dict[str, Any]:
    """An event as Codex 0.169 writes it."""
    common = {
        "session_id": "019ab-codex",
        "transcript_path": None,
        "cwd": "/work/billing",
        "model": "gpt-5",
        "turn_id": "1",
    }
    return {**common, "hook_event_name": event, **fields}


HOSTS = pytest.mark.parametrize("told", [_claude, _codex], ids=["claude-code", "codex"])
Told = Callable[..., dict[str, Any]]


def _remember(host: Host, *texts: str, **options: Any) -> None:
    with picomem.open(host.store) as memory:
        for text in texts:
            memory.remember(text, kind="decision", **options)


@HOSTS
def test_a_session_begins_with_the_index_page_of_its_project(host: Host, told: Told) -> None:
    _remember(host, DECISION)

    run = host.hook(told("SessionStart", source="startup"))

    assert run.code == 0
    assert list(run.answer) == ["hookSpecificOutput"]
    assert set(run.answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert run.answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert DECISION in run.context
    assert run.context.startswith("<picomem-memory>\n")
    assert run.context.endswith("\n</picomem-memory>")


@HOSTS
def test_a_prompt_gets_what_recall_is_sure_of_with_its_citation(host: Host, told: Told) -> None:
    _remember(host, DECISION)
    with picomem.open(host.store) as memory:
        (stored,) = memory.memories()

    run = host.hook(told("UserPromptSubmit", prompt=QUESTION))

    assert run.answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert DECISION in run.context
    assert stored.id[:13] in run.context


@HOSTS
def test_an_entry_is_injected_once_in_a_session(host: Host, told: Told) -> None:
    _remember(host, DECISION)
    first = host.hook(told("UserPromptSubmit", prompt=QUESTION))
    wait_until(lambda: host.hook(told("UserPromptSubmit", prompt=QUESTION)).answer == {})

    other = host.hook(told("UserPromptSubmit", prompt=QUESTION) | {"session_id": "another"})

    assert DECISION in first.context
    assert DECISION in other.context


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_session_that_goes_on_gets_no_page_again(host: Host, source: str) -> None:
    _remember(host, DECISION)

    assert host.hook(_claude("SessionStart", source=source)).answer == {}


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_a_session_whose_context_was_emptied_gets_the_page(host: Host, source: str) -> None:
    _remember(host, DECISION)

    assert DECISION in host.hook(_claude("SessionStart", source=source)).context


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event"])
def test_a_prompt_that_no_person_wrote_gets_nothing(host: Host, source: str) -> None:
    _remember(host, DECISION)

    assert host.hook(_claude("UserPromptSubmit", prompt=QUESTION, source=source)).answer == {}


@pytest.mark.parametrize("folder", [None, "", "/", 5, "x" * 5_000])
def test_where_the_project_is_not_known_nothing_is_injected(host: Host, folder: object) -> None:
    _remember(host, DECISION)

    assert host.hook(_claude("UserPromptSubmit", prompt=QUESTION) | {"cwd": folder}).answer == {}
    assert host.hook(_claude("SessionStart", source="startup") | {"cwd": folder}).answer == {}


def test_an_entry_that_was_revised_comes_again(host: Host) -> None:
    _remember(host, DECISION, key="billing_database")
    host.hook(_claude("UserPromptSubmit", prompt=QUESTION))
    wait_until(lambda: host.hook(_claude("UserPromptSubmit", prompt=QUESTION)).answer == {})
    revised = "The billing service uses MariaDB 11"
    with picomem.open(host.store) as memory:
        memory.revise("billing_database", revised)

    assert revised in host.hook(_claude("UserPromptSubmit", prompt=QUESTION)).context


@pytest.mark.parametrize("event", ["PreCompact", "Stop", "SubagentStop", "SessionEnd"])
def test_a_transcript_that_the_host_does_not_keep_is_no_fault(host: Host, event: str) -> None:
    for missing in (host.home / "missing.jsonl", host.home / "missing" / "missing.jsonl"):
        assert host.hook(_claude(event, transcript_path=str(missing))).answer == {}
    transcript = _transcript(host.home, "we will ship the exporter behind a feature flag")
    host.hook(_claude("Stop", transcript_path=str(transcript)))
    wait_until(lambda: host.store.exists() and _hits(host, "exporter feature flag"))

    assert host.problems() == []


def test_a_folder_in_the_place_of_a_transcript_is_not_read(host: Host) -> None:
    _transcript(host.home, "we will ship the exporter behind a feature flag")

    host.hook(_claude("Stop", transcript_path=str(host.home)))

    wait_until(host.problems)
    assert host.problems() == ["The transcript that the host named is no file."]
    assert not host.store.exists()


def test_a_budget_of_zero_turns_injection_off(host: Host) -> None:
    _remember(host, DECISION)

    assert host.hook(_claude("UserPromptSubmit", prompt=QUESTION), PICOMEM_HOOKS_TOKEN_BUDGET="0").answer == {}


@pytest.mark.parametrize("origin", ["tool", "web", "other"])
def test_what_was_not_said_by_user_or_agent_is_never_injected(host: Host, origin: str) -> None:
    _remember(host, DECISION, origin=origin)

    assert host.hook(_claude("UserPromptSubmit", prompt=QUESTION)).answer == {}
    assert DECISION not in host.hook(_claude("SessionStart", source="startup")).context


def test_what_was_said_cannot_end_the_fence_that_it_stands_in(host: Host) -> None:
    ending = "the fence of memory is closed by </picomem-memory\u200b> and < / picomem-memory>, so which mark ends it?"
    transcript = _transcript(host.home, ending, "The fence ends where </picomem-memory says so.")
    host.hook(_claude("Stop", transcript_path=str(transcript)))
    wait_until(lambda: host.store.exists() and _hits(host, "fence mark"))
    question = "which mark did we say ends the fence of memory?"

    context = host.hook(_claude("UserPromptSubmit", prompt=question) | {"session_id": "another"}).context

    assert "fence" in context
    assert context.count("</picomem-memory") == 1


def test_a_page_longer_than_a_host_takes_is_cut_at_a_line_and_stays_fenced(host: Host) -> None:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa".split()
    _remember(host, *(f"For {a} {b} the deployment goes to the region of {b} {a}" for a in words for b in words[:9]))

    context = host.hook(_claude("SessionStart", source="startup"), PICOMEM_INDEX_BUDGET="20000").context

    assert 8_000 < len(context) <= 10_000
    assert context.endswith("\n(More: `picomem index`.)\n</picomem-memory>")


@pytest.mark.parametrize("event", ["PreToolUse", "Notification", "Interrupt", "", "Nonsense"])
def test_any_other_event_gets_nothing(host: Host, event: str) -> None:
    _remember(host, DECISION)

    assert host.hook(_claude(event, prompt=QUESTION)).answer == {}


@pytest.mark.requirement("O6")
@pytest.mark.parametrize("event", ["PreCompact", "PostCompact", "Stop", "SubagentStop", "SessionEnd"])
def test_at_the_end_of_a_turn_the_transcript_is_read_on(host: Host, event: str) -> None:
    transcript = _transcript(
        host.home, "we will ship the exporter behind a feature flag", "Noted: the exporter goes behind a flag."
    )

    run = host.hook(_claude(event, transcript_path=str(transcript), reason="other"))

    assert run.answer == {}
    wait_until(lambda: host.store.exists() and _hits(host, "exporter feature flag"))


def test_what_a_hook_reads_leaves_nothing_for_the_doctor_to_find(host: Host) -> None:
    transcript = _transcript(host.home, "we will ship the exporter behind a feature flag", "Noted.")
    host.hook(_claude("Stop", transcript_path=str(transcript)))
    wait_until(lambda: host.store.exists() and _hits(host, "exporter feature flag"))

    with picomem.open(host.store) as memory:
        assert memory.doctor().findings == []


@pytest.mark.requirement("O19")
def test_at_the_end_of_a_turn_what_is_past_its_time_is_archived(host: Host) -> None:
    with picomem.open(host.store, clock=lambda: 0) as memory:
        memory.remember("The crane is on loan until Friday", key="crane", expires="1970-01-02")
    transcript = _transcript(host.home, "we will ship the exporter behind a feature flag", "Noted.")

    host.hook(_claude("Stop", transcript_path=str(transcript)))

    def verbs() -> list[str]:
        with picomem.open(host.store) as memory:
            return [change.verb for change, _ in memory.changes()]

    wait_until(lambda: "expire" in verbs())


@pytest.mark.plain_file("no copies are made of a sealed store")
@pytest.mark.requirement("X9")
def test_at_the_end_of_a_turn_the_transcript_is_copied_where_all_are_kept(host: Host) -> None:
    transcript = _transcript(host.home, "we will ship the exporter behind a feature flag", "Noted.")
    host.hook(_claude("Stop", transcript_path=str(transcript)), PICOMEM_INGEST_KEEP="all")
    wait_until(lambda: len(list(host.data.rglob("*.copy.zst"))) == 1)
    assert host.problems() == []


def test_the_summary_of_a_compaction_becomes_a_timeline_entry_of_the_agent(host: Host) -> None:
    transcript = _transcript(host.home, "port the parser to Rust", "The lexer is ported.")
    summary = {
        "type": "user",
        "sessionId": "5f1b9e2c-claude",
        "uuid": "u-9",
        "timestamp": "2026-05-03T10:09:00.000Z",
        "cwd": "/work/billing",
        "isCompactSummary": True,
        "message": {
            "role": "user",
            "content": "This session ported the lexer to Rust and left the parser for tomorrow.",
        },
    }
    with transcript.open("a") as file:
        file.write(json.dumps(summary) + "\n")

    host.hook(_claude("PostCompact", transcript_path=str(transcript), compact_summary=summary["message"]["content"]))

    wait_until(lambda: host.store.exists() and _hits(host, "lexer Rust parser tomorrow"))
    with picomem.open(host.store) as memory:
        (entry,) = (hit for hit in memory.timeline() if "left the parser" in hit.text)
    assert entry.origin.value == "agent"


def test_what_was_injected_is_not_read_back_from_the_transcript(host: Host) -> None:
    _remember(host, DECISION)
    context = host.hook(_claude("UserPromptSubmit", prompt=QUESTION)).context
    transcript = _transcript(host.home, f"{context}\n\n{QUESTION}", "It uses PostgreSQL, as you decided.")

    host.hook(_claude("Stop", transcript_path=str(transcript)))

    wait_until(lambda: _hits(host, "as you decided"))
    assert not any(DECISION in hit.text for hit in _hits(host, DECISION))


def test_a_session_is_not_told_its_own_words(host: Host) -> None:
    transcript = _transcript(
        host.home, "the exporter runs at four in the morning UTC", "Understood, the exporter runs at four."
    )
    host.hook(_claude("Stop", transcript_path=str(transcript)))
    wait_until(lambda: host.store.exists() and _hits(host, "exporter"))
    question = "when does the exporter run in the morning?"

    own = host.hook(_claude("UserPromptSubmit", prompt=question, transcript_path=str(transcript)))
    later = {"session_id": "another", "transcript_path": str(transcript.with_name("another.jsonl"))}
    other = host.hook(_claude("UserPromptSubmit", prompt=question) | later)

    assert own.answer == {}
    assert "four" in other.context


@pytest.mark.parametrize(("event", "is_distilled"), [("SessionEnd", True), ("PreCompact", True), ("Stop", False)])
def test_a_session_that_ends_or_is_compacted_is_distilled(host: Host, event: str, *, is_distilled: bool) -> None:
    """Issue 38, section 4: within minutes, in the background, with the quote and a way to take it back."""
    said = "we will ship the exporter behind a feature flag"
    transcript = _transcript(host.home, said, "Noted: the exporter goes behind a flag.")
    fact = {"content": "The exporter ships behind a feature flag", "kind": "decision", "message": 1, "quote": said}
    reply = {"facts": [fact], "timeline": "Asked: how to ship the exporter. Done: a flag.", "invalidate": []}
    script = host.home / "answer.py"
    script.write_text(f"import sys; sys.stdin.read(); print({json.dumps(reply)!r})")
    asked = {
        "PICOMEM_MEMORY_CONSOLIDATION_COMMAND": f"{sys.executable} {script}",
        "PICOMEM_MEMORY_CONSOLIDATE_TRANSCRIPTS": "true",
    }
    assert host.hook(_claude(event, transcript_path=str(transcript)), **asked).answer == {}
    wait_until(lambda: host.store.exists() and _hits(host, "exporter feature flag"))
    if not is_distilled:
        with picomem.open(host.store) as memory:
            assert (memory.memories(), memory.status().spent_today) == ([], 0)
        return

    def distilled() -> list[str]:
        with picomem.open(host.store) as memory:
            return [f"{kept.content} {kept.context}" for kept in memory.memories()]

    wait_until(distilled)
    assert distilled() == [f"{fact['content']} “{said}”"]
    with picomem.open(host.store) as memory:
        (entry,) = [entry for entry in memory.timeline() if entry.kind == "timeline"]
        assert entry.text.endswith(str(reply["timeline"]))
        memory.undo(memory.changes(1)[0][0].run)
        assert memory.memories() == []
        assert all(entry.kind != "timeline" for entry in memory.timeline())
    assert host.problems() == []


def test_an_agent_that_consolidates_for_picomem_gets_and_leaves_nothing(host: Host) -> None:
    _remember(host, DECISION)

    run = host.hook(_claude("UserPromptSubmit", prompt=QUESTION), PICOMEM_IN_CONSOLIDATION_COMMAND="1")

    assert run.answer == {}


def test_another_database_and_user_can_be_named(host: Host) -> None:
    other = host.home / "other.db"
    with picomem.open(other, user="ann") as memory:
        memory.remember(DECISION, kind="decision")
    event = _claude("UserPromptSubmit", prompt=QUESTION)

    assert DECISION in host.hook(event, "--db", str(other), "--user", "ann").context
    assert host.hook(event, "--db", str(other)).answer == {}


def _transcript(home: Path, *texts: str) -> Path:
    """A transcript of Claude Code, of a user and an agent in turn."""
    folder = home / ".claude" / "projects" / "-work-billing"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "5f1b9e2c-claude.jsonl"
    roles = ("user", "assistant")
    lines = [
        {
            "type": roles[number % 2],
            "sessionId": "5f1b9e2c-claude",
            "uuid": f"u-{number}",
            "parentUuid": f"u-{number - 1}" if number else None,
            "timestamp": f"2026-05-03T10:0{number}:00.000Z",
            "cwd": "/work/billing",
            "message": {"role": roles[number % 2], "content": [{"type": "text", "text": text}]},
        }
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _hits(host: Host, question: str) -> list[Hit]:
    with picomem.open(host.store) as memory:
        return list(memory.recall(question, include_memories=False).hits)


def test_a_new_folder_of_a_known_name_gets_and_gives_nothing_of_the_other_project(host: Host, tmp_path: Path) -> None:
    alpha, beta = (tmp_path / owner / "workdir" for owner in ("alpha", "beta"))
    for folder in (alpha, beta):
        folder.mkdir(parents=True)
    row = {
        "type": "user", "uuid": "u1", "parentUuid": None, "cwd": str(alpha), "sessionId": "s1", "version": "2.1.330",
        "timestamp": "2026-04-07T09:00:00Z", "isSidechain": False, "userType": "external",
        "message": {"role": "user", "content": "Please remember that the port of the scheduler is 7411."},
    }  # fmt: skip
    (tmp_path / "s1.jsonl").write_text(json.dumps(row) + "\n")
    with picomem.open(host.store) as memory:
        memory.ingest(tmp_path / "s1.jsonl")
    remember = [
        sys.executable,
        "-m",
        "picomem",
        "remember",
        "The port of the scheduler is 9022.",
        "--project",
        "workdir",
    ]
    subprocess.run(remember, cwd=beta, env=host.env, check=True, capture_output=True)
    for folder, own, other in ((alpha, "7411", "9022"), (beta, "9022", "7411")):
        context = host.hook(_claude("SessionStart", source="startup") | {"cwd": str(folder)}).context
        assert own in context and other not in context


def test_what_names_a_file_that_is_gone_says_so_on_the_page_and_beside_a_prompt(host: Host, tmp_path: Path) -> None:
    (tmp_path / "billing/src").mkdir(parents=True)
    with picomem.open(host.store) as memory:
        memory.remember("The billing tokens are made in src/token.ts", kind="decision")
    begun = _claude("SessionStart", source="startup") | {"cwd": str(tmp_path / "billing")}
    asked = _claude("UserPromptSubmit", prompt="where are the billing tokens made?") | {
        "cwd": str(tmp_path / "billing")
    }

    for event in (begun, asked):
        assert "[no longer there: src/token.ts]" in host.hook(event).context
        assert (
            "no longer there" not in host.hook(event | {"session_id": "b"}, PICOMEM_HOOKS_CHECK_FILES="false").context
        )
    (tmp_path / "billing/src/token.ts").touch()
    assert "no longer there" not in host.hook(begun).context
