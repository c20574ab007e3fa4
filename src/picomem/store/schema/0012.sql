-- What callers over a network show. A token is shown to its owner once; the store keeps a digest of it. A row that is
-- revoked or has expired stays, so that a list can say what became of a token.
CREATE TABLE access_tokens (
    user_id      TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    label        TEXT    NOT NULL,
    permissions  TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    row_hash     TEXT,
    PRIMARY KEY (user_id, id)
) STRICT;
CREATE UNIQUE INDEX access_tokens_digest ON access_tokens (user_id, digest);
