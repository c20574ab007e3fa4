from __future__ import annotations

from benchmarks import hook_load


def test_the_hook_is_measured_at_each_event_alone_and_beside_a_process_and_answers():
    report = hook_load.run(busy=1, runs=1)

    assert [(load.event, load.beside) for load in report.loads] == [
        ("SessionStart", "alone"),
        ("UserPromptSubmit", "alone"),
        ("SessionStart", "picomem mcp"),
        ("UserPromptSubmit", "picomem mcp"),
    ]
    assert all(load.worst_ms > 0 for load in report.loads)
    assert len(hook_load.render(report).splitlines()) == 5
