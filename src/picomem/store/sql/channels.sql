-- part: channel_message_columns
id, channel, account, conversation, direction, native_id, address, is_group, text, context, state, reason, session_id,
    message_id, said_at, created_at, due_at, attempts, user_id, row_hash

-- name: put_channel_message
INSERT INTO channel_messages (user_id, id, channel, account, conversation, direction, native_id, address, is_group,
    text, context, state, reason, session_id, message_id, said_at, created_at, due_at, attempts, row_hash)
VALUES (:user, :id, :channel, :account, :conversation, :direction, :native_id, :address, :is_group, :text, :context,
    :state, :reason, :session_id, :message_id, :said_at, :created_at, :due_at, :attempts, :row_hash)
ON CONFLICT (user_id, id) DO UPDATE SET native_id = excluded.native_id, text = excluded.text,
    context = excluded.context, state = excluded.state, reason = excluded.reason, session_id = excluded.session_id,
    message_id = excluded.message_id, due_at = excluded.due_at, attempts = excluded.attempts

-- name: channel_message
SELECT {channel_message_columns} FROM channel_messages WHERE user_id = :user AND id = :id

-- name: channel_messages
SELECT {channel_message_columns} FROM channel_messages WHERE user_id = :user ORDER BY id

-- name: incoming_channel_message
SELECT {channel_message_columns} FROM channel_messages
WHERE user_id = :user AND channel = :channel AND account = :account AND native_id = :native_id AND direction = 'in'

-- name: open_channel_messages
SELECT {channel_message_columns} FROM channel_messages
WHERE user_id = :user AND state IN ('waiting', 'ready', 'sending') ORDER BY id

-- name: held_channel_messages
SELECT {channel_message_columns} FROM channel_messages
WHERE user_id = :user AND channel = :channel AND account = :account AND conversation = :conversation AND state = 'held'
ORDER BY id

-- name: last_said_on_channel
SELECT max(said_at) FROM channel_messages
WHERE user_id = :user AND channel = :channel AND account = :account AND conversation = :conversation
  AND direction = 'in'

-- everyone: users_with_open_channel_messages
SELECT DISTINCT u.user_id FROM channel_messages AS u
WHERE u.user_id >= :first AND u.user_id <= :last AND u.state IN ('waiting', 'ready', 'sending') ORDER BY u.user_id

-- name: delete_old_channel_messages
DELETE FROM channel_messages
WHERE user_id = :user AND created_at < :before AND state IN ('answered', 'sent', 'held', 'failed')

-- name: delete_channel_messages
DELETE FROM channel_messages WHERE user_id = :user

-- part: contact_columns
channel, account, native_id, person, created_at, user_id, sender, revoked_at, row_hash

-- name: put_contact
INSERT INTO contacts (user_id, channel, account, native_id, person, created_at, sender, revoked_at, row_hash)
VALUES (:user, :channel, :account, :native_id, :person, :created_at, :sender, :revoked_at, :row_hash)
ON CONFLICT (user_id, channel, account, native_id) DO UPDATE SET person = excluded.person,
    created_at = excluded.created_at, sender = excluded.sender, revoked_at = excluded.revoked_at,
    row_hash = excluded.row_hash

-- name: contact
SELECT {contact_columns} FROM contacts
WHERE user_id = :user AND channel = :channel AND account = :account AND native_id = :native_id

-- name: contacts
SELECT {contact_columns} FROM contacts WHERE user_id = :user ORDER BY person, channel, account, native_id

-- name: contacts_of_person
SELECT {contact_columns} FROM contacts WHERE user_id = :user AND person = :person
ORDER BY channel, account, native_id

-- name: delete_contacts
DELETE FROM contacts WHERE user_id = :user AND person = :person

-- name: put_pairing
INSERT INTO pairings (user_id, code, channel, account, native_ids, name, created_at, expires_at, row_hash)
VALUES (:user, :code, :channel, :account, :native_ids, :name, :created_at, :expires_at, :row_hash)

-- name: pairings
SELECT code, channel, account, native_ids, name, created_at, expires_at, user_id, row_hash FROM pairings
WHERE user_id = :user ORDER BY created_at, code

-- name: delete_pairing
DELETE FROM pairings WHERE user_id = :user AND code = :code

-- name: delete_expired_pairings
DELETE FROM pairings WHERE user_id = :user AND expires_at <= :now
