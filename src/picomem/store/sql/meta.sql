-- name: meta
SELECT name, value, row_hash FROM meta WHERE name = :name

-- name: has_meta
-- Of a store of any version.
SELECT 1 FROM meta WHERE name = 'redaction_key'

-- name: set_meta
INSERT INTO meta (name, value, row_hash) VALUES (:name, :value, :row_hash)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, row_hash = excluded.row_hash

-- name: first_meta
-- As the first version made it; the migrations do the rest.
INSERT INTO meta (name, value)
VALUES ('next_doc', '0'), ('redaction_key', :key), ('terms_version', :terms)

-- name: all_meta
SELECT name, value, row_hash FROM meta ORDER BY name
