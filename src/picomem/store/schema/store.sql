-- The store itself: what belongs to the file, and the state of a user that is no memory and no text.
--
-- The rules that all files of this folder keep (tests/store/test_schema.py asks SQLite for them):
--   * user_id comes first in every primary key, unique key and foreign key, so that the rows can be sharded by it;
--   * ids are UUIDv7 made by the program, times are integers (UTC microseconds), booleans are 0 and 1;
--   * no triggers, no defaults that ask the clock, no SET NULL; a cascade only from an owner to what it owns;
--   * row_hash is a hash of all other columns (store/row_hash.py); content_hash is that of a text, to find equal texts.
--     A table without row_hash holds what is derived from other rows, or what ends by itself.
-- PostgreSQL reads the same files with INTEGER as BIGINT, REAL as double precision and BLOB as BYTEA, without STRICT
-- and WITHOUT ROWID, and Citus divides each table that has a user_id among its machines (store/postgres/dialect.py).
-- Comments stand between the statements, because SQLite keeps the text of a statement, and sqlite/schema.py compares it.

-- What belongs to no user: the key of redaction fingerprints and tombstones, the version of the analyser of full text,
-- and the result of the last check of the file. Writes of users never change it.
CREATE TABLE meta (
    name      TEXT PRIMARY KEY,
    value     TEXT NOT NULL,
    row_hash  TEXT NOT NULL
) STRICT;

-- The same for a user: the purges that are not finished, and when retention ran last.
CREATE TABLE user_marks (
    user_id   TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     TEXT NOT NULL,
    row_hash  TEXT NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT;

-- The last document number that each user got (store/doc_numbers.py). Full text on SQLite takes numbers that are unique
-- in the file, so there each user has a range of 2^32 of them.
CREATE TABLE doc_ranges (
    user_id   TEXT    NOT NULL,
    last_doc  INTEGER NOT NULL,
    row_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id)
) STRICT;

-- How many rows each user has: episodes, versions of memories, those of them that are believed, and those that full
-- text and vectors have. Counting them would read an index from end to end. A list that lacks a row says so by these
-- numbers.
CREATE TABLE holdings (
    user_id     TEXT    NOT NULL,
    episodes    INTEGER NOT NULL,
    memories    INTEGER NOT NULL,
    believed    INTEGER NOT NULL,
    searchable  INTEGER NOT NULL,
    PRIMARY KEY (user_id)
) STRICT;

-- The right to do a piece of work alone, among all processes on a store, until `expires_at`. The owner is random, and
-- renews the lease while the work lasts. A damaged lease ends like any other.
CREATE TABLE leases (
    user_id     TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT;

-- Background work: one row for each kind of work that ever began for a user. `name` is the kind, or the kind and its
-- `subject`, as in "embed:wordllama-l2-256". `owner` is the lease of the last run: while the job runs, only that owner
-- writes the row. `mark` is what the last complete run saw of the store. The next run replaces a lost row.
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
-- Jobs that run, or whose process was killed.
CREATE INDEX jobs_running ON jobs (user_id, name) WHERE state = 'running';

-- The tokens of callers over a network. The owner sees a token once; the store keeps its digest. A row that is revoked
-- or has expired stays, so that a list can say what became of the token.
CREATE TABLE access_tokens (
    user_id      TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    label        TEXT    NOT NULL,
    permissions  TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    row_hash     TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE UNIQUE INDEX access_tokens_digest ON access_tokens (user_id, digest);

-- What was purged and must not come back when the same transcript is read again: keyed digests of the names of
-- sessions, files and turns, and no text. `size` is the size of the transcript at the purge, if text that was added
-- since may be read; NULL if none may.
CREATE TABLE tombstones (
    user_id   TEXT    NOT NULL,
    digest    TEXT    NOT NULL,
    size      INTEGER,
    row_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, digest)
) STRICT, WITHOUT ROWID;

-- What the calls of a model cost on a day (days since 1970, UTC). The highest possible cost is stored before a call.
CREATE TABLE spending (
    user_id        TEXT    NOT NULL,
    day            INTEGER NOT NULL,
    model          TEXT    NOT NULL,
    calls          INTEGER NOT NULL,
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    row_hash       TEXT    NOT NULL,
    PRIMARY KEY (user_id, day, model)
) STRICT;
