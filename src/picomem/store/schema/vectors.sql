-- Vectors, which can be made again from the texts.

-- A user's vectors of one source by one model, under a small number. A process that holds them in memory reads on from
-- `last_doc`, the highest document that ever had one, and reads again what was rewritten below it.
CREATE TABLE vector_spaces (
    user_id   TEXT    NOT NULL,
    source    TEXT    NOT NULL CHECK (source IN ('memory', 'episode')),
    model     TEXT    NOT NULL,
    space     INTEGER NOT NULL,
    last_doc  INTEGER NOT NULL,
    rewrites  INTEGER NOT NULL,
    PRIMARY KEY (user_id, source, model)
) STRICT;

-- The latest vectors that were written again or deleted, numbered from 1 in each space.
CREATE TABLE vector_rewrites (
    user_id  TEXT    NOT NULL,
    space    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    doc      INTEGER NOT NULL,
    PRIMARY KEY (user_id, space, number)
) STRICT;

-- The vector of one document. `scale` turns the int8 values back into a unit vector.
CREATE TABLE vectors (
    user_id  TEXT    NOT NULL,
    space    INTEGER NOT NULL,
    doc      INTEGER NOT NULL,
    scale    REAL    NOT NULL,
    vector   BLOB    NOT NULL,
    PRIMARY KEY (user_id, space, doc)
) STRICT, WITHOUT ROWID;
