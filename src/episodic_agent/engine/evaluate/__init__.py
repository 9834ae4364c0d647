"""Score the engine on labelled data, through the same code a user runs.

Four kinds of files, one JSON object a line, plain or gzipped: `seg_*` and `steps_*` (streams with the units
that begin a segment), `ret_*` (messages, questions and the ids that answer them), `thr_*` (channels whose
lines answer one another), and lives (weeks of one person's talk, played in the order of time). To fit the
scale of another embedder (`calibrate`) belongs here, too. Each gives a result that prints as plain JSON, with
the digest of its file, the policy and the cost.

**Rules of the room.**
1. The real path: retrieval goes through `add` and `search` of a fresh memory, segmentation through the
   boundary machine, unit by unit, with no look ahead but the policy's own hindsight.
2. Labels are never shown to what is judged. Times can be hidden, to see what they are worth.
3. What is for training is left out unless it is asked for; nothing is fitted here (that is `tools/`).
4. Metrics are pure functions of `core/evaluation`, with the definitions of the published tables; where those
   differ from what would flatter us, the published one counts.
5. Nothing depends on the calendar: "now" is a case's last time.
6. An unreadable line is an error that names it; a score over half a file is none.

**To add** a data set, write it in one of the forms above. To add a task, write a reader in `cases`, a result
with `as_json`, metrics in `core/evaluation`, and a subcommand of `episodic evaluate`.
"""
