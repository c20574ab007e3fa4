-- Who decided on a transcript's send policy: 'person', or 'host' for the program that wrote it. NULL where nobody did, and
-- where the transcript was withheld before this was known, by a person.
ALTER TABLE transcripts ADD COLUMN policy_by TEXT;
CREATE INDEX transcripts_policy ON transcripts (user_id) WHERE policy_by IS NOT NULL;
