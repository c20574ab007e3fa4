"""Makes the pictures of docs/pictures anew, from the sessions of `picomem demo`: make screenshots.

They are WebP, which Chromium writes by itself and which takes a fifth of a PNG.
"""

from __future__ import annotations

import sys
import tempfile
from base64 import b64decode
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.gateway.serving import picomem, serving
from tests.page.serving_pages import DESKTOP, PHONE, signed_in
from tests.page.stored_examples import fill_examples

from picomem.demo.walkthrough import SAMPLES

VIEWS = {
    "home": "/?project=harbor",
    "search": "/search?q=why+did+we+choose+the+queue",
    "memories": "/memories?project=harbor",
    "review": "/review",
}
_QUALITY = 82


def main(folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        db = Path(place) / "memory.db"
        fill_examples(db)
        done = picomem(db, "ingest", str(SAMPLES))
        assert done.returncode == 0, done.stderr
        with serving(db) as served:
            for theme, size, name in (("light", DESKTOP, "desktop"), ("dark", PHONE, "phone")):
                with signed_in(served.url, db, color_scheme=theme, viewport=size) as page:
                    for view, path in VIEWS.items():
                        page.goto(path)
                        if size is DESKTOP and view != "home":
                            expect(page.locator("#detail h1")).to_be_visible()
                        _save(page, folder / f"{view}-{name}.webp")
            with signed_in(served.url, db, color_scheme="dark") as page:
                page.goto("/memories?project=harbor")
                page.locator("#list .row-text").first.click()
                expect(page.locator("#detail h1")).to_be_visible()
                _save(page, folder / "memory-desktop.webp")


def _save(page: Page, path: Path) -> None:
    """Write what the window shows."""
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": _QUALITY})
    path.write_bytes(b64decode(taken["data"]))
    sys.stdout.write(f"{path}  {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
