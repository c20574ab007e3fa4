-- What belongs to a user stands in rows of that user; meta keeps what is the file's own, and nothing writes to it after
-- the file was made, except a repair. The rows that are there are moved in store/user_rows_migration.py.

-- Texts by name: the purges of a user that are not finished, and when retention ran last.
CREATE TABLE user_marks (
    user_id   TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     TEXT NOT NULL,
    row_hash  TEXT,
    PRIMARY KEY (user_id, name)
) STRICT;
