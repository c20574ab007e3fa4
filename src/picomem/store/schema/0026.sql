-- The versions that the changes of a memory opened, to count them.
CREATE INDEX changes_opening ON changes (user_id, memory_id, after) WHERE after IS NOT NULL;
-- The tags that a person gave an episode, as those of a memory are kept; NULL where there are none.
ALTER TABLE episodes ADD COLUMN tags TEXT;
