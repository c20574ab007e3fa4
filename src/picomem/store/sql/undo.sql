-- name: change_ids_like
SELECT id FROM changes WHERE user_id = :user AND id >= :from AND id < :to LIMIT 3

-- name: runs_like
SELECT DISTINCT run FROM changes WHERE user_id = :user AND run >= :from AND run < :to LIMIT 3

-- name: changes_of_run
SELECT {change_columns} FROM changes WHERE user_id = :user AND run = :run ORDER BY id

-- name: undoing_changes
-- Unordered: to have them in order of their ids, SQLite reads all changes of the user by that order.
SELECT {change_columns} FROM changes WHERE user_id = :user AND undoes <> ''

-- name: closing_change
SELECT closed_by FROM memories WHERE user_id = :user AND id = :id AND version = :version

-- name: closing_changes
SELECT version, closed_by FROM memories WHERE user_id = :user AND id = :id AND closed_by IS NOT NULL
