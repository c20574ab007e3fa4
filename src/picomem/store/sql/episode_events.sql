-- When the events happened that episodes date.

-- name: put_episode_event
INSERT INTO episode_events (user_id, doc, since, until) VALUES (:user, :doc, :since, :until)

-- name: delete_episode_event
DELETE FROM episode_events WHERE user_id = :user AND doc = :doc

-- name: episode_events_within
SELECT doc, since, until FROM episode_events
WHERE user_id = :user AND since >= :earliest AND since < :until AND until > :since
ORDER BY since DESC LIMIT :limit

-- name: episode_events_of
SELECT doc, since, until FROM episode_events
WHERE user_id = :user AND doc IN (SELECT value FROM json_each(:docs))
