-- name: take_docs
UPDATE meta SET value = CAST(value AS INTEGER) + :count WHERE name = 'next_doc'
RETURNING CAST(value AS INTEGER)

-- name: meta
SELECT value FROM meta WHERE name = :name

-- name: set_meta
INSERT INTO meta (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: first_meta
INSERT INTO meta (name, value)
VALUES ('next_doc', '0'), ('redaction_key', :key), ('terms_version', :terms)

-- name: all_meta
SELECT name, value FROM meta
