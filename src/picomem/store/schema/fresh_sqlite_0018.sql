-- A fresh SQLite store of schema 18, as the migrations up to 0018 make it, in the words that SQLite keeps; the
-- comments are in those. `python -m tests.store.fresh_schema` writes this file, and a test compares it.
CREATE TABLE meta (
    name   TEXT PRIMARY KEY,
    value  TEXT NOT NULL
, row_hash TEXT) STRICT;
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
    row_hash  TEXT    NOT NULL, path TEXT,
    PRIMARY KEY (user_id, id, version)
) STRICT;
CREATE UNIQUE INDEX memories_doc ON memories (user_id, doc);
CREATE UNIQUE INDEX memories_key ON memories (user_id, agent, project, session, key)
    WHERE known_to IS NULL AND valid_to IS NULL;
CREATE INDEX memories_known ON memories (user_id, known_to, valid_to, kind);
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
    content_hash  TEXT    NOT NULL, row_hash TEXT, idempotency_key TEXT, request_hash TEXT,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE INDEX changes_memory ON changes (user_id, memory_id, at);
CREATE INDEX changes_run ON changes (user_id, run);
CREATE INDEX changes_time ON changes (user_id, at, id);
CREATE INDEX changes_content ON changes (user_id, content_hash);
CREATE TABLE lineage (
    user_id         TEXT    NOT NULL,
    child_kind      TEXT    NOT NULL,
    child_id        TEXT    NOT NULL,
    child_version   INTEGER NOT NULL,
    parent_kind     TEXT    NOT NULL,
    parent_id       TEXT    NOT NULL,
    parent_version  INTEGER NOT NULL,
    role            TEXT    NOT NULL,
    change_id       TEXT    NOT NULL, row_hash TEXT,
    PRIMARY KEY (user_id, child_kind, child_id, child_version, parent_kind, parent_id, parent_version, role)
) STRICT;
CREATE INDEX lineage_parent ON lineage (user_id, parent_kind, parent_id);
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
    row_hash    TEXT    NOT NULL, abandoned TEXT,
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
    row_hash   TEXT    NOT NULL, actions TEXT,
    PRIMARY KEY (user_id, id),
    -- No cascade: an episode's full text can only be taken out with its text in hand.
    FOREIGN KEY (user_id, transcript_id) REFERENCES transcripts (user_id, id)
) STRICT;
CREATE UNIQUE INDEX episodes_doc ON episodes (user_id, doc);
CREATE UNIQUE INDEX episodes_identity ON episodes (user_id, identity);
CREATE INDEX episodes_place ON episodes (user_id, transcript_id, first_turn, part);
CREATE INDEX episodes_time ON episodes (user_id, started_at, first_turn, part);
CREATE TABLE index_pages (
    user_id       TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    budget        INTEGER NOT NULL,
    made_from     TEXT    NOT NULL,
    page          TEXT    NOT NULL,
    tokens        INTEGER NOT NULL,
    left_out      INTEGER NOT NULL,
    row_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, agent, project, budget)
) STRICT;
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
    row_hash            TEXT    NOT NULL,
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
    row_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, session_id, seq),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX messages_created ON messages (user_id, created_at);
CREATE VIRTUAL TABLE memory_words USING fts5 (name, body, content = '', tokenize = 'ascii');
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab (memory_words, 'row');
CREATE VIRTUAL TABLE episode_words USING fts5 (body, content = '', tokenize = 'ascii');
INSERT INTO episode_words (episode_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE episode_vocabulary USING fts5vocab (episode_words, 'row');
CREATE TABLE holdings (
    user_id   TEXT    NOT NULL,
    episodes  INTEGER NOT NULL, memories INTEGER, believed INTEGER,
    PRIMARY KEY (user_id)
) STRICT;
CREATE INDEX transcripts_denied ON transcripts (user_id) WHERE send_policy = 'deny';
CREATE INDEX episodes_timeline ON episodes (user_id, created_at) WHERE category = 'timeline';
CREATE TABLE vector_spaces (
    user_id   TEXT    NOT NULL,
    source    TEXT    NOT NULL CHECK (source IN ('memory', 'episode')),
    model     TEXT    NOT NULL,
    space     INTEGER NOT NULL,
    last_doc  INTEGER NOT NULL,
    rewrites  INTEGER NOT NULL,
    PRIMARY KEY (user_id, source, model)
) STRICT;
CREATE TABLE vector_rewrites (
    user_id  TEXT    NOT NULL,
    space    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    doc      INTEGER NOT NULL,
    PRIMARY KEY (user_id, space, number)
) STRICT;
CREATE TABLE vectors (
    user_id  TEXT    NOT NULL,
    space    INTEGER NOT NULL,
    doc      INTEGER NOT NULL,
    scale    REAL    NOT NULL,
    vector   BLOB    NOT NULL,
    PRIMARY KEY (user_id, space, doc)
) STRICT, WITHOUT ROWID;
CREATE TABLE note_files (
    user_id       TEXT    NOT NULL,
    root          TEXT    NOT NULL,
    path          TEXT    NOT NULL,
    stamp         TEXT    NOT NULL,
    modified_at   INTEGER NOT NULL,
    content_hash  TEXT    NOT NULL, row_hash TEXT,
    PRIMARY KEY (user_id, root, path)
) STRICT;
CREATE TABLE note_sections (
    user_id       TEXT    NOT NULL,
    doc           INTEGER NOT NULL,
    root          TEXT    NOT NULL,
    path          TEXT    NOT NULL,
    part          INTEGER NOT NULL,
    heading       TEXT    NOT NULL,
    first_line    INTEGER NOT NULL,
    last_line     INTEGER NOT NULL,
    content       TEXT    NOT NULL,
    tokens        INTEGER NOT NULL,
    row_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, doc),
    FOREIGN KEY (user_id, root, path) REFERENCES note_files (user_id, root, path) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX note_sections_place ON note_sections (user_id, root, path, part);
CREATE VIRTUAL TABLE note_words USING fts5 (name, body, content = '', tokenize = 'ascii');
INSERT INTO note_words (note_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE note_vocabulary USING fts5vocab (note_words, 'row');
CREATE TABLE consolidations (
    user_id          TEXT    NOT NULL,
    run              TEXT    NOT NULL,
    session_id       TEXT    NOT NULL,
    change_id        TEXT    NOT NULL,
    generator        TEXT    NOT NULL,
    first_seq        INTEGER NOT NULL,
    last_seq         INTEGER NOT NULL,
    before_seq       INTEGER NOT NULL,
    before_at        INTEGER,
    before_failures  INTEGER NOT NULL,
    before_summary   TEXT    NOT NULL,
    summarised       INTEGER NOT NULL CHECK (summarised IN (0, 1)),
    episodes         TEXT    NOT NULL,
    at               INTEGER NOT NULL,
    row_hash     TEXT    NOT NULL,
    PRIMARY KEY (user_id, run),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX consolidations_session ON consolidations (user_id, session_id, first_seq);
CREATE TABLE spending (
    user_id        TEXT    NOT NULL,
    day            INTEGER NOT NULL,
    model          TEXT    NOT NULL,
    calls          INTEGER NOT NULL,
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL, row_hash TEXT,
    PRIMARY KEY (user_id, day, model)
) STRICT;
CREATE TABLE session_summaries (
    user_id        TEXT    NOT NULL,
    session_id     TEXT    NOT NULL,
    summary        TEXT    NOT NULL,
    origin         TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'web', 'other')),
    message_count  INTEGER NOT NULL,
    covered_seq    INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    row_hash   TEXT    NOT NULL,
    PRIMARY KEY (user_id, session_id),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX messages_id ON messages (user_id, id);
CREATE TABLE tombstones (
    user_id  TEXT    NOT NULL,
    digest   TEXT    NOT NULL,
    size     INTEGER, row_hash TEXT,
    PRIMARY KEY (user_id, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE exports (
    user_id       TEXT    NOT NULL,
    path          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    budget        INTEGER NOT NULL,
    exported_at   INTEGER NOT NULL,
    content_hash  TEXT    NOT NULL, row_hash TEXT,
    PRIMARY KEY (user_id, path)
) STRICT;
CREATE INDEX changes_undoing ON changes (user_id, undoes) WHERE undoes <> '';
CREATE TABLE leases (
    user_id     TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT;
CREATE TABLE user_marks (
    user_id   TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     TEXT NOT NULL,
    row_hash  TEXT,
    PRIMARY KEY (user_id, name)
) STRICT;
CREATE TABLE doc_ranges (
    user_id   TEXT    NOT NULL,
    last_doc  INTEGER NOT NULL,
    row_hash  TEXT,
    PRIMARY KEY (user_id)
) STRICT;
CREATE INDEX memories_path ON memories (user_id, agent, project, session, path)
    WHERE known_to IS NULL AND valid_to IS NULL AND path IS NOT NULL;
CREATE INDEX changes_idempotency_key ON changes (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
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
    row_hash       TEXT,
    PRIMARY KEY (user_id, run),
    FOREIGN KEY (user_id, transcript_id) REFERENCES transcripts (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX transcript_consolidations_latest ON transcript_consolidations (user_id, transcript_id, change_id);
CREATE TABLE access_tokens (
    user_id      TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    label        TEXT    NOT NULL,
    permissions  TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    row_hash     TEXT,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE UNIQUE INDEX access_tokens_digest ON access_tokens (user_id, digest);
CREATE TABLE jobs (
    user_id        TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    subject        TEXT    NOT NULL,
    state          TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    is_cancelling  INTEGER NOT NULL,
    owner          TEXT    NOT NULL,
    done           INTEGER NOT NULL,
    total          INTEGER NOT NULL,
    started_at     INTEGER,
    finished_at    INTEGER,
    next_run_at    INTEGER NOT NULL,
    failures       INTEGER NOT NULL,
    last_error     TEXT    NOT NULL,
    mark           TEXT    NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT;
CREATE INDEX jobs_running ON jobs (user_id, name) WHERE state = 'running';
CREATE INDEX memories_expiring ON memories (user_id, expires_at) WHERE expires_at IS NOT NULL AND known_to IS NULL;
CREATE TABLE episode_events (
    user_id  TEXT    NOT NULL,
    doc      INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    PRIMARY KEY (user_id, doc),
    FOREIGN KEY (user_id, doc) REFERENCES episodes (user_id, doc) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_events_time ON episode_events (user_id, since, until);
CREATE TABLE channel_messages (
    user_id       TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    channel       TEXT    NOT NULL,
    account       TEXT    NOT NULL,
    conversation  TEXT    NOT NULL,
    direction     TEXT    NOT NULL CHECK (direction IN ('in', 'out')),
    native_id     TEXT    NOT NULL,
    address       TEXT    NOT NULL,
    is_group      INTEGER NOT NULL CHECK (is_group IN (0, 1)),
    text          TEXT    NOT NULL,
    context       TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (
        state IN ('waiting', 'answered', 'ready', 'sending', 'sent', 'held', 'failed')),
    reason        TEXT    NOT NULL,
    session_id    TEXT    NOT NULL,
    message_id    TEXT    NOT NULL,
    said_at       INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    due_at        INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    row_hash      TEXT,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE UNIQUE INDEX channel_messages_native ON channel_messages (user_id, channel, account, native_id)
    WHERE direction = 'in';
CREATE INDEX channel_messages_conversation ON channel_messages (user_id, channel, account, conversation, id);
CREATE INDEX channel_messages_open ON channel_messages (user_id, id) WHERE state IN ('waiting', 'ready', 'sending');
CREATE TABLE contacts (
    user_id     TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    account     TEXT    NOT NULL,
    native_id   TEXT    NOT NULL,
    person      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    row_hash    TEXT, sender TEXT, revoked_at INTEGER,
    PRIMARY KEY (user_id, channel, account, native_id)
) STRICT;
CREATE INDEX contacts_person ON contacts (user_id, person);
CREATE TABLE pairings (
    user_id     TEXT    NOT NULL,
    code        TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    account     TEXT    NOT NULL,
    native_ids  TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    row_hash    TEXT,
    PRIMARY KEY (user_id, code)
) STRICT;
CREATE INDEX memories_listed ON memories (user_id, pinned DESC, importance DESC, known_from DESC, key, id, version,
    kind, origin, agent, project, session, valid_from, valid_to, expires_at) WHERE known_to IS NULL;
CREATE INDEX memories_named ON memories (user_id, key, id, version);
