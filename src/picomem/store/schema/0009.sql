-- What an agent did in an episode: the files that it read and wrote, the commands that it ran, a line each; NULL where
-- it was last read before this was known.
ALTER TABLE episodes ADD COLUMN actions TEXT;
