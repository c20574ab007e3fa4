"""Purge, review, history and health have no fault that axe finds, light, dark and on a phone, on a hostile store."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.amounts import amount
from tests.databases import open_memory
from tests.gateway.serving import Served
from tests.memory.test_doubts import NEW, OLD

from picomem.operations.table import operation

from .axe_check import assert_accessible
from .serving_pages import DESKTOP, PHONE, signed_in
from .test_health_page import fill_jobs_and_spending

WINDOWS: tuple[dict[str, Any], ...] = (
    {"viewport": DESKTOP},
    {"viewport": PHONE, "color_scheme": "dark", "locale": "zh-CN"},
    {"viewport": DESKTOP, "color_scheme": "dark"},
    {"viewport": PHONE},
)
HOSTILE = (
    {"content": "The word on the door is " + "w" * 7_900, "key": "k" * 60, "origin": "web"},
    {"content": "שלום לכולם, הדלת הכחולה פתוחה בכל בוקר", "key": "blue_door", "origin": "other"},
    {"content": "数据库的备份每天凌晨三点运行，保存在 backup-02 上", "key": "backup_time", "origin": "tool"},
    {"content": OLD, "key": "queue_old"},
    {"content": NEW, "key": "queue_new"},
)


def fill_hostile(pages: Served, user: str) -> str:
    """Store what breaks layouts; the id of a change."""
    with open_memory(pages.db, user=user, embedder="none") as memory:
        verb = operation("remember")
        for fields in HOSTILE:
            verb.call(memory, verb.request(**fields))
        revise = operation("revise")
        revise.call(memory, revise.request(name="blue_door", content="הדלת הכחולה סגורה \u202ebold\u202c <b>"))
        changes = operation("changes")
        latest = changes.call(memory, changes.request(limit=1)).changes[0]
    fill_jobs_and_spending(pages, user)
    return latest.change.id


@pytest.mark.requirement("O16")
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(pages: Served) -> None:
    change = fill_hostile(pages, "hostile")
    addresses = ("/purge", "/purge?everything=1", "/review", "/history", f"/history/{change}", "/status")
    for window in WINDOWS[: amount(2, len(WINDOWS))]:
        with signed_in(pages.url, pages.db, user="hostile", **window) as page:
            for address in addresses:
                page.goto(address)
                page.locator("details").evaluate_all("all => all.forEach(one => { if (!one.name) one.open = true })")
                expect(page.locator("#content").get_by_role("heading", level=1)).to_be_visible()
                assert_accessible(page, f"{address} {window}")
