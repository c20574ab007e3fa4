-- What came of an agent's commands in an episode: the outcome of tests, and how an error begins, a line each; NULL where it
-- was last read before this was known.
ALTER TABLE episodes ADD COLUMN outcomes TEXT;
