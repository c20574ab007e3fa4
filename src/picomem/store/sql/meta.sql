-- name: meta
SELECT name, value, row_hash FROM meta WHERE name = :name

-- name: set_meta
INSERT INTO meta (name, value, row_hash) VALUES (:name, :value, :row_hash)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, row_hash = excluded.row_hash

-- name: all_meta
SELECT name, value, row_hash FROM meta ORDER BY name
