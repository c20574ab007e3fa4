-- What is believed of a memory at a time, and under a key, however often it was revised.
CREATE INDEX memories_believed ON memories (user_id, id, (coalesce(valid_to, 9223372036854775807)))
    WHERE known_to IS NULL;
CREATE INDEX memories_lasting ON memories (user_id, key, id, version) WHERE known_to IS NULL AND valid_to IS NULL;
-- How many versions full text and vectors have.
ALTER TABLE holdings ADD COLUMN searchable INTEGER;
UPDATE holdings SET searchable = (SELECT count(*) FROM memories AS m
    WHERE m.user_id = holdings.user_id AND m.known_to IS NULL AND (m.valid_to IS NULL OR m.valid_to > m.known_from));
-- The latest changes of a memory, whatever the clocks said.
DROP INDEX changes_memory;
CREATE INDEX changes_memory ON changes (user_id, memory_id, id);
