-- A hash over every column of a row, and not over its text alone: see store/row_hash.py, which says what it is and
-- store/row_hash_migration.py, which gives one to the rows that are there. `content_hash` stays where equal texts are
-- looked up by it.
ALTER TABLE meta ADD COLUMN row_hash TEXT;
ALTER TABLE memories RENAME COLUMN content_hash TO row_hash;
ALTER TABLE changes ADD COLUMN row_hash TEXT;
ALTER TABLE lineage ADD COLUMN row_hash TEXT;
ALTER TABLE transcripts RENAME COLUMN content_hash TO row_hash;
ALTER TABLE episodes RENAME COLUMN content_hash TO row_hash;
ALTER TABLE index_pages RENAME COLUMN content_hash TO row_hash;
ALTER TABLE sessions RENAME COLUMN content_hash TO row_hash;
ALTER TABLE messages RENAME COLUMN content_hash TO row_hash;
ALTER TABLE session_summaries RENAME COLUMN content_hash TO row_hash;
ALTER TABLE consolidations RENAME COLUMN content_hash TO row_hash;
ALTER TABLE spending ADD COLUMN row_hash TEXT;
ALTER TABLE note_files ADD COLUMN row_hash TEXT;
ALTER TABLE note_sections RENAME COLUMN content_hash TO row_hash;
ALTER TABLE tombstones ADD COLUMN row_hash TEXT;
ALTER TABLE exports ADD COLUMN row_hash TEXT;

-- How many versions of memories each user has, and how many of them are believed: a list that lacks one says so.
ALTER TABLE holdings ADD COLUMN memories INTEGER;
ALTER TABLE holdings ADD COLUMN believed INTEGER;
INSERT INTO holdings (user_id, episodes) SELECT DISTINCT user_id, 0 FROM memories WHERE TRUE
ON CONFLICT (user_id) DO NOTHING;
UPDATE holdings SET
    memories = (SELECT count(*) FROM memories AS m WHERE m.user_id = holdings.user_id),
    believed = (SELECT count(*) FROM memories AS m WHERE m.user_id = holdings.user_id AND m.known_to IS NULL);
