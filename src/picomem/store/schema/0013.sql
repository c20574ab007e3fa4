-- Background work: one row for each kind of work that was ever begun for a user. `name` is the kind, or the kind and its
-- `subject`, as in "embed:wordllama-l2-256". `owner` is the lease under which the job ran last: only that owner writes the
-- row while the job runs. `mark` is what the last complete run had seen of the store. The row has no hash: nothing is
-- known by it alone, and a lost one is written again by the next run.
CREATE TABLE jobs (
    user_id        TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    subject        TEXT    NOT NULL,
    state          TEXT    NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    is_cancelling  INTEGER NOT NULL,
    owner          TEXT    NOT NULL,
    done           INTEGER NOT NULL,
    total          INTEGER NOT NULL,
    started_at     INTEGER,
    finished_at    INTEGER,
    next_run_at    INTEGER NOT NULL,
    failures       INTEGER NOT NULL,
    last_error     TEXT    NOT NULL,
    mark           TEXT    NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT;
-- Those that run, or whose process was killed.
CREATE INDEX jobs_running ON jobs (user_id, name) WHERE state = 'running';
-- Which memories expire next, of whatever user.
CREATE INDEX memories_expiring ON memories (user_id, expires_at) WHERE expires_at IS NOT NULL AND known_to IS NULL;
