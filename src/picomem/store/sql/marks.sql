-- name: user_mark
SELECT name, value, user_id, row_hash FROM user_marks WHERE user_id = :user AND name = :name

-- name: user_marks
SELECT name, value, user_id, row_hash FROM user_marks WHERE user_id = :user ORDER BY name

-- name: put_user_mark
INSERT INTO user_marks (user_id, name, value, row_hash) VALUES (:user, :name, :value, :row_hash)
ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value, row_hash = excluded.row_hash

-- name: remove_user_mark
DELETE FROM user_marks WHERE user_id = :user AND name = :name
