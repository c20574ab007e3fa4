"""PicoBot's snapshot `sessions.json`: conversations of several users; see sessions/picobot_snapshot.py."""

from __future__ import annotations

from pathlib import Path

from picomem.ingest import reader
from picomem.paths import is_regular
from picomem.sessions.picobot_snapshot import NAME, take_over
from picomem.transfer.importer import Importer


class PicobotSessions:
    """A snapshot of PicoBot's sessions. It is stored in one transaction, or not at all."""

    name = "picobot"
    example = "~/picobot/data/sessions.json"
    serves_all_users = True
    is_fallback = False

    def claims(self, path: Path) -> bool:
        return is_regular(path) and path.name.startswith(NAME) and b'"sessions"' in reader.head(path)

    def read(self, path: Path, importer: Importer) -> None:
        done = take_over(
            importer.connector, importer.redactor, lambda: importer.now, path, move=False, dry_run=importer.dry_run
        )
        report = importer.report
        report.sessions, report.messages, report.differing = done.sessions, done.messages, len(done.differing)
        report.passed_over.update(done.skipped)
        for session in done.differing:
            report.tell(f"Session {session} went another way here and was left as it is.")
        report.users += done.users


FORMATS = (PicobotSessions(),)
