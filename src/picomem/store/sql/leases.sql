-- A lease of ours is renewed. Another's is taken over once it has expired, or where it ends so late that it was written
-- before the clock was set back.

-- name: take_lease
INSERT INTO leases (user_id, name, owner, expires_at) VALUES (:user, :name, :owner, :until)
ON CONFLICT (user_id, name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
WHERE leases.owner = excluded.owner OR leases.expires_at <= :now OR leases.expires_at > :latest

-- name: lease_held
SELECT 1 FROM leases WHERE user_id = :user AND name = :name AND expires_at > :now AND expires_at <= :latest

-- name: give_back_lease
DELETE FROM leases WHERE user_id = :user AND name = :name AND owner = :owner

-- name: forget_leases
DELETE FROM leases WHERE user_id = :user
