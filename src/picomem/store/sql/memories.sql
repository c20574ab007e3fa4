-- part: memory_columns
id, version, user_id, agent, project, session, key, kind, content, context, importance, pinned, tags, related,
    origin, source, valid_from, valid_to, known_from, known_to, expires_at, created_at, tokens, change_id, doc,
    closed_by, path, row_hash

-- name: insert_memory
INSERT INTO memories (user_id, id, version, doc, agent, project, session, key, kind, content, context, importance,
    pinned, tags, related, origin, source, valid_from, valid_to, known_from, known_to, expires_at, created_at,
    tokens, change_id, closed_by, path, row_hash)
VALUES (:user, :id, :version, :doc, :agent, :project, :session, :key, :kind, :content, :context, :importance,
    :pinned, :tags, :related, :origin, :source, :valid_from, :valid_to, :known_from, :known_to, :expires_at,
    :created_at, :tokens, :change_id, :closed_by, :path, :row_hash)

-- name: close_version
UPDATE memories SET known_to = :known_to, closed_by = :closed_by
WHERE user_id = :user AND id = :id AND version = :version AND known_to IS NULL

-- name: memory_by_key
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND agent = :agent AND project = :project AND session = :session AND key = :key
  AND known_to IS NULL AND valid_to IS NULL

-- name: lasting_of_key
SELECT {memory_columns} FROM memories WHERE user_id = :user AND key = :key AND known_to IS NULL AND valid_to IS NULL
ORDER BY id, version

-- name: memories_of_key
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND key = :key
ORDER BY id, version

-- name: memory_by_path
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND agent = :agent AND project = :project AND session = :session AND path = :path
  AND known_to IS NULL AND valid_to IS NULL
ORDER BY id DESC LIMIT 1

-- name: files
-- Paths that begin with two slashes are of a graph.
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND agent = :agent AND project = :project AND session = :session
  AND path IS NOT NULL AND (path < '//' OR path >= '/0') AND known_to IS NULL AND valid_to IS NULL

-- name: graph
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND agent = :agent AND project = :project AND session = :session
  AND path >= '//graph/' AND path < '//graph0' AND known_to IS NULL AND valid_to IS NULL

-- name: memory_versions
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND id = :id
ORDER BY version

-- name: believed_versions
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND id = :id AND known_to IS NULL
ORDER BY version

-- name: last_opened_alike
SELECT m.version FROM memories AS m
WHERE m.user_id = :user AND m.id = :id AND m.version < :version AND m.content = :content AND EXISTS (
    SELECT 1 FROM changes AS c WHERE c.user_id = m.user_id AND c.memory_id = m.id AND c.after = m.version)
ORDER BY m.version DESC LIMIT 1

-- name: versions_after
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND id = :id AND version > :after
ORDER BY version

-- name: numbered_versions
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND id = :id AND version IN (SELECT value FROM json_each(:numbers))
ORDER BY version

-- name: believed_since
-- As the index memories_believed has the end of what has none.
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND id = :id AND known_to IS NULL AND coalesce(valid_to, 9223372036854775807) > :since
  AND valid_from < :until
ORDER BY version

-- name: last_version
SELECT max(version) FROM memories WHERE user_id = :user AND id = :id

-- name: memory_ids_like
SELECT DISTINCT id FROM memories
WHERE user_id = :user AND id >= :from AND id < :to
LIMIT 3

-- name: memory_ids_after
SELECT DISTINCT id FROM memories
WHERE user_id = :user AND id > :after
ORDER BY id LIMIT :limit

-- name: memories_by_doc
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND doc IN (SELECT value FROM json_each(:docs))

-- name: heads_of_docs
-- The owners are compared outside: with them in it SQLite would look through all that they hold.
SELECT doc, agent, project, session, kind, origin, importance, tags, valid_from, known_from FROM memories
WHERE user_id = :user AND doc IN (SELECT value FROM json_each(:docs))

-- name: current_memories
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND known_to IS NULL AND {true_now}
ORDER BY id

-- part: searchable
-- What full text and vectors have: what is believed and had not ended when it was learned.
known_to IS NULL AND (valid_to IS NULL OR valid_to > known_from)

-- part: true_now
-- What began, or had ended, by the moment at which it was learned has done so, even if the clock was set back since.
(valid_to IS NULL OR (valid_to > :now AND valid_to > known_from)) AND (valid_from <= :now OR valid_from <= known_from)
  AND (expires_at IS NULL OR expires_at > :now)

-- part: believed_now
-- Of a scope.
user_id = :user AND known_to IS NULL AND {true_now} AND {of_scope}

-- part: of_scope
(:agent = '' OR agent IN ('', :agent)) AND (:scope_project = '' OR project IN ('', :scope_project) OR project IN (SELECT value FROM json_each(:former_projects)))
  AND (:session = '' OR session IN ('', :session))

-- part: wanted_behind
-- The order is that of the index memories_listed. Equal values of the first three columns are told apart by the others,
-- which rise. Tags are a list in JSON: one of them stands in it between quotes, and a quote within it is escaped.
(:kind = '' OR kind = :kind) AND (:origin = '' OR origin = :origin)
  AND (:project = '' OR project IN ('', :project) OR project IN (SELECT value FROM json_each(:former_projects)))
  AND (:tag = '' OR replace(tags, :tag_in_json, '') <> tags) AND importance >= :least
  AND (pinned, importance, known_from) <= (:pinned, :importance, :known_from)
  AND ((pinned, importance, known_from) < (:pinned, :importance, :known_from) OR (key, id, version) > (:key, :id, :version))
ORDER BY pinned DESC, importance DESC, known_from DESC, key, id, version LIMIT :limit

-- part: listed_memories
{believed_now} AND {wanted_behind}

-- part: listed_archived
-- The last version of what is believed no longer.
user_id = :user AND known_to IS NOT NULL AND {last_unbelieved} AND {of_scope} AND {wanted_behind}

-- part: last_unbelieved
-- The condition on the version leads to the primary key, and not to all that is believed.
NOT EXISTS (SELECT 1 FROM memories AS v
    WHERE v.user_id = :user AND v.id = m.id AND v.version > 0 AND (v.version > m.version OR v.known_to IS NULL))

-- part: listed_expired
user_id = :user AND known_to IS NULL AND valid_to IS NULL AND expires_at <= :now AND {of_scope} AND {wanted_behind}

-- part: listed_ended
-- The last version in time of what is believed and true no longer. The later versions come first: they know it soonest.
user_id = :user AND known_to IS NULL AND valid_to IS NOT NULL AND (valid_to <= :now OR valid_to <= known_from)
  AND NOT EXISTS (SELECT 1 FROM memories AS v WHERE v.user_id = :user AND v.id = m.id AND v.version > m.version AND {outlives})
  AND NOT EXISTS (SELECT 1 FROM memories AS v WHERE v.user_id = :user AND v.id = m.id AND v.version < m.version AND {outlives})
  AND {of_scope} AND {wanted_behind}

-- part: outlives
v.known_to IS NULL AND (v.valid_to IS NULL OR v.valid_to > m.valid_to)

-- part: undecided
-- As the index memories_undecided has it.
(origin IN ('tool', 'web', 'other') OR related <> '[]')

-- name: listed_memories
SELECT {memory_columns} FROM memories WHERE {listed_memories}

-- name: count_listed_memories
-- Its limit keeps the order, and with it the index.
SELECT count(*) FROM (SELECT 1 FROM memories WHERE {listed_memories}) AS listed

-- name: listed_archived
SELECT {memory_columns} FROM memories AS m WHERE {listed_archived}

-- name: count_listed_archived
SELECT count(*) FROM (SELECT 1 FROM memories AS m WHERE {listed_archived}) AS listed

-- name: listed_expired
SELECT {memory_columns} FROM memories WHERE {listed_expired}

-- name: count_listed_expired
SELECT count(*) FROM (SELECT 1 FROM memories WHERE {listed_expired}) AS listed

-- name: listed_ended
SELECT {memory_columns} FROM memories AS m WHERE {listed_ended}

-- name: count_listed_ended
SELECT count(*) FROM (SELECT 1 FROM memories AS m WHERE {listed_ended}) AS listed

-- part: doubtful_columns
id, version, valid_from, known_from, related, CASE WHEN {entry} THEN 1 ELSE 0 END

-- name: contradicting_memories
-- Here and below the order leads to the index memories_undecided.
SELECT {doubtful_columns} FROM memories WHERE {believed_now} AND {undecided} AND related LIKE '%contradicts:%'
ORDER BY known_from DESC, id

-- part: memories_of_ids
-- CROSS JOIN and the condition on the version lead to the primary key, and not to all that is believed.
(SELECT value AS wanted_id FROM json_each(:ids)) AS wanted CROSS JOIN memories
WHERE version > 0 AND id = wanted_id AND {believed_now}

-- name: contradicted_memories
SELECT {doubtful_columns} FROM {memories_of_ids}

-- name: believed_by_id
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND known_to IS NULL AND id IN (SELECT value FROM json_each(:ids))

-- name: newest_versions
SELECT {memory_columns} FROM memories WHERE user_id = :user AND (id, version) IN (
    SELECT v.id, max(v.version) FROM memories AS v
    WHERE v.user_id = :user AND v.id IN (SELECT value FROM json_each(:ids)) GROUP BY v.id)

-- name: undecided_memories
SELECT id, known_from, change_id FROM memories
WHERE {believed_now} AND {undecided} AND origin IN ('tool', 'web', 'other')
ORDER BY known_from DESC, id

-- part: undecided_changes
-- The order and the bound lead to the index memories_undecided.
(SELECT change_id FROM memories WHERE {believed_now} AND {undecided} AND origin IN ('tool', 'web', 'other')
ORDER BY known_from DESC, id LIMIT 1000000000)

-- name: count_undecided
SELECT count(*) FROM {undecided_changes} AS waiting

-- name: undecided_of_verb
WITH waiting AS {undecided_changes}
SELECT c.id FROM changes AS c WHERE c.user_id = :user AND c.verb = :verb AND c.id IN (SELECT change_id FROM waiting)

-- part: entry
-- What may stand in the index page, as the index memories_entries has it.
origin NOT IN ('tool', 'web', 'other')

-- part: entry_place
-- The values by which entries are ordered, as the index memories_entries has them; falling ones are negative.
1 - pinned, -importance, CASE WHEN origin <> 'user' THEN 1 ELSE 0 END, -valid_from, key, id, version, doc

-- name: best_entries
-- Of a kind, without some.
SELECT {entry_place} FROM memories
WHERE {believed_now} AND {entry} AND kind = :kind
  AND NOT (id IN (SELECT value FROM json_each(:but)))
ORDER BY pinned DESC, importance DESC, origin <> 'user', valid_from DESC, key, id LIMIT :limit

-- name: entries_by_id
SELECT {entry_place} FROM {memories_of_ids} AND {entry}

-- name: count_entries_by_kind
SELECT kind, count(*) FROM memories WHERE {believed_now} AND {entry} GROUP BY kind ORDER BY kind

-- name: newest_keys
SELECT key, agent, project, session FROM memories
WHERE user_id = :user AND known_to IS NULL AND valid_to IS NULL
ORDER BY doc DESC LIMIT :limit

-- name: memories_at
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND known_from <= :known_at AND (known_to IS NULL OR known_to > :known_at)
  AND valid_from <= :valid_at AND (valid_to IS NULL OR valid_to > :valid_at)
ORDER BY id, version

-- name: archived_memories
SELECT {memory_columns} FROM memories AS m
WHERE user_id = :user AND known_to IS NOT NULL AND {last_unbelieved}
ORDER BY id

-- name: count_archived
SELECT count(*) FROM memories AS m WHERE user_id = :user AND known_to IS NOT NULL AND {last_unbelieved}

-- name: count_expired
SELECT count(*) FROM memories
WHERE user_id = :user AND known_to IS NULL AND valid_to IS NULL AND expires_at <= :now

-- name: expired_memories
SELECT {memory_columns} FROM memories
WHERE user_id = :user AND known_to IS NULL AND valid_to IS NULL AND expires_at <= :now
ORDER BY id, version

-- name: all_memories
SELECT {memory_columns} FROM memories WHERE user_id = :user ORDER BY id, version

-- name: count_memories
-- Counted by the kind from the index memories_known, which has them in order; what has expired is taken off again.
SELECT kind, sum(counted) FROM (
    SELECT kind, count(*) AS counted FROM memories AS lasting
    WHERE lasting.user_id = :user AND known_to IS NULL AND valid_to IS NULL GROUP BY kind
    UNION ALL
    SELECT kind, count(*) FROM memories AS ending
    WHERE ending.user_id = :user AND known_to IS NULL AND valid_to > :now GROUP BY kind
    UNION ALL
    SELECT kind, -count(*) FROM memories AS expired
    WHERE expired.user_id = :user AND known_to IS NULL AND (valid_to IS NULL OR valid_to > :now)
      AND expires_at IS NOT NULL AND expires_at <= :now GROUP BY kind
) AS counts
GROUP BY kind HAVING sum(counted) > 0 ORDER BY kind

-- name: insert_change
INSERT INTO changes (user_id, id, run, at, actor, verb, decision, reason, memory_id, before, after, candidate,
    undoes, content_hash, idempotency_key, request_hash, seq, salt, sealed, link, row_hash)
VALUES (:user, :id, :run, :at, :actor, :verb, :decision, :reason, :memory_id, :before, :after, :candidate, :undoes,
    :content_hash, :idempotency_key, :request_hash, :seq, :salt, :sealed, :link, :row_hash)

-- part: change_columns
id, run, at, actor, verb, decision, reason, memory_id, before, after, candidate, undoes, content_hash, user_id,
    idempotency_key, request_hash, seq, salt, sealed, link, row_hash

-- name: change
SELECT {change_columns} FROM changes WHERE user_id = :user AND id = :id

-- name: changes_of_verb
SELECT id FROM changes WHERE user_id = :user AND verb = :verb AND id IN (SELECT value FROM json_each(:ids))

-- name: changes_of_idempotency_key
SELECT {change_columns} FROM changes WHERE user_id = :user AND idempotency_key = :key ORDER BY id

-- name: changes_of_memory
SELECT {change_columns} FROM changes WHERE user_id = :user AND memory_id = :memory_id ORDER BY id

-- name: latest_changes_of_memory
SELECT {change_columns} FROM changes WHERE user_id = :user AND memory_id = :memory_id ORDER BY id DESC LIMIT :limit

-- name: count_changes_of_memory
SELECT count(*) FROM changes WHERE user_id = :user AND memory_id = :memory_id

-- name: count_opened
SELECT count(*) FROM (SELECT DISTINCT after FROM changes WHERE user_id = :user AND memory_id = :memory_id
    AND after IS NOT NULL AND after < :before) AS opened

-- name: opened_since
SELECT DISTINCT after FROM changes
WHERE user_id = :user AND memory_id = :memory_id AND after IS NOT NULL AND after >= :since
ORDER BY after

-- name: latest_changes
SELECT {change_columns} FROM changes WHERE user_id = :user AND id < :before
  AND (:actor = '' OR actor = :actor) AND (:verb = '' OR verb = :verb)
ORDER BY id DESC LIMIT :limit

-- name: latest_changes_between
-- Apart from the other, which would read all changes by their times. The first condition leads to the times.
SELECT {change_columns} FROM changes WHERE user_id = :user AND (:before = '' OR id < :before)
  AND (:actor = '' OR actor = :actor) AND (:verb = '' OR verb = :verb) AND at >= :since AND at < :until
ORDER BY id DESC LIMIT :limit

-- part: chain_columns
seq, salt, sealed, link,
    length(actor) || ' ' || id || ' ' || run || ' ' || at || ' ' || verb || ' ' || decision || ' ' || undoes || ' '
        || actor,
    length(reason) || ' ' || length(candidate) || ' ' || coalesce(length(idempotency_key), -1) || ' ' || memory_id
        || ' ' || coalesce(CAST(before AS TEXT), '-') || ' ' || coalesce(CAST(after AS TEXT), '-') || ' '
        || content_hash || ' ' || coalesce('=' || request_hash, '-') || ' ' || reason || candidate
        || coalesce(idempotency_key, '')

-- name: chain_rows
SELECT {chain_columns} FROM changes WHERE user_id = :user AND seq > :seq ORDER BY seq LIMIT :limit

-- name: chain_row
SELECT {chain_columns} FROM changes WHERE user_id = :user AND id = :id

-- name: last_link
-- With the last id, which is that of another row after an import, so that a new change asks once.
SELECT c.seq, c.link, (SELECT o.id FROM changes AS o WHERE o.user_id = :user ORDER BY o.id DESC LIMIT 1)
FROM changes AS c WHERE c.user_id = :user ORDER BY c.seq DESC LIMIT 1

-- name: count_chain_rows
SELECT count(*) FROM changes WHERE user_id = :user AND seq > :seq

-- name: changes_of_seq
SELECT seq, link, id, at FROM changes WHERE user_id = :user AND seq >= :seq ORDER BY seq LIMIT 1

-- name: insert_handout
INSERT INTO handouts (user_id, id, at, actor, verb, ids, seq, salt, sealed, link, row_hash)
VALUES (:user, :id, :at, :actor, :verb, :ids, :seq, :salt, :sealed, :link, :row_hash)

-- name: handouts
SELECT id, at, actor, verb, ids, seq, salt, sealed, link, user_id, row_hash FROM handouts
WHERE user_id = :user ORDER BY seq

-- name: handout_rows
SELECT seq, salt, sealed, link, length(actor) || ' ' || id || ' ' || at || ' ' || verb || ' ' || actor, ids
FROM handouts WHERE user_id = :user AND seq > :seq ORDER BY seq LIMIT :limit

-- name: count_handout_rows
SELECT count(*) FROM handouts WHERE user_id = :user AND seq > :seq

-- name: last_handout
SELECT seq, link, id FROM handouts WHERE user_id = :user ORDER BY seq DESC LIMIT 1

-- name: handouts_of_seq
SELECT seq, link, id, at FROM handouts WHERE user_id = :user AND seq >= :seq ORDER BY seq LIMIT 1

-- name: first_handout_since
SELECT min(seq) FROM handouts WHERE user_id = :user AND at >= :since

-- name: delete_handouts
DELETE FROM handouts WHERE user_id = :user AND seq <= :seq

-- name: last_change_id
SELECT id FROM changes WHERE user_id = :user ORDER BY id DESC LIMIT 1

-- name: count_changes
SELECT decision, count(*) FROM changes WHERE user_id = :user GROUP BY decision ORDER BY decision

-- name: refused_candidate
SELECT 1 FROM changes WHERE user_id = :user AND decision = 'refuse' AND content_hash = :content_hash LIMIT 1

-- part: lineage_columns
child_kind, child_id, child_version, parent_kind, parent_id, parent_version, role, change_id, user_id, row_hash

-- name: insert_lineage
INSERT INTO lineage (user_id, child_kind, child_id, child_version, parent_kind, parent_id, parent_version, role,
    change_id, row_hash)
VALUES (:user, :child_kind, :child_id, :child_version, :parent_kind, :parent_id, :parent_version, :role, :change_id,
    :row_hash)
ON CONFLICT DO NOTHING

-- name: parents_of_memories
SELECT {lineage_columns} FROM lineage
WHERE user_id = :user AND child_kind = 'memory' AND child_id IN (SELECT value FROM json_each(:ids))
  AND child_version > :after
ORDER BY child_id, child_version, parent_kind, parent_id

-- name: latest_sources
-- What the versions with these documents, and so many versions before each, were made from.
SELECT {lineage_columns} FROM (
    SELECT id AS asked_id, version AS asked_version FROM memories AS asked
    WHERE asked.user_id = :user AND doc IN (SELECT value FROM json_each(:docs))) AS asked_versions CROSS JOIN lineage
WHERE lineage.user_id = :user AND child_kind = 'memory' AND child_id = asked_id
  AND child_version > asked_version - :before AND child_version <= asked_version
ORDER BY child_id, child_version, parent_kind, parent_id

-- Children of every kind: with a condition on the kind SQLite reads all memories of the user instead of the index of parents.
-- name: children_of_episodes
SELECT {lineage_columns} FROM lineage
WHERE user_id = :user AND parent_kind = 'episode' AND parent_id IN (SELECT value FROM json_each(:ids))
ORDER BY parent_id, child_id, child_version

-- name: memories_made_from_transcript
SELECT DISTINCT l.child_id FROM lineage AS l
WHERE l.user_id = :user AND l.parent_kind = 'episode' AND l.child_kind = 'memory'
  AND l.parent_id IN (SELECT e.id FROM episodes AS e WHERE e.user_id = :user AND e.transcript_id = :transcript_id)

-- part: index_page_columns
page, tokens, left_out, made_from, agent, project, budget, user_id, row_hash

-- name: index_page
SELECT {index_page_columns} FROM index_pages
WHERE user_id = :user AND agent = :agent AND project = :project AND budget = :budget

-- name: store_index_page
INSERT INTO index_pages (user_id, agent, project, budget, made_from, page, tokens, left_out, row_hash)
VALUES (:user, :agent, :project, :budget, :made_from, :page, :tokens, :left_out, :row_hash)
ON CONFLICT (user_id, agent, project, budget) DO UPDATE SET made_from = excluded.made_from, page = excluded.page,
    tokens = excluded.tokens, left_out = excluded.left_out, row_hash = excluded.row_hash

-- name: newest_version
SELECT {memory_columns} FROM memories WHERE user_id = :user AND id = :id ORDER BY version DESC LIMIT 1
