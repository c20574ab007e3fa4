-- Channels: people who write to PicoBot from other programs.

-- What came in and what goes out, in one log. A message that came in is stored before it is acknowledged, once for each
-- id that the channel gave it. Its text is emptied when it was answered or sent: from then on a session holds it.
CREATE TABLE channel_messages (
    user_id       TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    channel       TEXT    NOT NULL,
    account       TEXT    NOT NULL,
    conversation  TEXT    NOT NULL,
    direction     TEXT    NOT NULL CHECK (direction IN ('in', 'out')),
    native_id     TEXT    NOT NULL,
    address       TEXT    NOT NULL,
    is_group      INTEGER NOT NULL CHECK (is_group IN (0, 1)),
    text          TEXT    NOT NULL,
    context       TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (
        state IN ('waiting', 'answered', 'ready', 'sending', 'sent', 'held', 'failed')),
    reason        TEXT    NOT NULL,
    session_id    TEXT    NOT NULL,
    message_id    TEXT    NOT NULL,
    said_at       INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    due_at        INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    row_hash      TEXT    NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE UNIQUE INDEX channel_messages_native ON channel_messages (user_id, channel, account, native_id)
    WHERE direction = 'in';
CREATE INDEX channel_messages_conversation ON channel_messages (user_id, channel, account, conversation, id);
CREATE INDEX channel_messages_open ON channel_messages (user_id, id) WHERE state IN ('waiting', 'ready', 'sending');

-- Who writes: an id of the channel, and the user that it stands for. The rows belong to the directory, which is a user
-- of its own, because they are looked up before the person is known. `sender` is the same for all ids of one sender. A
-- revoked id stands for nobody; its row stays, so that the id is not stored again.
CREATE TABLE contacts (
    user_id     TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    account     TEXT    NOT NULL,
    native_id   TEXT    NOT NULL,
    person      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    sender      TEXT    NOT NULL,
    revoked_at  INTEGER,
    row_hash    TEXT    NOT NULL,
    PRIMARY KEY (user_id, channel, account, native_id)
) STRICT;
CREATE INDEX contacts_person ON contacts (user_id, person, channel, account, native_id);

-- Senders whom nobody has accepted yet, until they expire. `native_ids` is JSON.
CREATE TABLE pairings (
    user_id     TEXT    NOT NULL,
    code        TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    account     TEXT    NOT NULL,
    native_ids  TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    row_hash    TEXT    NOT NULL,
    PRIMARY KEY (user_id, code)
) STRICT;
