-- Conversations that other programs own, and the episodes that were made of them.

-- A transcript, and the cursor into it. `abandoned` are the turns from which its user went back: ranges [[first, last],
-- …], both inclusive, as JSON. They stand beside the episodes because one rewind can take back hundreds of them, and a
-- later one can bring them back. `policy_by` says who decided on the send policy: 'person', or 'host' for the program
-- that wrote the transcript; NULL if nobody did. `repository` is what all clones of the session's repository share: the
-- remote without credentials, or else the path of git's common folder.
CREATE TABLE transcripts (
    user_id         TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    host            TEXT    NOT NULL,
    path            TEXT    NOT NULL,
    session         TEXT    NOT NULL,
    agent           TEXT    NOT NULL,
    project         TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    cwd             TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    parent_session  TEXT    NOT NULL,
    send_policy     TEXT    NOT NULL CHECK (send_policy IN ('private', 'deny')),
    started_at      INTEGER,
    ended_at        INTEGER,
    generation      INTEGER NOT NULL,
    size            INTEGER NOT NULL,
    fingerprint     TEXT    NOT NULL,
    cursor          INTEGER NOT NULL,
    state           TEXT    NOT NULL,
    turns           INTEGER NOT NULL,
    skipped         TEXT    NOT NULL,
    updated_at      INTEGER NOT NULL,
    abandoned       TEXT    NOT NULL,
    policy_by       TEXT,
    repository      TEXT    NOT NULL,
    row_hash        TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE UNIQUE INDEX transcripts_path ON transcripts (user_id, path, session);
CREATE INDEX transcripts_session ON transcripts (user_id, session);
-- Few transcripts are withheld.
CREATE INDEX transcripts_denied ON transcripts (user_id) WHERE send_policy = 'deny';
CREATE INDEX transcripts_policy ON transcripts (user_id) WHERE policy_by IS NOT NULL;

-- A span of a transcript. `actions` is what an agent did in it (the files that it read and wrote, the commands that it
-- ran), and `outcomes` what came of its commands (the outcome of tests, and how an error begins), a line each.
-- `suggested` are the stretches of the preview that seem worth remembering: a line each of start, end (characters) and
-- the estimate in thousandths (memory/suggestions.py). `tags` are those that a person gave, as in memories; NULL if
-- there are none. The foreign key does not cascade, because the full text of an episode can only be taken out with the
-- text at hand.
CREATE TABLE episodes (
    user_id        TEXT    NOT NULL,
    id             TEXT    NOT NULL,
    doc            INTEGER NOT NULL,
    transcript_id  TEXT    NOT NULL,
    first_turn     INTEGER NOT NULL,
    last_turn      INTEGER NOT NULL,
    part           INTEGER NOT NULL,
    start_offset   INTEGER NOT NULL,
    end_offset     INTEGER NOT NULL,
    role           TEXT    NOT NULL,
    origin         TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'web', 'other')),
    branch         TEXT    NOT NULL,
    category       TEXT    NOT NULL CHECK (category IN ('transcript', 'timeline')),
    key            TEXT    NOT NULL,
    preview        TEXT    NOT NULL,
    summary        TEXT    NOT NULL,
    importance     REAL    NOT NULL,
    started_at     INTEGER,
    ended_at       INTEGER,
    tokens         INTEGER NOT NULL,
    identity       TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    actions        TEXT    NOT NULL,
    outcomes       TEXT    NOT NULL,
    suggested      TEXT    NOT NULL,
    tags           TEXT,
    row_hash       TEXT    NOT NULL,
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, transcript_id) REFERENCES transcripts (user_id, id)
) STRICT;
CREATE UNIQUE INDEX episodes_doc ON episodes (user_id, doc);
CREATE UNIQUE INDEX episodes_identity ON episodes (user_id, identity);
CREATE INDEX episodes_place ON episodes (user_id, transcript_id, first_turn, part);
CREATE INDEX episodes_time ON episodes (user_id, started_at, first_turn, part);
-- Few episodes are of the timeline.
CREATE INDEX episodes_timeline ON episodes (user_id, created_at) WHERE category = 'timeline';
CREATE INDEX episodes_suggested ON episodes (user_id, started_at DESC, id, transcript_id)
    WHERE suggested <> '';

-- When the event happened that an episode dates (“yesterday we …”), as ingest read it: from `since` up to `until`, UTC
-- microseconds. It is derived from the episode's words and time.
CREATE TABLE episode_events (
    user_id  TEXT    NOT NULL,
    doc      INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    PRIMARY KEY (user_id, doc),
    FOREIGN KEY (user_id, doc) REFERENCES episodes (user_id, doc) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_events_time ON episode_events (user_id, since, until);

-- A run of the consolidation of a transcript's turns. Turns are counted from 1 here, so 0 is the place before the
-- first. The `last_turn` of the latest run is how far the transcript was consolidated. `generation` is that of the
-- transcript at the run: after a rewrite the turns have other numbers, and what was stored after `at` is new.
-- `episodes` are the ids of the parts of the timeline entry, as JSON.
CREATE TABLE transcript_consolidations (
    user_id        TEXT    NOT NULL,
    run            TEXT    NOT NULL,
    transcript_id  TEXT    NOT NULL,
    change_id      TEXT    NOT NULL,
    generator      TEXT    NOT NULL,
    first_turn     INTEGER NOT NULL,
    last_turn      INTEGER NOT NULL,
    before_turn    INTEGER NOT NULL,
    generation     INTEGER NOT NULL,
    episodes       TEXT    NOT NULL,
    at             INTEGER NOT NULL,
    row_hash       TEXT    NOT NULL,
    PRIMARY KEY (user_id, run),
    FOREIGN KEY (user_id, transcript_id) REFERENCES transcripts (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX transcript_consolidations_latest ON transcript_consolidations (user_id, transcript_id, change_id);
