-- What the consolidation of conversations leaves behind, and what the models cost that do it.

-- One run: the messages `first_seq` to `last_seq` of a session were taken up. What stood there before it is kept for
-- whoever takes the run back: the pointer, its time, the count of failures, and the summary as JSON (empty: there was
-- none, or it was not touched). `episodes` is the ids of the timeline entry's parts, as JSON.
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
    content_hash     TEXT    NOT NULL,
    PRIMARY KEY (user_id, run),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX consolidations_session ON consolidations (user_id, session_id, first_seq);

-- What a model was asked and answered on a day (days since 1970, UTC). A call is on the books before it is made.
CREATE TABLE spending (
    user_id        TEXT    NOT NULL,
    day            INTEGER NOT NULL,
    model          TEXT    NOT NULL,
    calls          INTEGER NOT NULL,
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    PRIMARY KEY (user_id, day, model)
) STRICT;

-- A summary has an origin: the least trusted of what it is made of. (No summary was made before there was this.)
DROP TABLE session_summaries;
CREATE TABLE session_summaries (
    user_id        TEXT    NOT NULL,
    session_id     TEXT    NOT NULL,
    summary        TEXT    NOT NULL,
    origin         TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'web', 'other')),
    message_count  INTEGER NOT NULL,
    covered_seq    INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    content_hash   TEXT    NOT NULL,
    PRIMARY KEY (user_id, session_id),
    FOREIGN KEY (user_id, session_id) REFERENCES sessions (user_id, id) ON DELETE CASCADE
) STRICT;

-- Lineage names messages by their ids.
CREATE INDEX messages_id ON messages (user_id, id);
