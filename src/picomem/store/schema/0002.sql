-- Which turns of a transcript its user went back from: ranges [[first, last], …] of turns, both inclusive, as JSON; NULL
-- where it was last read before this was known. They stand beside the episodes, not in them: one rewind can take back
-- hundreds, and a later one can bring them back.
ALTER TABLE transcripts ADD COLUMN abandoned TEXT;
