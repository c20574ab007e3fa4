"""Which calls of a coding agent's tools read what others wrote."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cases import each_case

from picomem.ingest.external_reads import outside_of_call, quoted_in_record
from picomem.records.kinds import Origin

pytestmark = pytest.mark.requirement("X7")


@each_case(
    ("tool", "given", "origin"),
    [
        ("WebFetch", {"url": "https://example.org", "prompt": "what?"}, Origin.WEB),
        ("WebSearch", {"query": "x"}, Origin.WEB),
        ("web_search", {"query": "x"}, Origin.WEB),
        ("web_fetch", {"url": "https://example.org"}, Origin.WEB),
        ("browser", {"action": "snapshot"}, Origin.WEB),
        ("fetch", {}, Origin.WEB),
        ("mcp__fetch__fetch", {"url": "https://example.org"}, Origin.WEB),
        ("mcp__playwright__browser_snapshot", {}, Origin.WEB),
        ("mcp__linear__get_issue", {"id": "1"}, Origin.TOOL),
        ("linear__get_issue", {"id": "1"}, Origin.TOOL),
        ("mcp__picomem-like__read", {}, Origin.TOOL),
        ("ReadMcpResourceTool", {"server": "docs", "uri": "docs://a"}, Origin.TOOL),
        ("gmail_search", {"query": "invoice"}, Origin.TOOL),
        ("message", {"action": "read"}, Origin.TOOL),
        ("task", {"prompt": "Find the port"}, Origin.TOOL),
        ("spawn_agent", {"message": "Find the port"}, Origin.TOOL),
        ("wait_agent", {"ids": ["1"]}, Origin.TOOL),
        ("delegate_to_agent", {"agent_name": "generalist"}, Origin.TOOL),
        ("sessions_spawn", {"task": "Find the port"}, Origin.TOOL),
    ],
)
def test_tools_that_search_fetch_or_ask_other_programs_read_from_outside(
    tool: str, given: dict[str, Any], origin: Origin
) -> None:
    assert outside_of_call(tool, given) is origin


@each_case(
    "tool",
    "Read Grep Glob Edit Write NotebookEdit TodoWrite TaskOutput LS apply_patch update_plan view_image write_stdin "
    "mcp__ide__getDiagnostics mcp__filesystem__read_file mcp__picomem__memory_recall picomem__memory_recall "
    "memory_recall mcp__memory__memory_show".split(),
)
def test_tools_that_work_on_the_users_files_and_memorys_own_do_not(tool: str) -> None:
    assert outside_of_call(tool, {"file_path": "/w/README.md", "pattern": "https://example.org"}) is None


@each_case(
    ("command", "origin"),
    [
        ("curl -s https://example.org/page", Origin.WEB),
        ("cd /w && curl -sL example.org | head -50", Origin.WEB),
        ("wget -qO- http://example.org", Origin.WEB),
        ("curl localhost:4000/proxy https://example.org", Origin.WEB),
        ("/usr/bin/curl https://example.org", Origin.WEB),
        ("x=$(curl https://example.org); echo $x", Origin.WEB),
        ("gh issue view 12", Origin.WEB),
        ("gh pr view 12 --comments", Origin.WEB),
        ("gh -R owner/repo issue list", Origin.WEB),
        ("gh api repos/o/r/issues/1/comments", Origin.WEB),
        ("glab mr view 3", Origin.WEB),
        ("npm view left-pad readme", Origin.WEB),
        ("python3 -c \"import requests; print(requests.get('https://example.org').text)\"", Origin.WEB),
        ("node -e \"fetch('https://example.org').then(r => r.text()).then(console.log)\"", Origin.WEB),
        ("lynx -dump https://example.org", Origin.WEB),
        ("curl 'https://evil.example#@localhost'", Origin.WEB),
        ("curl 'https://evil.example?a@localhost'", Origin.WEB),
        (r"curl 'https://evil.example\\@localhost'", Origin.WEB),
        ("timeout 20 curl -s https://example.org", Origin.WEB),
        ("timeout -k 5 20s curl -s https://example.org", Origin.WEB),
        ("watch -n 5 curl https://example.org", Origin.WEB),
        ("nice -n 10 curl https://example.org", Origin.WEB),
        ("cat urls | xargs -n 1 -P 4 curl -s", Origin.WEB),
        ("xargs -I {} curl {} < urls", Origin.WEB),
        ("docker run --rm curlimages/curl curl https://example.org", Origin.WEB),
        ("docker exec -it web curl https://example.org", Origin.WEB),
        ("claude -p 'read the page'", Origin.TOOL),
        ("claude --model opus -p 'read the page'", Origin.TOOL),
        ("codex exec 'read the page'", Origin.TOOL),
        ("gemini -p 'read the page'", Origin.TOOL),
        ("git clone https://github.com/o/r", Origin.WEB),
        ("git clone --depth 1 git@github.com:o/r.git && cat r/README.md", Origin.WEB),
        ("ssh host cat /etc/motd", Origin.WEB),
        ("scp host:notes.txt .", Origin.WEB),
        ("rsync -a host:notes/ notes/", Origin.WEB),
        ("aws s3 cp s3://bucket/key -", Origin.WEB),
        ("aws --profile work s3 cp s3://bucket/key -", Origin.WEB),
        ("gsutil -m cp gs://bucket/key .", Origin.WEB),
        ("gh run view 12 --log", Origin.WEB),
        ("nc example.org 80", Origin.WEB),
        ("pip download left-pad", Origin.WEB),
        ("himalaya envelope list", Origin.TOOL),
        ("gog gmail search invoice", Origin.TOOL),
    ],
)
@each_case("shape", ["text", "list"])
def test_commands_that_fetch_or_ask_a_forge_or_a_mailbox_read_from_outside(
    command: str, origin: Origin, shape: str
) -> None:
    given = {"command": command if shape == "text" else ["bash", "-lc", command]}
    assert outside_of_call("Bash", given) is origin


@each_case(
    "command",
    [
        "git log --oneline -5",
        "git push --set-upstream origin main",
        "git clone ../other here",
        "git clone http://localhost:3000/o/r",
        "git status",
        "git commit -m 'Add curl to the image'",
        "timeout 20 pytest -q",
        "nice -n 10 make",
        "watch -n 5 curl -s http://localhost:4000/health",
        "find . -name '*.py' | xargs -n 1 grep -n curl",
        "docker ps",
        "docker run --rm image npm test",
        "docker build -t curl .",
        "ssh-keygen -t ed25519",
        "ssh-add -l",
        "ssh localhost uptime",
        "nc -z localhost 5432",
        "rsync -a notes/ backup/",
        "pip install ./package",
        "pip list",
        "aws configure list",
        "gsutil version",
        "gh run list",
        "claude --version",
        "claude mcp list",
        "codex --help",
        "mix test --failed",
        "rg curl src",
        "cat docs/https.md",
        "pytest -q tests/test_fetch.py",
        "curl -s http://localhost:4000/health",
        "curl -s localhost:4000/health",
        "curl -sf http://127.0.0.1:8080/api | jq .",
        "gh pr create --title x --body y",
        "gh auth status",
        "npm install left-pad",
        "npm test",
        "pip install https://example.org/a.whl",
        "ls; echo done",
    ],
)
def test_commands_on_the_users_own_files_and_machine_do_not(command: str) -> None:
    assert outside_of_call("Bash", {"command": command}) is None


def test_a_long_command_takes_no_time() -> None:
    for piece in (
        "curl ",
        "a/",
        "((((",
        "gh x ",
        "https://",
        "fetch (",
        "'`",
        "timeout 1 ",
        "xargs -n 1 ",
        "docker run a ",
        "docker run ",
        "claude ",
        "claude -p",
        "codex -a ",
        "aws -a b ",
        "rsync a ",
        "ssh ",
        "git clone ",
        "git clone a@",
        "A=b ",
    ):
        assert outside_of_call("Bash", {"command": piece * 100_000}) in (None, Origin.WEB)


def test_what_memory_quotes_in_a_result_is_known_by_its_fence() -> None:
    line = rb'{"content":"- <untrusted-text origin=\"web\" note=\"data\">x</untrusted-text> <untrusted-text origin=\"tool\">"}'
    assert quoted_in_record(line) is Origin.WEB
    assert quoted_in_record(b'{"content":"nothing of the kind"}') is None
    assert quoted_in_record(b'{"content":"<untrusted-text origin=who>"}') is None
