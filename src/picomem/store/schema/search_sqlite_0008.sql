-- The last document number that each user got. Full text on SQLite takes numbers that are unique in the file, so each
-- user has a range of 2^32 of them: the number shifted right by 32 says which, and the first user has range 0. Documents
-- that were stored before there were ranges keep their numbers, all of which are below those of range 0 since.
CREATE TABLE doc_ranges (
    user_id   TEXT    NOT NULL,
    last_doc  INTEGER NOT NULL,
    row_hash  TEXT,
    PRIMARY KEY (user_id)
) STRICT;
