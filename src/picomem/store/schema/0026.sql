-- The versions that the changes of a memory opened, to count them.
CREATE INDEX changes_opening ON changes (user_id, memory_id, after) WHERE after IS NOT NULL;
