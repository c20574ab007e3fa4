-- What a purge needs to know, and what it leaves behind.

-- What was purged and must not come back when the same transcript is read again: keyed digests of what a session, a
-- file or a turn is called, and nothing of what was said. `size` is how large the transcript was, where what was added
-- to it since may be read; NULL where nothing of it may.
CREATE TABLE tombstones (
    user_id  TEXT    NOT NULL,
    digest   TEXT    NOT NULL,
    size     INTEGER,
    PRIMARY KEY (user_id, digest)
) STRICT, WITHOUT ROWID;

-- Where index pages were written to, so that they can be made again after a purge.
CREATE TABLE exports (
    user_id       TEXT    NOT NULL,
    path          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    budget        INTEGER NOT NULL,
    exported_at   INTEGER NOT NULL,
    content_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, path)
) STRICT;

-- Few changes undo another.
CREATE INDEX changes_undoing ON changes (user_id, undoes) WHERE undoes <> '';
