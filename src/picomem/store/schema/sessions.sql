-- Conversations with PicoBot.

-- `last_consolidated_seq` is the last message that was consolidated. It moves in the transaction that stores the
-- result.
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
    row_hash                TEXT    NOT NULL,
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
    row_hash      TEXT    NOT NULL,
    PRIMARY KEY (user_id, session_id, seq),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX messages_created ON messages (user_id, created_at);
-- Lineage names messages by their ids.
CREATE INDEX messages_id ON messages (user_id, id);

-- The summary that stands for the first messages of a session in a prompt. Its origin is the least trusted of what it
-- was made of.
CREATE TABLE session_summaries (
    user_id        TEXT    NOT NULL,
    session_id     TEXT    NOT NULL,
    summary        TEXT    NOT NULL,
    origin         TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'web', 'other')),
    message_count  INTEGER NOT NULL,
    covered_seq    INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    row_hash       TEXT    NOT NULL,
    PRIMARY KEY (user_id, session_id),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;

-- A run of the consolidation of a session's messages `first_seq` to `last_seq`. The columns `before_…` are what undoing
-- the run restores: the pointer, its time, the count of failures, and the summary as JSON (empty if there was none, or
-- if the run did not change it). `episodes` are the ids of the parts of the timeline entry, as JSON.
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
    row_hash         TEXT    NOT NULL,
    PRIMARY KEY (user_id, run),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX consolidations_session ON consolidations (user_id, session_id, first_seq);
