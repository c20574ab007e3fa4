-- The tables, for every database. Rules that this file keeps (a test reads it):
--   * user_id comes first in every primary key, unique key and foreign key, so that the rows can be sharded by it;
--   * ids are UUIDv7 made by the program, times are integers (UTC microseconds), booleans are 0 and 1;
--   * no triggers, no defaults that ask the clock, no SET NULL; a cascade only from an owner to what it owns;
--   * a row that holds text holds a hash of it (content_hash; since 0006 row_hash, over all columns).
-- No row belongs to several users. meta is the file's own: what it is called, the key of its redaction fingerprints and of
-- its tombstones, the version of its analyser. Nothing but a repair writes to it after the file was made (since 0008).
-- PostgreSQL reads the same file with INTEGER as BIGINT, BLOB as BYTEA and without STRICT.

CREATE TABLE meta (
    name   TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) STRICT;

-- Every version of every memory. What is believed now has known_to NULL; what is true of that now has
-- valid_to NULL or in the future. Closing a version sets known_to, and closed_by to the change that did it.
CREATE TABLE memories (
    user_id       TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    version       INTEGER NOT NULL,
    doc           INTEGER NOT NULL,
    agent         TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    session       TEXT    NOT NULL,
    key           TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    content       TEXT    NOT NULL,
    context       TEXT    NOT NULL,
    importance    REAL    NOT NULL CHECK (importance BETWEEN 0 AND 1),
    pinned        INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    tags          TEXT    NOT NULL,
    related       TEXT    NOT NULL,
    origin        TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'web', 'other')),
    source        TEXT    NOT NULL,
    valid_from    INTEGER NOT NULL,
    valid_to      INTEGER,
    known_from    INTEGER NOT NULL,
    known_to      INTEGER,
    expires_at    INTEGER,
    created_at    INTEGER NOT NULL,
    tokens        INTEGER NOT NULL,
    change_id     TEXT    NOT NULL,
    closed_by     TEXT,
    content_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, id, version)
) STRICT;
CREATE UNIQUE INDEX memories_doc ON memories (user_id, doc);
-- One owner holds a key once: at most one version that is believed now and open-ended.
CREATE UNIQUE INDEX memories_key ON memories (user_id, agent, project, session, key)
    WHERE known_to IS NULL AND valid_to IS NULL;
CREATE INDEX memories_known ON memories (user_id, known_to, valid_to, kind);

-- The audit trail: every decision about a memory, refusals included.
CREATE TABLE changes (
    user_id       TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    run           TEXT    NOT NULL,
    at            INTEGER NOT NULL,
    actor         TEXT    NOT NULL,
    verb          TEXT    NOT NULL,
    decision      TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    memory_id     TEXT    NOT NULL,
    before        INTEGER,
    after         INTEGER,
    candidate     TEXT    NOT NULL,
    undoes        TEXT    NOT NULL,
    content_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE INDEX changes_memory ON changes (user_id, memory_id, at);
CREATE INDEX changes_run ON changes (user_id, run);
CREATE INDEX changes_time ON changes (user_id, at, id);
CREATE INDEX changes_content ON changes (user_id, content_hash);

-- What was made from what: memory versions, and the changes that hold a refused text. A purge follows these rows
-- downwards. A version is that of a memory, and 0 of anything else.
CREATE TABLE lineage (
    user_id         TEXT    NOT NULL,
    child_kind      TEXT    NOT NULL,
    child_id        TEXT    NOT NULL,
    child_version   INTEGER NOT NULL,
    parent_kind     TEXT    NOT NULL,
    parent_id       TEXT    NOT NULL,
    parent_version  INTEGER NOT NULL,
    role            TEXT    NOT NULL,
    change_id       TEXT    NOT NULL,
    PRIMARY KEY (user_id, child_kind, child_id, child_version, parent_kind, parent_id, parent_version, role)
) STRICT;
CREATE INDEX lineage_parent ON lineage (user_id, parent_kind, parent_id);

-- Conversations that other programs own, and the cursor into each.
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
    content_hash    TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE UNIQUE INDEX transcripts_path ON transcripts (user_id, path, session);
CREATE INDEX transcripts_session ON transcripts (user_id, session);

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
    content_hash   TEXT    NOT NULL,
    PRIMARY KEY (user_id, id),
    -- No cascade: an episode's full text can only be taken out with its text in hand.
    FOREIGN KEY (user_id, transcript_id) REFERENCES transcripts (user_id, id)
) STRICT;
CREATE UNIQUE INDEX episodes_doc ON episodes (user_id, doc);
CREATE UNIQUE INDEX episodes_identity ON episodes (user_id, identity);
CREATE INDEX episodes_place ON episodes (user_id, transcript_id, first_turn, part);
CREATE INDEX episodes_category ON episodes (user_id, category, created_at);
CREATE INDEX episodes_time ON episodes (user_id, started_at, first_turn, part);

-- One vector of one row by one model. `scale` turns the int8 values back into a unit vector.
CREATE TABLE vectors (
    user_id  TEXT    NOT NULL,
    source   TEXT    NOT NULL CHECK (source IN ('memory', 'episode')),
    model    TEXT    NOT NULL,
    doc      INTEGER NOT NULL,
    scale    REAL    NOT NULL,
    vector   BLOB    NOT NULL,
    PRIMARY KEY (user_id, source, model, doc)
) STRICT;

-- The always-loaded page, kept so that it has the same bytes until memory changes.
CREATE TABLE index_pages (
    user_id       TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    budget        INTEGER NOT NULL,
    made_from     TEXT    NOT NULL,
    page          TEXT    NOT NULL,
    tokens        INTEGER NOT NULL,
    left_out      INTEGER NOT NULL,
    content_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, agent, project, budget)
) STRICT;

-- Conversations with PicoBot. The pointer last_consolidated_seq moves with what it stands for.
CREATE TABLE sessions (
    user_id                 TEXT    NOT NULL,
    id                      TEXT    NOT NULL,
    channel                 TEXT    NOT NULL,
    channel_id              TEXT    NOT NULL,
    agent                   TEXT    NOT NULL,
    project                 TEXT    NOT NULL,
    title                   TEXT    NOT NULL,
    state                   TEXT    NOT NULL,
    permissions             TEXT    NOT NULL,
    forked_from             TEXT    NOT NULL,
    created_at              INTEGER NOT NULL,
    last_active_at          INTEGER NOT NULL,
    archived_at             INTEGER,
    last_consolidated_seq   INTEGER NOT NULL,
    last_consolidated_at    INTEGER,
    consolidation_failures  INTEGER NOT NULL,
    content_hash            TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE INDEX sessions_channel ON sessions (user_id, channel, channel_id);

CREATE TABLE messages (
    user_id       TEXT    NOT NULL,
    session_id    TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    id            TEXT    NOT NULL,
    role          TEXT    NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    content       TEXT    NOT NULL,
    tool_calls    TEXT    NOT NULL,
    tool_call_id  TEXT    NOT NULL,
    origin        TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'web', 'other')),
    tokens        INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    content_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, session_id, seq),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX messages_created ON messages (user_id, created_at);

CREATE TABLE session_summaries (
    user_id        TEXT    NOT NULL,
    session_id     TEXT    NOT NULL,
    summary        TEXT    NOT NULL,
    message_count  INTEGER NOT NULL,
    covered_seq    INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    content_hash   TEXT    NOT NULL,
    PRIMARY KEY (user_id, session_id),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
