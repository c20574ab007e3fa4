-- The right to do a piece of work alone, among all processes on a store, until `expires_at`. The owner is random, and
-- whoever works longer renews the lease within (memory/lease.py). There is no hash: a damaged lease ends like any other.
CREATE TABLE leases (
    user_id     TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT;

-- Leases stood in meta, with the process id of their owner. One that is held now is lost: at worst two processes make
-- the same vectors, or ask a model about the same messages, once.
DELETE FROM meta WHERE name >= 'embedding ' AND name < 'embedding!';
DELETE FROM meta WHERE name >= 'consolidating ' AND name < 'consolidating!';
