-- What came of an agent's commands in an episode: the outcome of tests, and how an error begins, a line each; NULL where it
-- was last read before this was known.
ALTER TABLE episodes ADD COLUMN outcomes TEXT;
-- What clones of the repository share in which a session began: the remote without credentials, or else the path of git's
-- common folder; NULL where the session was read before this was known.
ALTER TABLE transcripts ADD COLUMN repository TEXT;
