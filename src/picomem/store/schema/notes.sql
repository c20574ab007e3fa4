-- Notes: Markdown files that people and agents keep, divided at their headings. The rows are derived from the files, so
-- a damaged row is deleted and the file read again. `root` is the folder that the settings name, `path` is the file in
-- it, and `stamp` shows whether the file has changed since it was read.
CREATE TABLE note_files (
    user_id       TEXT    NOT NULL,
    root          TEXT    NOT NULL,
    path          TEXT    NOT NULL,
    stamp         TEXT    NOT NULL,
    modified_at   INTEGER NOT NULL,
    content_hash  TEXT    NOT NULL,
    row_hash      TEXT    NOT NULL,
    PRIMARY KEY (user_id, root, path)
) STRICT;

CREATE TABLE note_sections (
    user_id     TEXT    NOT NULL,
    doc         INTEGER NOT NULL,
    root        TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    part        INTEGER NOT NULL,
    heading     TEXT    NOT NULL,
    first_line  INTEGER NOT NULL,
    last_line   INTEGER NOT NULL,
    content     TEXT    NOT NULL,
    tokens      INTEGER NOT NULL,
    row_hash    TEXT    NOT NULL,
    PRIMARY KEY (user_id, doc),
    FOREIGN KEY (user_id, root, path) REFERENCES note_files (user_id, root, path) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX note_sections_place ON note_sections (user_id, root, path, part);
