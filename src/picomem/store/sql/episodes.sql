-- part: transcript_columns
id, host, path, session, agent, project, branch, cwd, title, parent_session, send_policy, started_at, ended_at,
    generation, size, fingerprint, cursor, state, turns, skipped, updated_at, abandoned, user_id, policy_by, repository, row_hash

-- name: put_transcript
INSERT INTO transcripts (user_id, id, host, path, session, agent, project, branch, cwd, title, parent_session,
    send_policy, started_at, ended_at, generation, size, fingerprint, cursor, state, turns, skipped, updated_at,
    abandoned, policy_by, repository, row_hash)
VALUES (:user, :id, :host, :path, :session, :agent, :project, :branch, :cwd, :title, :parent_session,
    :send_policy, :started_at, :ended_at, :generation, :size, :fingerprint, :cursor, :state, :turns, :skipped,
    :updated_at, :abandoned, :policy_by, :repository, :row_hash)
ON CONFLICT (user_id, id) DO UPDATE SET path = excluded.path, session = excluded.session, agent = excluded.agent,
    project = excluded.project, branch = excluded.branch, cwd = excluded.cwd, title = excluded.title,
    parent_session = excluded.parent_session, started_at = excluded.started_at, ended_at = excluded.ended_at,
    generation = excluded.generation, size = excluded.size, fingerprint = excluded.fingerprint,
    cursor = excluded.cursor, state = excluded.state, turns = excluded.turns, skipped = excluded.skipped,
    updated_at = excluded.updated_at, abandoned = excluded.abandoned, repository = excluded.repository

-- Unordered: to have them in order of their ids, SQLite reads all transcripts of the user by that order.
-- name: transcripts_at_path
SELECT {transcript_columns} FROM transcripts WHERE user_id = :user AND path = :path

-- name: transcript_at_path
SELECT {transcript_columns} FROM transcripts WHERE user_id = :user AND path = :path AND session = :session

-- name: transcripts_of_session
SELECT {transcript_columns} FROM transcripts WHERE user_id = :user AND host = :host AND session = :session

-- name: turns_of_host
SELECT path, session, turns FROM transcripts WHERE user_id = :user AND host = :host

-- name: longest_transcript
SELECT id FROM transcripts WHERE user_id = :user AND session = :session AND path NOT LIKE 'picomem:%'
ORDER BY turns DESC, id LIMIT 1

-- part: projects_of_memories
-- One project after the other, each found at once by the index memories_owner, however many memories it has.
of_memories(project) AS (
    SELECT min(m.project) FROM memories AS m WHERE m.user_id = :user
    UNION ALL
    SELECT (SELECT min(m.project) FROM memories AS m WHERE m.user_id = :user AND m.project > o.project)
    FROM of_memories AS o WHERE o.project IS NOT NULL
)

-- name: projects
WITH RECURSIVE {projects_of_memories}
SELECT t.project AS project FROM transcripts AS t
WHERE t.user_id = :user AND t.send_policy <> 'deny' AND t.project <> ''
UNION SELECT o.project FROM of_memories AS o WHERE o.project <> '' ORDER BY project

-- name: agents
WITH RECURSIVE {projects_of_memories}, named(project, agent) AS (
    SELECT o.project, (SELECT min(m.agent) FROM memories AS m WHERE m.user_id = :user AND m.project = o.project)
    FROM of_memories AS o WHERE o.project IS NOT NULL
    UNION ALL
    SELECT n.project, (SELECT min(m.agent) FROM memories AS m
        WHERE m.user_id = :user AND m.project = n.project AND m.agent > n.agent)
    FROM named AS n WHERE n.agent IS NOT NULL
)
SELECT t.agent AS agent FROM transcripts AS t
WHERE t.user_id = :user AND t.send_policy <> 'deny' AND t.agent <> ''
UNION SELECT n.agent FROM named AS n WHERE n.agent <> '' ORDER BY agent

-- name: transcript
SELECT {transcript_columns} FROM transcripts WHERE user_id = :user AND id = :id

-- name: transcripts
SELECT {transcript_columns} FROM transcripts WHERE user_id = :user ORDER BY id

-- name: known_folders
SELECT cwd, project, repository, max(id) FROM transcripts
WHERE user_id = :user AND cwd <> '' AND project <> ''
GROUP BY cwd, project, repository ORDER BY min(id)

-- name: denied_transcript
SELECT 1 FROM transcripts WHERE user_id = :user AND send_policy = 'deny' LIMIT 1

-- part: of_project
(:project = '' OR t.project = :project OR t.project IN (SELECT value FROM json_each(:former_projects)))

-- name: allowed_transcripts
SELECT id FROM transcripts AS t
WHERE user_id = :user AND send_policy <> 'deny' AND {of_project}
  AND (:agent = '' OR agent = :agent) AND (:session = '' OR session = :session)

-- part: past_session
t.user_id = :user AND t.send_policy <> 'deny' AND t.parent_session = '' AND t.ended_at IS NOT NULL AND t.turns > 0
  AND {of_project} AND (:agent = '' OR t.agent = :agent) AND (:session = '' OR t.session = :session)

-- name: latest_sessions
-- The ids are sorted without the rows, which may be long.
SELECT {transcript_columns} FROM transcripts
WHERE user_id = :user AND id IN (
    SELECT t.id FROM transcripts AS t WHERE {past_session} ORDER BY t.ended_at DESC, t.id DESC LIMIT :limit)
ORDER BY ended_at DESC, id DESC

-- name: count_past_sessions
SELECT count(*) FROM transcripts AS t WHERE {past_session}

-- name: sessions_in_order
SELECT id FROM transcripts
WHERE user_id = :user AND send_policy <> 'deny' AND parent_session = '' AND started_at <= :now
  AND NOT coalesce(ended_at > :quiet AND ended_at <= :now, FALSE) AND (:project = '' OR project = :project)
  AND (:agent = '' OR agent = :agent) AND (:session = '' OR session = :session)
ORDER BY started_at, id

-- name: count_transcripts
SELECT host, count(*), sum(turns), sum(size), max(updated_at) FROM transcripts
WHERE user_id = :user AND send_policy <> 'deny' GROUP BY host ORDER BY host

-- CROSS JOIN begins with what is withheld, which is little.
-- name: count_withheld_episodes
SELECT count(*) FROM transcripts AS t
CROSS JOIN episodes AS e ON e.user_id = t.user_id AND e.transcript_id = t.id
WHERE t.user_id = :user AND t.send_policy = 'deny'

-- part: episode_columns
e.id, e.transcript_id, e.first_turn, e.last_turn, e.part, e.start_offset, e.end_offset, e.role, e.origin, e.branch,
    e.category, e.key, e.preview, e.summary, e.importance, e.started_at, e.ended_at, e.tokens, e.identity,
    e.created_at, e.doc, e.user_id, e.actions, e.outcomes, e.suggested, e.tags, e.row_hash

-- name: insert_episode
INSERT INTO episodes (user_id, id, doc, transcript_id, first_turn, last_turn, part, start_offset, end_offset, role,
    origin, branch, category, key, preview, summary, importance, started_at, ended_at, tokens, identity, created_at,
    actions, outcomes, suggested, tags, row_hash)
VALUES (:user, :id, :doc, :transcript_id, :first_turn, :last_turn, :part, :start, :end, :role, :origin, :branch,
    :category, :key, :preview, :summary, :importance, :started_at, :ended_at, :tokens, :identity, :created_at,
    :actions, :outcomes, :suggested, :tags, :row_hash)

-- name: replace_episode
UPDATE episodes SET transcript_id = :transcript_id, first_turn = :first_turn, last_turn = :last_turn,
    start_offset = :start, end_offset = :end, role = :role, origin = :origin, branch = :branch, preview = :preview,
    ended_at = :ended_at, tokens = :tokens, actions = :actions, outcomes = :outcomes, suggested = :suggested
WHERE user_id = :user AND id = :id

-- name: tag_episode
UPDATE episodes SET tags = :tags WHERE user_id = :user AND id = :id

-- name: episode_by_identity
SELECT {episode_columns} FROM episodes AS e WHERE e.user_id = :user AND e.identity = :identity

-- name: known_identities
SELECT e.identity FROM episodes AS e
WHERE e.user_id = :user AND e.identity IN (SELECT value FROM json_each(:identities))

-- From the moments on, which the index of times finds at once.
-- name: episodes_said_by_relatives
SELECT {episode_columns} FROM episodes AS e
    CROSS JOIN transcripts AS t ON t.user_id = e.user_id AND t.id = e.transcript_id
WHERE e.user_id = :user AND e.started_at IN (SELECT value FROM json_each(:times)) AND t.id <> :transcript
  AND t.host = :host AND (:session IN (t.session, t.parent_session) OR t.session = :parent)
ORDER BY e.started_at, e.id

-- name: episode
SELECT {episode_columns} FROM episodes AS e WHERE e.user_id = :user AND e.id = :id

-- name: episode_ids_like
SELECT id FROM episodes WHERE user_id = :user AND id >= :from AND id < :to LIMIT 3

-- name: episodes_by_doc
SELECT {episode_columns} FROM episodes AS e
WHERE e.user_id = :user AND e.doc IN (SELECT value FROM json_each(:docs))

-- name: all_episodes
SELECT {episode_columns} FROM episodes AS e WHERE e.user_id = :user ORDER BY e.id

-- name: episode_places
SELECT e.transcript_id, e.first_turn, e.part, e.last_turn, e.doc, e.tokens, e.role, e.started_at FROM episodes AS e
WHERE e.user_id = :user AND e.doc IN (SELECT value FROM json_each(:docs))

-- name: episodes_in_window
SELECT e.transcript_id, e.first_turn, e.part, e.last_turn, e.doc, e.tokens, e.role, e.started_at FROM episodes AS e
WHERE e.user_id = :user AND e.started_at >= :since AND e.started_at < :until
ORDER BY e.started_at DESC LIMIT :limit

-- name: episodes_stored_since
SELECT e.transcript_id, e.first_turn, e.part, e.last_turn, e.doc, e.tokens, e.role, e.started_at FROM episodes AS e
WHERE e.user_id = :user AND e.created_at >= :stored_since
    AND (e.started_at >= :since AND e.started_at < :until OR :always = 1)
ORDER BY e.started_at DESC NULLS LAST LIMIT :limit

-- name: episodes_of_transcripts
SELECT e.transcript_id, e.first_turn, e.part, e.last_turn, e.doc, e.tokens, e.role, e.started_at FROM episodes AS e
WHERE e.user_id = :user AND e.transcript_id IN (SELECT value FROM json_each(:transcripts))
ORDER BY e.started_at DESC NULLS LAST LIMIT :limit

-- part: of_tag
(:tag = '' OR e.branch = :tag OR replace(e.tags, :tag_in_json, '') <> e.tags)

-- From a place on, which the index of times finds at once, however far back it is. The join keeps that order, and shows
-- an episode whose transcript is lost, so that the reader is told.
-- name: timeline
SELECT {episode_columns} FROM episodes AS e
    LEFT JOIN transcripts AS t ON t.user_id = e.user_id AND t.id = e.transcript_id
WHERE e.user_id = :user AND (t.id IS NULL OR {of_project} AND (:agent = '' OR t.agent = :agent)
  AND (:session = '' OR t.session = :session) AND t.send_policy <> 'deny') AND e.started_at >= :since
  AND (e.started_at, e.first_turn, e.part, e.id) < (:started_at, :first_turn, :part, :id) AND {of_tag}
ORDER BY e.started_at DESC, e.first_turn DESC, e.part DESC, e.id DESC LIMIT :limit

-- Of a session, which has few of all episodes: the signs keep SQLite from looking for them by their times.
-- name: timeline_of_session
SELECT {episode_columns} FROM episodes AS e
    CROSS JOIN transcripts AS t ON t.user_id = e.user_id AND t.id = e.transcript_id
WHERE e.user_id = :user AND {of_project} AND (:agent = '' OR t.agent = :agent)
  AND e.transcript_id IN (SELECT s.id FROM transcripts AS s WHERE s.user_id = :user AND s.session = :session)
  AND t.send_policy <> 'deny' AND +e.started_at >= :since
  AND (+e.started_at, e.first_turn, e.part, e.id) < (:started_at, :first_turn, :part, :id) AND {of_tag}
ORDER BY +e.started_at DESC, e.first_turn DESC, e.part DESC, e.id DESC LIMIT :limit

-- Of some transcripts nobody knows when they took place; they come last.
-- name: users_turns
SELECT e.doc FROM episodes AS e
    JOIN transcripts AS t ON t.user_id = e.user_id AND t.id = e.transcript_id
WHERE e.user_id = :user AND e.started_at >= :since AND e.role = 'user' AND e.origin = 'user' AND t.send_policy <> 'deny'
ORDER BY e.started_at DESC, e.first_turn DESC, e.part DESC LIMIT :limit

-- name: timeline_undated
SELECT {episode_columns} FROM episodes AS e
    LEFT JOIN transcripts AS t ON t.user_id = e.user_id AND t.id = e.transcript_id
WHERE e.user_id = :user AND (t.id IS NULL OR {of_project} AND (:agent = '' OR t.agent = :agent)
  AND (:session = '' OR t.session = :session) AND t.send_policy <> 'deny') AND e.started_at IS NULL
  AND (e.first_turn, e.part, e.id) < (:first_turn, :part, :id) AND {of_tag}
ORDER BY e.first_turn DESC, e.part DESC, e.id DESC LIMIT :limit

-- name: episodes_by_slot
SELECT e.started_at / :slot AS slot, count(*) FROM episodes AS e
    CROSS JOIN transcripts AS t ON t.user_id = e.user_id AND t.id = e.transcript_id
WHERE e.user_id = :user AND {of_project} AND (:agent = '' OR t.agent = :agent)
  AND (:session = '' OR t.session = :session) AND t.send_policy <> 'deny' AND e.started_at >= :since
  AND e.started_at < :until
GROUP BY slot ORDER BY slot

-- name: episodes_before_turn
SELECT id FROM episodes
WHERE user_id = :user AND transcript_id = :transcript AND category = :category AND first_turn < :turn
ORDER BY first_turn DESC, part LIMIT :limit

-- name: episodes_after_turn
SELECT id FROM episodes
WHERE user_id = :user AND transcript_id = :transcript AND category = :category AND first_turn > :turn
ORDER BY first_turn, part LIMIT :limit

-- name: first_request
SELECT {episode_columns} FROM episodes AS e
WHERE e.user_id = :user AND e.transcript_id = :transcript AND e.role <> 'assistant' AND e.preview <> ''
ORDER BY e.first_turn, e.part LIMIT 1

-- name: end_of_session
SELECT {episode_columns} FROM episodes AS e
WHERE e.user_id = :user AND e.transcript_id = :transcript
ORDER BY e.first_turn DESC, e.part DESC, e.id DESC LIMIT :limit

-- name: latest_actions
SELECT e.actions FROM episodes AS e
WHERE e.user_id = :user AND e.transcript_id = :transcript AND e.actions <> ''
ORDER BY e.first_turn DESC, e.part DESC LIMIT :limit

-- name: count_episodes
SELECT episodes FROM holdings WHERE user_id = :user

-- name: add_memories_to_holdings
INSERT INTO holdings (user_id, episodes, memories, believed, searchable)
VALUES (:user, 0, :versions, :believed, :searchable)
ON CONFLICT (user_id) DO UPDATE SET memories = holdings.memories + excluded.memories,
    believed = holdings.believed + excluded.believed,
    searchable = holdings.searchable + excluded.searchable

-- name: memory_counts
-- Those in the table, then those that were counted as they were written.
SELECT count(*), count(*) FILTER (WHERE known_to IS NULL), count(*) FILTER (WHERE {searchable}),
    coalesce((SELECT h.memories FROM holdings AS h WHERE h.user_id = :user), 0),
    coalesce((SELECT h.believed FROM holdings AS h WHERE h.user_id = :user), 0),
    coalesce((SELECT h.searchable FROM holdings AS h WHERE h.user_id = :user), 0)
FROM memories AS m WHERE m.user_id = :user

-- name: written_memory_counts
SELECT memories, believed, searchable FROM holdings WHERE user_id = :user

-- name: recount_memories
INSERT INTO holdings (user_id, episodes, memories, believed, searchable)
VALUES (:user, 0, :versions, :believed, :searchable)
ON CONFLICT (user_id) DO UPDATE SET memories = excluded.memories, believed = excluded.believed,
    searchable = excluded.searchable

-- name: add_to_holdings
INSERT INTO holdings (user_id, episodes, memories, believed, searchable) VALUES (:user, :episodes, 0, 0, 0)
ON CONFLICT (user_id) DO UPDATE SET episodes = holdings.episodes + excluded.episodes

-- name: old_timeline_entries
SELECT {episode_columns} FROM episodes AS e
WHERE e.user_id = :user AND e.category = 'timeline' AND e.created_at < :before

-- name: suggested_episodes
-- The conditions on what is suggested lead to the index episodes_suggested.
SELECT {episode_columns} FROM episodes AS e
JOIN transcripts AS t ON t.user_id = e.user_id AND t.id = e.transcript_id
WHERE e.user_id = :user AND e.suggested <> '' AND t.send_policy <> 'deny' AND {of_project}
  AND (:agent = '' OR t.agent = :agent) AND (:session = '' OR t.session = :session)
ORDER BY e.started_at DESC, e.id LIMIT :limit

-- name: delete_episode
DELETE FROM episodes WHERE user_id = :user AND id = :id

-- name: rewrite_episode_preview
UPDATE episodes SET preview = :preview, tokens = :tokens, actions = :actions, outcomes = :outcomes,
    suggested = :suggested
WHERE user_id = :user AND id = :id

-- name: like_episodes
SELECT e.doc FROM episodes AS e
WHERE e.user_id = :user AND (e.preview LIKE :pattern ESCAPE '\' OR e.actions LIKE :pattern ESCAPE '\'
  OR e.outcomes LIKE :pattern ESCAPE '\')
ORDER BY e.doc DESC LIMIT :limit

-- name: like_memories
SELECT doc FROM memories
WHERE user_id = :user AND known_to IS NULL AND (key LIKE :pattern ESCAPE '\' OR content LIKE :pattern ESCAPE '\')
ORDER BY doc DESC LIMIT :limit

-- name: withheld
SELECT policy_by FROM transcripts
WHERE user_id = :user AND send_policy = 'deny' AND session <> '' AND session IN (:session, :parent)
ORDER BY policy_by DESC LIMIT 1

-- name: policies_of_host
SELECT id, path, session, parent_session, send_policy, policy_by FROM transcripts
WHERE user_id = :user AND host = :host

-- name: decided_policies_of_host
SELECT id, path, session, parent_session, send_policy, policy_by FROM transcripts
WHERE user_id = :user AND host = :host AND policy_by IS NOT NULL

-- name: set_policy_of_transcript
UPDATE transcripts SET send_policy = :policy, policy_by = :by WHERE user_id = :user AND id = :id

-- name: set_send_policy
UPDATE transcripts SET send_policy = :policy, policy_by = :by
WHERE user_id = :user
  AND (session >= :from AND session < :to OR parent_session >= :from AND parent_session < :to)

-- name: episodes_of_transcript
SELECT {episode_columns} FROM episodes AS e
WHERE e.user_id = :user AND e.transcript_id = :transcript_id ORDER BY e.first_turn, e.part
