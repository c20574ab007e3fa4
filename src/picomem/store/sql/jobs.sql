-- part: job_columns
name, kind, subject, state, is_cancelling, owner, done, total, started_at, finished_at, next_run_at, failures,
    last_error, mark, user_id

-- name: jobs
SELECT {job_columns} FROM jobs WHERE user_id = :user ORDER BY name

-- name: job
SELECT {job_columns} FROM jobs WHERE user_id = :user AND name = :name

-- name: begin_job
INSERT INTO jobs (user_id, name, kind, subject, state, is_cancelling, owner, done, total, started_at, finished_at,
    next_run_at, failures, last_error, mark)
VALUES (:user, :name, :kind, :subject, :state, :is_cancelling, :owner, :done, :total, :started_at, :finished_at,
    :next_run_at, :failures, :last_error, :mark)
ON CONFLICT (user_id, name) DO UPDATE SET
    kind = excluded.kind, subject = excluded.subject, state = excluded.state, is_cancelling = excluded.is_cancelling,
    owner = excluded.owner, done = excluded.done, total = excluded.total, started_at = excluded.started_at,
    finished_at = excluded.finished_at, next_run_at = excluded.next_run_at, failures = excluded.failures,
    last_error = excluded.last_error, mark = excluded.mark

-- name: advance_job
UPDATE jobs SET done = :done, total = :total, last_error = :last_error
WHERE user_id = :user AND name = :name AND owner = :owner AND state = 'running'

-- name: end_job
UPDATE jobs SET
    state = :state, is_cancelling = 0, finished_at = :finished_at, next_run_at = :next_run_at, failures = :failures,
    last_error = :last_error, mark = :mark
WHERE user_id = :user AND name = :name AND owner = :owner AND state = 'running'

-- name: ask_job_to_end
UPDATE jobs SET is_cancelling = 1 WHERE user_id = :user AND name = :name

-- name: put_job_aside
UPDATE jobs SET state = :state, is_cancelling = 0, next_run_at = :next_run_at WHERE user_id = :user AND name = :name

-- name: forget_job_errors
UPDATE jobs SET last_error = '' WHERE user_id = :user

-- name: delete_jobs
DELETE FROM jobs WHERE user_id = :user
