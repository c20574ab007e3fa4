-- Which turns of a transcript its user went back from: ranges [[first, last], …] of turns, both inclusive, as JSON; NULL
-- where it was last read before this was known. They stand beside the episodes, not in them: one rewind can take back
-- hundreds, and a later one can bring them back.
ALTER TABLE transcripts ADD COLUMN abandoned TEXT;

-- What a question and a write need at their fingers' ends. PostgreSQL reads this file without WITHOUT ROWID.

-- Nothing asks any more whether anything changed at all.
DELETE FROM meta WHERE name = 'version';

-- How many episodes each user has: counting them would read an index from end to end, at every question.
CREATE TABLE holdings (
    user_id   TEXT    NOT NULL,
    episodes  INTEGER NOT NULL,
    PRIMARY KEY (user_id)
) STRICT;
INSERT INTO holdings (user_id, episodes) SELECT user_id, count(*) FROM episodes GROUP BY user_id;

-- Few transcripts are withheld, few episodes are of the timeline.
CREATE INDEX transcripts_denied ON transcripts (user_id) WHERE send_policy = 'deny';
DROP INDEX episodes_category;
CREATE INDEX episodes_timeline ON episodes (user_id, created_at) WHERE category = 'timeline';

-- A user's vectors of one source by one model, under a small number. A process that holds them in memory reads on from
-- `last_doc`, the highest that ever had one, and reads again what was rewritten below it.
CREATE TABLE vector_spaces (
    user_id   TEXT    NOT NULL,
    source    TEXT    NOT NULL CHECK (source IN ('memory', 'episode')),
    model     TEXT    NOT NULL,
    space     INTEGER NOT NULL,
    last_doc  INTEGER NOT NULL,
    rewrites  INTEGER NOT NULL,
    PRIMARY KEY (user_id, source, model)
) STRICT;
INSERT INTO vector_spaces (user_id, source, model, space, last_doc, rewrites)
SELECT user_id, source, model, row_number() OVER (PARTITION BY user_id ORDER BY source, model), max(doc), 0
FROM vectors GROUP BY user_id, source, model;

-- The latest vectors that were written again or taken out, numbered from 1 in each space.
CREATE TABLE vector_rewrites (
    user_id  TEXT    NOT NULL,
    space    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    doc      INTEGER NOT NULL,
    PRIMARY KEY (user_id, space, number)
) STRICT;

ALTER TABLE vectors RENAME TO wide_vectors;
CREATE TABLE vectors (
    user_id  TEXT    NOT NULL,
    space    INTEGER NOT NULL,
    doc      INTEGER NOT NULL,
    scale    REAL    NOT NULL,
    vector   BLOB    NOT NULL,
    PRIMARY KEY (user_id, space, doc)
) STRICT, WITHOUT ROWID;
INSERT INTO vectors (user_id, space, doc, scale, vector)
SELECT w.user_id, s.space, w.doc, w.scale, w.vector
FROM wide_vectors AS w
JOIN vector_spaces AS s ON s.user_id = w.user_id AND s.source = w.source AND s.model = w.model
ORDER BY w.user_id, s.space, w.doc;
DROP TABLE wide_vectors;
