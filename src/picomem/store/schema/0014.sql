-- When the event happened that an episode dates (“yesterday we …”), as ingest read it: from `since` up to `until`,
-- UTC microseconds. It is derived from the episode's words and time, so it stands beside the row and not in it: a column
-- of `episodes` would need a new hash of every row. Episodes that were stored before this version have none until their
-- transcript is read again; recall finds those by the time at which they were said, as before.
-- PostgreSQL reads this file without WITHOUT ROWID.
CREATE TABLE episode_events (
    user_id  TEXT    NOT NULL,
    doc      INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    PRIMARY KEY (user_id, doc),
    FOREIGN KEY (user_id, doc) REFERENCES episodes (user_id, doc) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_events_time ON episode_events (user_id, since, until);
