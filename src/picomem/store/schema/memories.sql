-- Memories, the record of changes, what was made from what, and the index pages.

-- Every version of every memory. A version is believed while known_to is NULL; closing it sets known_to, and closed_by
-- to the change that did it. What it says is true from valid_from to valid_to; without an end if that is NULL. `path`
-- is that of a file which an agent keeps as a whole (emulation/agent_files.py), and NULL for every other memory. `tags`
-- and `related` are JSON lists.
CREATE TABLE memories (
    user_id     TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    doc         INTEGER NOT NULL,
    agent       TEXT    NOT NULL,
    project     TEXT    NOT NULL,
    session     TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    content     TEXT    NOT NULL,
    context     TEXT    NOT NULL,
    importance  REAL    NOT NULL CHECK (importance BETWEEN 0 AND 1),
    pinned      INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    tags        TEXT    NOT NULL,
    related     TEXT    NOT NULL,
    origin      TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'tool', 'web', 'other')),
    source      TEXT    NOT NULL,
    valid_from  INTEGER NOT NULL,
    valid_to    INTEGER,
    known_from  INTEGER NOT NULL,
    known_to    INTEGER,
    expires_at  INTEGER,
    created_at  INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    change_id   TEXT    NOT NULL,
    closed_by   TEXT,
    path        TEXT,
    row_hash    TEXT    NOT NULL,
    PRIMARY KEY (user_id, id, version)
) STRICT;
CREATE UNIQUE INDEX memories_doc ON memories (user_id, doc);
-- A key is unique for an owner among the versions that are believed and have no end.
CREATE UNIQUE INDEX memories_key ON memories (user_id, agent, project, session, key)
    WHERE known_to IS NULL AND valid_to IS NULL;
CREATE INDEX memories_known ON memories (user_id, known_to, valid_to, kind, known_from);
CREATE INDEX memories_path ON memories (user_id, agent, project, session, path, id)
    WHERE known_to IS NULL AND valid_to IS NULL AND path IS NOT NULL;
-- Which memories expire next, of whatever user.
CREATE INDEX memories_expiring ON memories (user_id, expires_at) WHERE expires_at IS NOT NULL AND known_to IS NULL;
-- Names that people write: without this index each of them reads every memory.
CREATE INDEX memories_named ON memories (user_id, key, id, version);
-- The list of memories, the most important first: a page is read from its place on, however many memories there are,
-- and the rest is counted, and filtered by tag, from the index alone. For that the index has `known_to`, although it is
-- always NULL.
CREATE INDEX memories_listed ON memories (user_id, pinned DESC, importance DESC, known_from DESC, key, id, version,
    doc, kind, origin, source, tags, agent, project, session, valid_from, valid_to, expires_at, known_to)
    WHERE known_to IS NULL;
-- A page of the archived memories, and how many there are.
CREATE INDEX memories_archived ON memories (user_id, pinned DESC, importance DESC, known_from DESC, key, id, version)
    WHERE known_to IS NOT NULL;
-- The names of all projects and agents.
CREATE INDEX memories_owner ON memories (user_id, project, agent);
-- What is believed of a memory at a time, and under a key, however often it was revised.
CREATE INDEX memories_believed ON memories (user_id, id, (coalesce(valid_to, 9223372036854775807)))
    WHERE known_to IS NULL;
CREATE INDEX memories_lasting ON memories (user_id, key, id, version) WHERE known_to IS NULL AND valid_to IS NULL;
-- What may wait for a person's decision: a small part of all memories.
CREATE INDEX memories_undecided ON memories (user_id, known_from DESC, id)
    WHERE known_to IS NULL AND (origin IN ('tool', 'web', 'other') OR related <> '[]');
-- The sections of the index page in their order, and how many entries each kind has, from the index alone. For that the
-- index has `known_to` and `origin`, although its condition decides on them.
CREATE INDEX memories_entries ON memories (user_id, kind, pinned DESC, importance DESC, (origin <> 'user'),
    valid_from DESC, key, id, version, doc, agent, project, session, known_from, valid_to, expires_at, known_to, origin)
    WHERE known_to IS NULL AND origin NOT IN ('tool', 'web', 'other');

-- Every decision about a memory, refusals included. `before` and `after` are the versions that the change closed and
-- opened. `idempotency_key` is the caller's name for a request that is to be done once, and `request_hash` a hash of
-- the request; both are NULL if the caller gave none. `seq`, the order in which they were recorded, `salt`, `sealed` and
-- `link` are those of the chain over them (store/chain_links.py).
CREATE TABLE changes (
    user_id          TEXT    NOT NULL,
    id               TEXT    NOT NULL,
    run              TEXT    NOT NULL,
    at               INTEGER NOT NULL,
    actor            TEXT    NOT NULL,
    verb             TEXT    NOT NULL,
    decision         TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    memory_id        TEXT    NOT NULL,
    before           INTEGER,
    after            INTEGER,
    candidate        TEXT    NOT NULL,
    undoes           TEXT    NOT NULL,
    content_hash     TEXT    NOT NULL,
    idempotency_key  TEXT,
    request_hash     TEXT,
    seq              INTEGER NOT NULL,
    salt             TEXT    NOT NULL,
    sealed           TEXT    NOT NULL,
    link             TEXT    NOT NULL,
    row_hash         TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
-- The last row of the chain, and all in its order. It is not unique, or where it is damaged it could not be made anew.
CREATE INDEX changes_seq ON changes (user_id, seq);
-- SQLite keeps no statistics here, and takes an index in the order that is asked for before one that finds more: so an
-- index of what is read in order of its ids ends with the id.
CREATE INDEX changes_run ON changes (user_id, run, id);
CREATE INDEX changes_time ON changes (user_id, at, id);
-- Few changes undo another.
CREATE INDEX changes_undoing ON changes (user_id, undoes) WHERE undoes <> '';
CREATE INDEX changes_idempotency_key ON changes (user_id, idempotency_key, id) WHERE idempotency_key IS NOT NULL;
-- Which texts were refused, and how many changes there are of each decision, from the index alone.
CREATE INDEX changes_content ON changes (user_id, decision, content_hash);
-- The latest changes of a memory, whatever the clocks said.
CREATE INDEX changes_memory ON changes (user_id, memory_id, id);
-- The versions that the changes of a memory opened, to count them.
CREATE INDEX changes_opening ON changes (user_id, memory_id, after) WHERE after IS NOT NULL;

-- What was handed to agents, where a setting wants that recorded, until retention removes it: the ids of memories and
-- episodes, as JSON, in the answer of an operation to an actor. `seq`, `salt`, `sealed` and `link` are as in changes.
CREATE TABLE handouts (
    user_id   TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    actor     TEXT    NOT NULL,
    verb      TEXT    NOT NULL,
    ids       TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    salt      TEXT    NOT NULL,
    sealed    TEXT    NOT NULL,
    link      TEXT    NOT NULL,
    row_hash  TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE INDEX handouts_seq ON handouts (user_id, seq);
CREATE INDEX handouts_time ON handouts (user_id, at, seq);

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
    row_hash        TEXT    NOT NULL,
    PRIMARY KEY (user_id, child_kind, child_id, child_version, parent_kind, parent_id, parent_version, role)
) STRICT;
CREATE INDEX lineage_parent ON lineage (user_id, parent_kind, parent_id, parent_version);

-- The index page, kept so that it has the same bytes until memory changes.
CREATE TABLE index_pages (
    user_id    TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    project    TEXT    NOT NULL,
    budget     INTEGER NOT NULL,
    made_from  TEXT    NOT NULL,
    page       TEXT    NOT NULL,
    tokens     INTEGER NOT NULL,
    left_out   INTEGER NOT NULL,
    row_hash   TEXT    NOT NULL,
    PRIMARY KEY (user_id, agent, project, budget)
) STRICT;

-- The files to which index pages were exported, so that a purge can write them again.
CREATE TABLE exports (
    user_id       TEXT    NOT NULL,
    path          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    budget        INTEGER NOT NULL,
    exported_at   INTEGER NOT NULL,
    content_hash  TEXT    NOT NULL,
    row_hash      TEXT    NOT NULL,
    PRIMARY KEY (user_id, path)
) STRICT;
