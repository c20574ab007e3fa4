-- A sender on a channel has several ids. `sender` is the same in the rows of one sender, and NULL in rows that were
-- stored before this version. A revoked id stands for nobody; its row stays, so that it is not taken up again.
ALTER TABLE contacts ADD COLUMN sender TEXT;
ALTER TABLE contacts ADD COLUMN revoked_at INTEGER;
