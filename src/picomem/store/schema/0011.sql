-- What the consolidation of transcripts leaves behind: one run that took up turns of a transcript. Turns are counted from
-- 1 here, so 0 is the place before the first. The latest run of a transcript says how far it was taken up: `last_turn`.
-- `generation` is that of the transcript then; after a rewrite its turns have other numbers, and what was stored behind
-- `at` is new. `episodes` is the timeline entry, as in consolidations.
CREATE TABLE transcript_consolidations (
    user_id        TEXT    NOT NULL,
    run            TEXT    NOT NULL,
    transcript_id  TEXT    NOT NULL,
    change_id      TEXT    NOT NULL,
    generator      TEXT    NOT NULL,
    first_turn     INTEGER NOT NULL,
    last_turn      INTEGER NOT NULL,
    before_turn    INTEGER NOT NULL,
    generation     INTEGER NOT NULL,
    episodes       TEXT    NOT NULL,
    at             INTEGER NOT NULL,
    row_hash       TEXT,
    PRIMARY KEY (user_id, run),
    FOREIGN KEY (user_id, transcript_id) REFERENCES transcripts (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX transcript_consolidations_latest ON transcript_consolidations (user_id, transcript_id, change_id);
