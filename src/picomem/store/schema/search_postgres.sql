-- What PostgreSQL has besides the tables of the store.

-- A row for each user. Each write changes it, so two writers of one user take turns; a write for everyone locks the
-- table. `writes` are the tokens of the user's last writes (store/postgres/commit.py).
CREATE TABLE user_locks (
    user_id  TEXT     NOT NULL,
    writes   bigint[] NOT NULL,
    PRIMARY KEY (user_id)
) STRICT;

-- Full text: how often a term occurs in a document, one in its name counting twice, and how many terms the document
-- has. `source` is 1 for memories, 2 for episodes, 3 for notes.
CREATE TABLE word_postings (
    doc        INTEGER  NOT NULL,
    frequency  integer  NOT NULL,
    size       integer  NOT NULL,
    source     smallint NOT NULL,
    user_id    TEXT     NOT NULL,
    term       TEXT     NOT NULL,
    PRIMARY KEY (user_id, source, term, doc)
) STRICT;

-- How many documents of a source a user has, and how many terms all of them have.
CREATE TABLE word_totals (
    user_id    TEXT     NOT NULL,
    source     smallint NOT NULL,
    documents  INTEGER  NOT NULL,
    terms      INTEGER  NOT NULL,
    PRIMARY KEY (user_id, source)
) STRICT;
