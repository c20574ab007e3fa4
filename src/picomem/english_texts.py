"""The English wordings of what picomem says about its own decisions, by code; other languages have the same codes."""

from __future__ import annotations

# Decisions, origins and fields, as reasons name them; a code each, `reason_word.WORD`.
_WORDS = """
add agent archive confirm consolidate context correct discard expire expiry import importance keep key kind merge
noop other pinned priority purge refuse related reopen repair restore revise supersede tag tags text tool unsure
user web
"""

# Places in braces are filled by the values of a text. A code that ends in `.one` is for a count of 1.
ENGLISH = {
    "advice.after": "{text} {advice}",
    "advice.ask_operator": "(`picomem` is a command on the server's machine: ask its operator.)",
    "advice.ask_person": "(`picomem` is a command for the person's terminal: tell them.)",
    "citation.abandoned": "{citation}, on an abandoned branch",
    "citation.dated": "{citation}, {day}",
    "citation.gone": "transcript gone",
    "citation.message": "{where} message {turn}",
    "citation.turn": "{where} turn {turn}",
    "citation.turns": "{where} turns {turns}",
    "counts.count": "{count} {what}",
    "explanation.episode": "an episode of a transcript, read there because it was said; {command} opens it",
    "explanation.episode_gone": (
        "an episode of a transcript that is gone, read there because it was said; {command} opens it"
    ),
    "explanation.timeline": "a timeline entry, made when a conversation was consolidated; {command} opens it",
    "failure.agents_erase_nothing": "no agent erases, so ask the user to do it.",
    "failure.already_archived": "Memory {name} is already archived; {command} shows it.",
    "failure.archived_name": (
        "“{name}” is archived; {command} shows it, and remembering under its key starts a new memory."
    ),
    "failure.ask_permitted_caller": "ask as a caller that has it.",
    "failure.changes_listed": "{command} lists changes.",
    "failure.copies_differ": (
        "The rows of {user} in {tables} differ after they were copied, so nothing of theirs was written; run "
        "{command} on {source} and on {target}."
    ),
    "failure.damaged_backup": (
        "{path} is damaged ({problem}), so nothing was restored; {command} lists what is wrong, and "
        "--despite-damage restores it as it is."
    ),
    "failure.damaged_change": (
        "Change {name} does not match its own hash: the file was damaged or edited by hand. Run {command}."
    ),
    "failure.damaged_consolidation": "The record of consolidation {name} does not match its own hash; run {command}.",
    "failure.damaged_counter": (
        "The counter of the search index of {user} is damaged, so nothing can be stored; run {command}."
    ),
    "failure.damaged_entry": (
        "The entry “{name}” of the store does not match its own hash: the file was damaged or edited by hand. Run "
        "{command}."
    ),
    "failure.damaged_episode": (
        "Episode {name} does not match its own hash: the file was damaged or edited by hand. Run {command}."
    ),
    "failure.damaged_file": "{path} is damaged ({problem}); run {command} to see what can be read.",
    "failure.damaged_full_text": "The full text of “{source}” is damaged; run {command}.",
    "failure.damaged_handouts": "The record of untrusted text that agents received is damaged; run {command}.",
    "failure.damaged_injections": "The record of what was injected is damaged; run {command}.",
    "failure.damaged_memories": "Memories are damaged ({count} in all, such as {first}); run {command}.",
    "failure.damaged_memory": (
        "Memory {name} version {version} does not match its own hash: the file was damaged or edited by hand. Run "
        "{command}."
    ),
    "failure.damaged_notes": "The index of notes is damaged; run {command}.",
    "failure.damaged_session": (
        "The record of session {name} does not match its own hash: the file was damaged or edited by hand. Run "
        "{command}."
    ),
    "failure.damaged_sources": (
        "What memory {name} was made from does not match its own hash: the file was damaged or edited by hand. "
        "Run {command}."
    ),
    "failure.damaged_transcript": "The record of transcript {name} is damaged; run {command}.",
    "failure.damaged_user_entry": (
        "The entry “{name}” of {user} does not match its own hash: the file was damaged or edited by hand. Run "
        "{command}."
    ),
    "failure.damaged_vector": "A vector is damaged; run {command}.",
    "failure.empty_file": (
        "{path} is empty, so there is no store in it; put a backup there with {restore}, or make a new store "
        "there with {remember} or {ingest}."
    ),
    "failure.foreign_change": (
        "Somebody else changed {path} ({what}), so nothing is written; put a copy in its place, or let {command} "
        "remove what it can."
    ),
    "failure.grant_and_make_token": "after {grant}, {command} makes a token that has it.",
    "failure.incomplete_store": "{place} lacks a part of what it should hold ({problem}); run {command}.",
    "failure.log_being_read": (
        "{path} is being read by another process, so its log cannot be emptied yet and still holds what was taken "
        "out. Run {command} again when that has finished."
    ),
    "failure.lost_entry": "The entry “{name}” of the store is gone; run {command}.",
    "failure.lost_transcript": "The record of a transcript is lost; run {command}.",
    "failure.machine_failed": (
        "{machine}, a machine of the store, did not do its part ({problem}), so it may still hold what was taken out. "
        "Run {command} again when it answers."
    ),
    "failure.make_other_token": (
        "a token gains none later, so make another with {command}, and a --scope for all else that it is to do."
    ),
    "failure.memory_no_episode": "“{name}” is a memory, not an episode; {history} and {why} show it.",
    "failure.missing_memory": (
        "Memory {name} is missing from its table or from an index: the file was damaged. Run {command}."
    ),
    "failure.moved_copies_left": (
        "Citus has moved parts of {place} to another machine and not yet dropped the old copies, which still hold what "
        "was taken out. Let the owner of the tables run `CALL citus_cleanup_orphaned_resources()`, or wait a minute; "
        "then run {command} again."
    ),
    "failure.nearest_name": "did you mean “{other}”?",
    "failure.no_alias": "“{name}” stands for no user; {command} shows a user's tokens.",
    "failure.no_change": "There is no change or run “{name}”; {command} lists them.",
    "failure.no_conversation": "There is no session “{name}”; {command} lists them.",
    "failure.no_entry": "There is no memory, change or episode “{name}”; {remedy}",
    "failure.no_job": "There is no job “{name}”; {command} lists those that ever ran.",
    "failure.no_memory": "There is no memory “{name}”; {remedy}",
    "failure.no_message": "There is no message {number} in that session; {command} shows the numbers.",
    "failure.no_pending_pair": "“{key}” and “{other}” are not a pending pair; {command} lists the pairs.",
    "failure.no_permission": "“{verb}” needs the permission {permission}, which {caller} does not have; {remedy}",
    "failure.no_read_session": "There is no session “{name}”; {command} shows their ids.",
    "failure.no_room_to_purge": (
        "The disk is too full to write {path} anew: what was purged is deleted, and traces of it may be left in "
        "the file. Free {megabytes} MB and run {command} again."
    ),
    "failure.no_session_or_transcript": (
        "There is no session “{name}”; {sessions} lists those with PicoBot, and {timeline} shows the ids of those "
        "that were read."
    ),
    "failure.no_store_at": (
        "There is no store at {place}; check the path, or make one there with {remember} or {ingest}."
    ),
    "failure.no_store_in": (
        "There is no store in {place}; check the address, or make one there with {remember} or {ingest}."
    ),
    "failure.no_suggestion": "No suggestion “{name}” waits; {command} lists those that do.",
    "failure.no_token": "{user} has no token “{name}”; {command} shows their ids.",
    "failure.no_vectors": (
        "{count} rows have no vector yet and are found by words alone: {failure} {command} makes what is missing."
    ),
    "failure.nobody_waits": "Nobody waits with that code; {command} shows who waits.",
    "failure.not_granted": "{permission} is not granted to {user}; {command} grants it.",
    "failure.not_undone_pinned": "Not undone: the user pinned “{key}”; ask them to run {command}.",
    "failure.not_undone_stated": "Not undone: the user stated “{key}”; ask them to run {command}.",
    "failure.nothing_contradicted": (
        "“{key}” contradicts nothing that is known; keep or discard it, or name the memory that it replaces."
    ),
    "failure.nothing_of_name": "There is no {what} “{name}”; {recall} and {timeline} show what is there.",
    "failure.nothing_pending": (
        "“{key}” has no pending decision; {review} lists the memories that do, and {supersede} says that it "
        "replaces another one."
    ),
    "failure.nothing_stored": (
        "Nothing is stored yet (there is no {path}); {ingest} reads your past sessions, and {remember} stores a "
        "statement."
    ),
    "failure.nothing_to_undo": (
        "{actor} changed nothing that can be undone; {changes} lists what was decided, and {undo} takes any of it back."
    ),
    "failure.old_schema": (
        "{place} was made before picomem 0.1.0 and cannot be read; use {take_out} of the version that made it, "
        "then {take_in} into a new store."
    ),
    "failure.only_person_edits_many": "A person edits several memories at once; ask them to run {command}.",
    "failure.only_person_reviews": "A person decides on what waits; ask them to run {command}.",
    "failure.only_user_pins": "Only the user can pin a memory; ask them to run {command}.",
    "failure.other_dimensions": (
        "{model} now gives vectors of {given} dimensions, those stored have {stored}; {command} recreates all of them."
    ),
    "failure.other_full_text": (
        "The full text in {place} was made by another version of picomem; nothing can be stored until {command} "
        "has made it anew."
    ),
    "failure.other_name_twice": "“{key}” cannot replace itself; name another memory.",
    "failure.out_of_order": "The {what} are out of order: an index is damaged. Run {command}.",
    "failure.purge_begun": "a purge of {user} was begun and is not finished; if none runs now, {command} finishes it",
    "failure.replaces_in_group": (
        "Not stored: in a group nothing is replaced, because the others would learn what is known; store it without "
        "“replaces”, or in a direct conversation."
    ),
    "failure.run_undone": "Run {run} was already undone; {command} shows by which changes.",
    "failure.sealed_library": (
        "{path} is sealed, and another package has replaced the library that opens it; run: {install}"
    ),
    "failure.sealed_locked": "{path} is sealed, and its key is locked; {command} asks for the pass phrase.",
    "failure.sealed_no_key": (
        "{path} is sealed, and no key was given; give the one with which it was sealed, as PICOMEM_STORE_KEY or where "
        "[store] of the settings says."
    ),
    "failure.sealed_pass_phrase": "This is not the pass phrase of {path}; try again.",
    "failure.sealed_place": "{path} is sealed, and its key cannot be read: {problem}.",
    "failure.sealed_wrong_key": (
        "{path} is sealed, and the key that was given does not open it; give the one with which it was sealed, as "
        "PICOMEM_STORE_KEY or where [store] of the settings says."
    ),
    "failure.searched_by_words": "{command} searches by words.",
    "failure.several_of_name": "Several memories are called “{name}”: {owners}; give the id, or the project.",
    "failure.tables_being_read": (
        "{place} is being read by another process, so its tables cannot be written anew yet and still hold what "
        "was taken out. Run {command} again when that has finished."
    ),
    "failure.transcript_by_path": "Its record is found by its path, not by its id: an index is damaged; run {command}.",
    "failure.unknown_sender": "No channel knows {who}; {command} shows who is known.",
    "failure.vectors_being_made": "Another process is creating the vectors; {command} shows how many there are.",
    "failure.withheld": "That session is withheld, so its content is not returned (see {command}).",
    "failure.withheld_by_host": (
        "That session is withheld by its host's send policy, so its content is not returned (see {command})."
    ),
    "failure.withheld_from_models": "That session is withheld: no model is shown it (see {command}).",
    "going.accepted_senders": "accepted senders",
    "going.accepted_senders.one": "accepted sender",
    "going.episodes": "episodes",
    "going.episodes.one": "episode",
    "going.grants": "grants",
    "going.grants.one": "grant",
    "going.memories": "memories",
    "going.memories.one": "memory",
    "going.messages": "messages",
    "going.messages.one": "message",
    "going.refused_texts": "refused texts",
    "going.refused_texts.one": "refused text",
    "going.sessions": "sessions",
    "going.sessions.one": "session",
    "going.summaries": "summaries",
    "going.summaries.one": "summary",
    "going.tokens": "tokens",
    "going.tokens.one": "token",
    "going.transcripts": "transcripts",
    "going.transcripts.one": "transcript",
    "going.versions_of_memories": "versions of memories",
    "going.versions_of_memories.one": "version of a memory",
    "reason.already_kept": "already kept as “{key}”",
    "reason.and": "{first}; {second}",
    "reason.asked": "asked to",
    "reason.cannot_replace": "“{key}” came from the {origin}, and text of origin {other_origin} cannot replace it.",
    "reason.changed": "changed: {fields}",
    "reason.consolidated": "messages {first} to {last} of session {session}, by {generator}",
    "reason.consolidated_turns": "turns {first} to {last} of session {session}, by {generator}",
    "reason.consolidation_taken_back": "taken back: {reason}",
    "reason.corrected": "corrected: {fields}",
    "reason.details_added": "its details were added",
    "reason.discarded": "discarded",
    "reason.discarded_beside": "discarded beside “{key}”",
    "reason.erased": "erased for good: {counts}",
    "reason.expired": "its expiry date has passed",
    "reason.file_deleted": "deleted as a whole",
    "reason.file_missing": "there was no file to delete",
    "reason.file_too_long": "The file has {count} characters, but only {most} fit; split it.",
    "reason.file_written": "written as a whole",
    "reason.foreign_tool": "kept in the words and the order of a foreign memory tool",
    "reason.graph_part_deleted": "deleted from the graph",
    "reason.hash": "the row did not match its hash",
    "reason.id_is_secret": "The {name} id looks like a secret, and ids are stored as they are; choose another.",
    "reason.imported": "imported with its history from an export of picomem",
    "reason.imported_again": "imported again from an export of picomem",
    "reason.is_new": "it is new",
    "reason.kept": "kept",
    "reason.kept_as_it_reads": "it is kept as it reads now",
    "reason.may_be_outdated_by": "“{key}” may outdate it",
    "reason.may_outdate": "it may outdate “{key}”",
    "reason.moved_from": "moved from {path}",
    "reason.moved_to": "moved to {path}",
    "reason.no_answer": "the model said nothing about the pair",
    "reason.no_file_path": "“{path}” is not a file path; write it like notes/plan.md.",
    "reason.not_believed": "not believed, since it did not see that two other statements both hold",
    "reason.not_written": "Not written: {why}",
    "reason.nothing_erased": "erased for good: nothing was there",
    "reason.nothing_similar": "no similar memory is known",
    "reason.path_is_secret": "The path looks like a secret; choose another.",
    "reason.purged": "purged",
    "reason.read": "read conversations from {path}",
    "reason.recalled_says_it": "“{key}”, which was recalled, says this already",
    "reason.reconciled": "reconciled, says {generator}; {outcome}",
    "reason.reconciled_because": "reconciled, says {generator}: {said}; {outcome}",
    "reason.refused": "{why} ({name})",
    "reason.refused_export_change": "Its change {change} is another's here.",
    "reason.refused_export_empty": "It has no text.",
    "reason.refused_export_file": "There is a file {path} here.",
    "reason.refused_export_graph": "There is a part of the graph {path} here.",
    "reason.refused_export_secret": "A name in its path looks like a secret.",
    "reason.rejected_copy": "it is the summary again",
    "reason.rejected_denied": "a fact of the same answer says that it holds",
    "reason.rejected_excuse": "it is a model's excuse",
    "reason.rejected_foreign": "text of others was read, and it cannot call off what the user or the agent said",
    "reason.rejected_invented": "nobody said anything like it",
    "reason.rejected_invented_number": "nobody said the number {number}",
    "reason.rejected_most_facts": "a consolidation stores {most} facts at most",
    "reason.rejected_most_invalidated": "a consolidation calls off {most} memories at most",
    "reason.rejected_newer": "it is newer than what was said",
    "reason.rejected_not_users": "only the user states what they prefer or want",
    "reason.rejected_others": "it may be in the words of others",
    "reason.rejected_persons": "only the user's own words call it off",
    "reason.rejected_pinned": "the user pinned it",
    "reason.rejected_question": "a question is quoted for it, which states nothing",
    "reason.rejected_summary": "it is a summary and no single statement",
    "reason.rejected_talk": "it tells of the conversation, which the timeline does",
    "reason.rejected_unknown": "there is no such memory among those that the model was shown",
    "reason.rejected_unmentioned": "nothing was said about it",
    "reason.rejected_unquoted": "no message says what is quoted for it",
    "reason.rejected_wordless": "there are no words in it",
    "reason.replaced": "replaced: {outcome}",
    "reason.reviewed": "reviewed: {outcome}",
    "reason.same_key": "a new version under the same key “{key}”",
    "reason.says_the_same": "“{key}” says the same",
    "reason.session_denies": "it holds no longer, says session {session}",
    "reason.superseded": "superseded by “{key}”",
    "reason.tagged": "the tags of an episode were set",
    "reason.taken_back": "taken back: the {decision} of {date}",
    "reason.taken_in": "took in a conversation from {path}",
    "reason.true_beside": "true beside “{key}”",
    "reason.true_earlier": "it was true earlier than known before",
    "reason.two_answers": "the model gave two answers",
    "reason.unsure": "“{key}” may be outdated or not, says {generator}",
    "reason.unsure_because": "“{key}” may be outdated or not, says {generator}: {said}",
    "reason.users_own": (
        "The user stated “{key}” and has not said this themselves; ask them to say it in their own words, or to "
        "change it in a terminal, as in “picomem revise {key} …”."
    ),
    "reason.users_pinned": (
        "The user pinned “{key}” and has not said this themselves; ask them to say it in their own words, or to "
        "change it in a terminal, as in “picomem revise {key} …”."
    ),
    "reason.was_forgotten": "“{key}” said this and was forgotten since",
    "reason.word_for_word": "already known word for word as “{key}”",
    **{f"reason_word.{word}": word for word in _WORDS.split()},
    "refusal.boilerplate": "It is boiler-plate: a licence, a footer or a program's own notice.",
    "refusal.boot_file": "It restates a system prompt or a file that is loaded at every start anyway.",
    "refusal.chatter": "It is small talk or talk about the work, not something to know later.",
    "refusal.code": "It is bare code, a log or data, without a statement about it.",
    "refusal.empty": "There are no words in it.",
    "refusal.question": "It asks something and states nothing.",
    "refusal.recalled": "It came out of memory and is only coming back.",
    "refusal.secret": "Nothing is left of it but a redacted secret.",
    "refusal.too_long": "It is longer than {most} characters; a memory is one statement.",
    "refusal.too_short": "It is too short to mean something later.",
    "refusal.transient": "It is about this moment or this task and will not be true later.",
    "refusal.untrusted_instruction": (
        "It reads as an instruction to the agent, and nothing shows that the user gave it; if they did, they can "
        "store it in a terminal, as in “picomem remember …”."
    ),
    "remote_command.operation": "the operation `{name}`",
    "remote_command.operation_with_fields": "the operation `{name}` with `{given}`",
    "warning.believed_again": "“{key}” is believed again, and its expiry date is past; {command} keeps it.",
    "warning.conversations_stay": (
        "{count} conversations with PicoBot stay; {command} lists them, and {further_command} erases one."
    ),
    "warning.conversations_stay.one": (
        "1 conversation with PicoBot stays; {command} lists them, and {further_command} erases one."
    ),
    "warning.damaged_index": (
        "An index of the database is damaged, so rows of this user may be missed and not erased; run {command}, "
        "and then purge again."
    ),
    "warning.damaged_links": (
        "Damaged rows of this user may belong to what is purged and are not erased; run {command}, restore the copy "
        "that it names, or purge everything."
    ),
    "warning.damaged_rows": "{count} rows are damaged and were left out; run {command}.",
    "warning.damaged_rows.one": "1 row is damaged and was left out; run {command}.",
    "warning.damaged_rows_stay": (
        "Damaged rows may belong to this user and are not erased, because their user id is damaged; run "
        "{command}, restore the copy that it names, and then purge again."
    ),
    "warning.held_back": (
        "{count} hits were held back: that they answer the question is {sure} likely, and less than {least} "
        "counts as nothing; ask with a min_confidence of 0 to see them."
    ),
    "warning.held_back.one": (
        "One hit was held back: that they answer the question is {sure} likely, and less than {least} counts as "
        "nothing; ask with a min_confidence of 0 to see them."
    ),
    "warning.no_agent_library": "PicoBot needs the extra `agent`: install picomem[agent], such as with pip.",
    "warning.no_model": (
        "No model is set to talk with; set provider and model in [model] of the settings, such as ollama and "
        "qwen3:8b, or openai and gpt-4o-mini."
    ),
    "warning.no_notes": (
        "No notes are configured; the setting notes.paths names the folders that MEMORY.md and memory/ lie in."
    ),
    "warning.no_project": "There is no project “{name}”; projects are {projects}.",
    "warning.no_project_at_all": "There is no project “{name}”; nothing belongs to any project yet.",
    "warning.no_project_near": "There is no project “{name}”; did you mean “{other}”?",
    "warning.no_such_session": "There is no “{name}”: {count} sessions are known; looked at all of them.",
    "warning.no_such_session.one": "There is no “{name}”: 1 session is known; looked at all of them.",
    "warning.note_has_words": (
        "{path} is a note of yours, and has words of what was purged; edit it if they are to go as well."
    ),
    "warning.notes_as_nothing_found": "Recall found nothing, so the notes were searched as well.",
    "warning.notes_as_unsure": "Recall is not sure, so the notes were searched as well.",
    "warning.notes_of_other": "The notes belong to user {owner}, and this memory is of {user}.",
    "warning.notes_without_store": "The store could not answer, so the notes were searched as well.",
    "warning.notes_without_the_store": "The notes were searched without the store: {error}",
    "warning.nothing_from_time": "Nothing is known from “{name}”; looked at all times.",
    "warning.nothing_read": "No past session has been read yet; run {command}.",
    "warning.probably_unknown": "What was asked is probably not known: {sure} of such answers hold it.",
    "warning.purge_running": "A purge of {whose} is running; examine the store again when it has ended.",
    "warning.read_conversations_stay": (
        "The conversations that it read from {path} stay, with their episodes: {sessions}; {command} erases one."
    ),
    "warning.sessions_not_read": "Past sessions were left out: they need the permission {permission}.",
    "warning.silent_machines": (
        "Machines of the store do not answer ({machines}), so damaged rows that may be this user's were not looked for."
    ),
    "warning.spelled": "“{name}” was not found; looked for {words} as well.",
    "why.contains": "contains {words}",
    "why.from_time": "from the time asked for",
    "why.meaning": "near in meaning",
    "why.neighbours": "its neighbours fit",
    "why.no_word": "no word of the question",
    "why.outdated": "older statement, perhaps outdated",
    "why.session": "its session fits",
    "why.tells_of_time": "tells of the time asked for",
    "why.words": "words: {words}",
    "why_word.near": "{word} (near {asked})",
    "words.between": ", ",
    "warning.transcript_copy": "{path} is gone or changed; this is the kept copy.",
    "warning.transcript_gone": "The transcript {path} is gone; only the preview is left.",
    "warning.transcript_rewritten": "The transcript {path} was rewritten; only the preview is left.",
    "warning.transcript_unknown": "The record of the transcript is gone; only the preview is left.",
    "warning.transcript_unreadable": "{problem} Only the preview is left.",
}
