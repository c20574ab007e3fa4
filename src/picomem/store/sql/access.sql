-- name: put_access_token
INSERT INTO access_tokens (user_id, id, digest, label, permissions, created_at, expires_at, revoked_at, row_hash)
VALUES (:user, :id, :digest, :label, :permissions, :created_at, :expires_at, :revoked_at, :row_hash)

-- name: access_tokens
SELECT id, digest, label, permissions, created_at, expires_at, revoked_at, user_id, row_hash FROM access_tokens
WHERE user_id = :user ORDER BY id

-- name: access_token
SELECT id, digest, label, permissions, created_at, expires_at, revoked_at, user_id, row_hash FROM access_tokens
WHERE user_id = :user AND digest = :digest

-- name: revoke_access_token
UPDATE access_tokens SET revoked_at = :revoked_at WHERE user_id = :user AND id = :id AND revoked_at IS NULL

-- name: delete_access_token
DELETE FROM access_tokens WHERE user_id = :user AND id = :id

-- name: delete_access_tokens
DELETE FROM access_tokens WHERE user_id = :user
