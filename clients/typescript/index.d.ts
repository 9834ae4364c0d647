// Made from the service's OpenAPI document by tools/typescript_client.py; change it there.

/** An episode that answers, with the messages that prove it; scores lie in [0, 1]. */
export interface AnswerEpisode {
  episode_id: string;
  title: string;
  summary: string;
  score: number;
  confidence: number;
  start_at: string;
  end_at: string;
  state: string;
  retrievability: number;
  key_moment: boolean;
  observations: AnswerMessage[];
  legs?: Record<string, number> | null;
  /** Why it is hidden, of one that is. */ reason?: string | null;
}

/** A message that proves an answer; `id` is your own where you gave one. */
export interface AnswerMessage {
  id: string;
  actor: string;
  text: string;
  at: string;
  score: number;
  legs?: Record<string, number> | null;
}

/** A whole arc by start; `asked` is the session it was asked for by. */
export interface Arc {
  asked: string;
  steps: ArcStep[];
}

/** One session of an arc: its row by start, its lane (0 is the first), and its link to its parent. `method` is `auto`, `explicit`, `hand`, `roll` or `inherited`; "" without a parent. `score` and `threshold` are those of the verdict, None where nothing was judged; `sure` is False near the threshold. */
export interface ArcStep {
  episode_id: string;
  parent_episode_id: string | null;
  title: string;
  start_at: string;
  end_at: string;
  row: number;
  lane: number;
  open: boolean;
  method: string;
  score: number | null;
  threshold: number | null;
  sure: boolean;
}

/** One call or piece of work that changed a memory, a call of a model, or an erasure. `at` is record time: when its first write was committed with it. `verb` is what was called ("add", "facts.edit"), the kind of later work ("encode"), or the stage a model was asked for. `thing` says what `subject` is the id of ("thread", "episode", "fact", …); None where it concerned several, or none. `counts` says how many of what were written or deleted. `note` is the model's name, or why something was erased. `id` is unique among the entries of one moment. */
export interface AuditEntry {
  at: string;
  id: string;
  kind: AuditKind;
  verb: string;
  by: Caller;
  thing: string;
  subject: string | null;
  counts: Record<string, number>;
  note: string;
}

/** A page of a list of AuditEntry. */
export interface AuditEntryPage {
  items: AuditEntry[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** What an entry of the audit is of: something written, a call of a language model, something deleted. */
export type AuditKind = "write" | "model" | "deletion";

/** The receipts of a batch, in its order, and the operation that does what follows from it. */
export interface BatchReceipts {
  receipts: MessageReceipt[];
  operation: Operation;
}

/** A thread's checks in order, one entry per observation in every sequence. `probability`, `threshold`, `surprise` and every cue lie in [0, 1]; NaN where nothing was checked. `times` holds None where the time was only assumed. `cuts` are (first seq of the new episode, reason), rising; `titles` names the episodes in order: the first one's, then one for each cut ("" while unknown). `freezes` are (seq of the check that closed an episode, reason), one for each closed episode, so the first of them belong to the cuts. `unit` says what an observation is, `message` or `step`; of steps `places` holds where each was (None: unknown). `low` is the score under which the detector arms again, NaN where its policy has no such threshold; `places` and `low` may be left empty. Raises InvalidInput when the sequences do not fit together. */
export interface BoundaryTrace {
  seqs: number[];
  times: (string | null)[];
  actors: string[];
  texts: string[];
  probability: (number | null)[];
  threshold: (number | null)[];
  surprise: (number | null)[];
  cues: Record<string, (number | null)[]>;
  cuts: unknown[][];
  titles: string[];
  title: string;
  freezes: unknown[][];
  unit: string;
  places: (string | null)[];
  low: (number | null)[];
}

/** Who did something: by which face, with which key of the service and its role ("" without keys). `face` is python, cli, http, dashboard, mcp, or "work" for later work and upkeep; `cause` is then the key of the job, which names the observation, episode or thread it was for. */
export interface Caller {
  face: string;
  key: string;
  role: string;
  cause: string;
}

/** What a fact is about (seed 003). */
export type Category = "identity" | "preference" | "interest" | "personality" | "relationship" | "experience" | "goal" | "guideline";

/** What a change is of. */
export type ChangeKind = "thread" | "messages" | "episode" | "fact" | "fact ended" | "fact edited" | "fact deleted" | "link" | "unlinked" | "chain" | "unchained" | "skill" | "pinned" | "suppressed" | "archived" | "erased" | "model";

/** Whether there was anything to do. */
export interface Changed {
  changed: boolean;
}

/** Something that somebody took on, in the words of its message, and whether it is settled. `text` is the message, or of a long one a sentence. `to` is who it was said to, else its thread ("" unknown); `due` the day it names. `settled_by` is the later message that likeliest settled it, or how its session ended, None: it is open. */
export interface Commitment {
  observation: Observation;
  text: string;
  to: string;
  due: string | null;
  settled_by: Observation | SessionEnd | null;
}

/** A recalled line of a context and where it is from: thread, episode and observations. `line` counts the text's lines from 0. `observations` are the caller's own ids where there are any; `episode_id` may be that of an open frame. */
export interface ContextLine {
  line: number;
  kind: LineKind;
  text: string;
  thread: string;
  thread_id: string;
  episode_id: string | null;
  first_seq: number;
  last_seq: number;
  observations: string[];
  score: number | null;
}

/** What one number of the evidence added: to the score, or to the log-odds of a fitted policy. */
export interface Contribution {
  name: string;
  words: string;
  value: number | null;
  adds: number | null;
}

/** How many things it was done to. */
export interface Counted {
  count: number;
}

/** The record of an automatic verdict; from it the verdict can be recomputed (I6). */
export interface Decision {
  id: string;
  type: string;
  at: string;
  subject: string;
  features: Record<string, number | null>;
  score: number | null;
  threshold: number | null;
  verdict: string;
  policy_version: string;
  confidence_label: string;
  alternatives: (Record<string, unknown>)[];
  detail: Record<string, unknown>;
  outcome: string | null;
}

/** A page of a list of Decision. */
export interface DecisionPage {
  items: Decision[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** An answer with the messages of its hits, by episode, as `search` reads them with a `detail`. */
export interface DetailedRecall {
  query: string;
  hits: Hit[];
  observations: Evidence[];
  confidence: number | null;
  notes: string[];
  facts: FactHit[];
  suppressed: Suppressed[];
  candidates: Hit[];
  commitments: Commitment[];
  contents: Record<string, FullEpisode>;
}

/** One end of an episode and what decided it; `decision` is None where the thread begins or is open. */
export interface Edge {
  seq: number;
  reason: string;
  sentence: string;
  observation: Observation | null;
  decision: Decision | null;
}

/** One version of an episode's words; earlier versions are kept (I4: the cover never changes). */
export interface Encoding {
  episode_id: string;
  version: number;
  title: string;
  summary: string;
  metadata: Record<string, unknown>;
  by: string;
  created_at: string;
}

/** A page of a list of Encoding. */
export interface EncodingPage {
  items: Encoding[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** Frozen experience: a segment of one thread with its cover, strength and words. `stability` is in days, `difficulty` in [1, 10] (FSRS-6), `surprise` in [0, 1]. Title and summary are those of the newest encoding (`encoding_version`), 0 while the episode has not been encoded yet. */
export interface Episode {
  id: string;
  thread_id: string;
  first_seq: number;
  last_seq: number;
  start_at: string;
  end_at: string;
  created_at: string;
  reason: string;
  surprise: number | null;
  stability: number | null;
  difficulty: number | null;
  last_reviewed_at: string;
  decision_id: string | null;
  kind: EpisodeKind;
  state: EpisodeState;
  generation_from: number;
  generation_to: number | null;
  consolidated_at: string | null;
  parent_episode_id: string | null;
  title: string;
  summary: string;
  encoding_version: number;
  encoded_by: string;
  metadata: Record<string, unknown>;
}

/** One line of a listing: an episode, or the open frame of a thread (`state` open). `hidden` says why recall leaves it out ("" where it does not); `thread_title` is the title of an open frame's thread ("" where it has none). */
export interface EpisodeCard {
  episode_id: string;
  thread_id: string;
  origin: string;
  title: string;
  summary: string;
  start_at: string;
  end_at: string;
  observations: number;
  state: string;
  reason: string;
  surprise: number | null;
  stability: number | null;
  retrievability: number | null;
  pinned: boolean;
  hidden: string;
  thread_title: string;
}

/** A page of a list of EpisodeCard. */
export interface EpisodeCardPage {
  items: EpisodeCard[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** An `event` owns observations; the others only have members (invariant I3). */
export type EpisodeKind = "event" | "primary" | "cross_thread";

/** A page of a list of Episode. */
export interface EpisodePage {
  items: Episode[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** Where an episode is in its life. */
export type EpisodeState = "open" | "closed" | "compacted" | "archived";

/** The receipt of an erasure. `subject` is `fingerprint` of what was erased, `counts` how many of which kind went, `at` record time. `state` is "pending" until the database was swept (`waits_for` says what hindered that), then "done". `measures` are what was done about it, `remains` where bytes of it may still lie, "" where nowhere that the store knows of. `residue` is how many of the strings looked for were still found where `residue` of the store looks (in the file; on a server in the rows); None: nobody looked. `owner` is the hash of the user's name by which a store finds the receipt again; "" before it is written. `repeated_by` are observations that are kept and hold the same words: an echo, a quotation, a copy, and in the same turn what shares a word that is seldom said. They are told to who erases, and not written. `names` are those that a speaker who was erased went by, `near_names` speakers whose names are like theirs, with how many messages they have: a person who was renamed. Both are told in the same way. `by` is who erased it; None where that was not kept yet. */
export interface Erasure {
  id: string;
  what: What;
  subject: string;
  at: string;
  reason: string;
  counts: Record<string, number>;
  state: string;
  done_at: string | null;
  residue: number | null;
  waits_for: string;
  repeated_by: string[];
  names: string[];
  near_names: Record<string, number>;
  measures: string;
  remains: string;
  owner: string;
  by: Caller | null;
}

/** A page of a list of Erasure. */
export interface ErasurePage {
  items: Erasure[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** An observation that made a hit, with its own score in [0, 1] and its legs' scores. `days` are those to come that the question asks about: quoted is a sentence that names one of them. */
export interface Evidence {
  observation: Observation;
  score: number | null;
  legs: Record<string, number | null>;
  days: unknown;
}

/** A would-be episode: its seqs (inclusive) and why it ends; an open end has the reason `open`. */
export interface ExplainedSpan {
  first_seq: number;
  last_seq: number;
  reason: string;
}

/** Why an episode begins and ends where it does. `asked` is the id of the replaced episode that was asked for, where this one stands in its place. `echoes` tell which of its messages only repeat what was recalled. */
export interface Explanation {
  episode: Episode;
  begins: Edge;
  ends: Edge;
  runners_up: RunnerUp[];
  what_would_change: string[];
  asked: string | null;
  echoes: string[];
}

/** A lasting statement with its validity and evidence (`valid_at <= t < invalid_at`, event time). `subject`, `attribute` and `value` are what supersession compares. `superseded_by` is the fact that took its place. `edited`, `pinned` and `confirmed` are what people did to it; `versions` how it read before. */
export interface Fact {
  id: string;
  subject: string;
  attribute: string;
  value: string;
  category: Category;
  fact: string;
  evidence: FactEvidence[];
  valid_at: string;
  holds: boolean;
  keywords: string[];
  invalid_at: string | null;
  superseded_by: string | null;
  confidence: number | null;
  edited: boolean;
  pinned: boolean;
  confirmed: boolean;
  versions: Version[];
}

/** A fact as it is shown; `score` is how well it answers. Cards of a list carry no quotes. */
export interface FactCard {
  fact: Fact;
  score: number | null;
  quotes: Quote[];
}

/** A page of a list of FactCard. */
export interface FactCardPage {
  items: FactCard[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** The place where a fact was said: `text[start:end]` of an observation, and how it was put there. `said_at` is when it was said, `valid_at` since when it is so (both event time), `learned_at` when the memory took it in (record time). `corrects` marks words that call an earlier value an error, not a change. With `ended_by` the words do not tell the fact but end it: that fact took its place. With `leads_to` they do not tell it either: they stand before what was said in that observation, which points to them. `begins_at` is when what they announce begins ("810 from January"): until then what they end holds. */
export interface FactEvidence {
  observation_id: string;
  start: number;
  end: number;
  fact: string;
  value: string;
  said_at: string;
  valid_at: string;
  episode_id: string | null;
  learned_at: string | null;
  confidence: number | null;
  corrects: boolean;
  ended_by: string | null;
  leads_to: string | null;
  begins_at: string | null;
}

/** A fact that answers a query, with a score in [0, 1] and the threads its evidence lies in. `origin` is the name of the first of them. */
export interface FactHit {
  fact: Fact;
  score: number | null;
  threads: string[];
  origin: string;
}

/** What is behind a card or a hit: its thread's name, the episode (None: an open frame), its messages. */
export interface FullEpisode {
  origin: string;
  episode: Episode | null;
  messages: Observation[];
}

/** A recalled episode, or an open frame (`state` open), with the observations that prove it. An episode's `state` is closed, archived (its part was compacted) or, of a whole part, compacted. `score` orders the hits of one recall; `confidence` is the calibrated probability in [0, 1] that it answers the query; `retrievability` is the bounded forgetting's input (FSRS-6). `decisions` are those that were declared of the session it happened in. */
export interface Hit {
  episode_id: string;
  thread_id: string;
  title: string;
  summary: string;
  score: number | null;
  confidence: number | null;
  start_at: string;
  end_at: string;
  state: string;
  retrievability: number | null;
  evidence: Evidence[];
  legs: Record<string, number | null>;
  surprise: number | null;
  thread_title: string;
  decisions: string[];
}

/** An id. */
export interface IdAnswer {
  id: string;
}

/** What an import did: items read, added, known before, episodes closed by it, and what was not taken in. That is what was unreadable, and what came with the id of a message that stands with another text. `format` is what was recognised ("chatgpt", with commas if several); `notes` say for people what that held, how its dates were read and what was left out. Of a dry run `added` is what would be added. */
export interface ImportReport {
  observations: number;
  added: number;
  duplicates: number;
  episodes: number;
  unreadable: string[];
  threads: number;
  format: string;
  notes: string[];
}

/** One job: whose it is, what it does to what, and how it goes. `state` is `waiting`, `leased` (being done) or `dead` (given up); `due` is when it may be (or might have been) done; `last_error` is the reason of the last failure. */
export interface JobEntry {
  id: string;
  user_id: string;
  kind: string;
  key: string;
  state: string;
  attempts: number;
  due: string;
  last_error: string | null;
}

/** A page of a list of JobEntry. */
export interface JobEntryPage {
  items: JobEntry[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** One candidate: the decision, its thread, what was concluded in words, and from what. */
export interface JudgedLink {
  decision: Decision;
  candidate: Thread | null;
  sentences: string[];
  contributions: Contribution[];
}

/** What an observation is. */
export type Kind = "message" | "tool" | "step";

/** An episode that retention would change: `action` is archive, erase, wait (archived already) or return. `at` is when it is erased, None where that is not decided yet. `facts` is how many facts that hold today are told in it, and elsewhere in nothing that stays: erasing it takes them along. */
export interface LetGo {
  episode_id: string;
  thread: string;
  title: string;
  end_at: string;
  action: string;
  reason: string;
  retrievability: number | null;
  at: string | null;
  facts: number;
}

/** A page of a list of LetGo. */
export interface LetGoPage {
  items: LetGo[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** What a line of the context is. */
export type LineKind = "topic" | "summary" | "entities" | "pair" | "recent" | "fact" | "skill" | "session" | "recalled" | "continuing";

/** Two threads that belong together: `later` goes on with `earlier` (seed 002, section 2). `basis` tells how it came about: "continuity", "matter" (the later one, over, goes on with all that the earlier one is an episode with), "recall" (the user asked for it) or "hand"; `label` is HIGH or UNCERTAIN. `at` is record time; `unlinked_at` says when it was taken back: it stays as a tombstone. */
export interface Link {
  earlier: string;
  later: string;
  at: string;
  basis: string;
  label: string;
  decision_id: string | null;
  unlinked_at: string | null;
}

/** A link with its two threads, and the decision it came from, unless somebody made it by hand. */
export interface LinkCard {
  link: Link;
  earlier: Thread;
  later: Thread;
  decision: Decision | null;
}

/** A page of a list of LinkCard. */
export interface LinkCardPage {
  items: LinkCard[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** Everything that was decided about a thread and earlier ones, best candidate of each message first. `reason` says why nothing was; it is empty where something was. */
export interface LinkExplanation {
  thread: Thread;
  links: Link[];
  judged: JudgedLink[];
  reason: string;
}

/** What is pinned, suppressed or archived: a stretch of a thread (`last_seq` None: to its end), or words. `thread` is its name, "" of words; `at` is record time; `episodes` are those that it meets today. `messages` counts, where words are suppressed, those that hold them now, and `note` says where that is none, or not all were looked at. */
export interface Marked {
  kind: string;
  at: string;
  reason: string;
  words: string;
  thread: string;
  first_seq: number;
  last_seq: number | null;
  episodes: string[];
  title: string;
  messages: number | null;
  note: string;
}

/** A page of a list of Marked. */
export interface MarkedPage {
  items: Marked[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** One change: when it was written (record time), of what kind, and in words what. `subject` is the id of what changed, `thread` the name of the thread it concerns; None where there is none. `by` says who concluded it: "algorithm", a model's name, "hand", who erased, or "" where that is not told; `TraceRoom.audit` tells who called. */
export interface MemoryChange {
  at: string;
  kind: ChangeKind;
  what: string;
  subject: string | null;
  thread: string | null;
  by: string;
}

/** The changes after `since`, up to and with `until`, oldest first. */
export interface MemoryChanges {
  since: string;
  until: string;
  changes: MemoryChange[];
}

/** What was kept of one message; `added` is false where its id was known already. `state` is `open`, or `erased` where the message of this id was erased: it is not kept again. */
export interface MessageReceipt {
  id: string;
  thread_id: string;
  seq: number;
  added: boolean;
  state: string;
}

/** The structured metadata of one episode; lists are capped at 20 values of 80 characters. */
export interface Metadata {
  participants: string[];
  tools_used: string[];
  entities: string[];
  key_decisions: string[];
  tags: string[];
  outcome: string;
}

/** What calls of a language model cost on one day (UTC), by stage and model. `calls` counts failed ones too. Of these, `refused` are answers that came and could not be used, `late` those that had not come when nobody waited any longer; tokens are the server's, or estimated where it does not tell; `seconds` is how long answers were waited for, together. */
export interface ModelUse {
  day: string;
  stage: string;
  model: string;
  calls: number;
  failures: number;
  prompt_tokens: number;
  completion_tokens: number;
  seconds: number | null;
  refused: number;
  late: number;
}

/** A page of a list of ModelUse. */
export interface ModelUsePage {
  items: ModelUse[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** How often a thread was next in `target` after a visit of `source`. */
export interface MoveCard {
  source: string;
  target: string;
  count: number;
}

/** A message: `content` and what else is known of it. Other fields are kept with it. A step of an agent has `kind` step, and any of action, location, objects, events, outcome, content. */
export interface NewMessage {
  /** The text, or parts of it as OpenAI and Anthropic write them; `text` is read as well. */ content?: unknown;
  /** message, tool or step. */ kind?: string | null;
  /** user, assistant, system, tool, or somebody's name. */ role?: string;
  name?: string | null;
  /** ISO 8601 or Unix time; else now. */ timestamp?: string | number | null;
  /** Your own id: again in its thread (or `source`) it adds nothing. */ id?: string | number | null;
  /** Of a step: what was done, as words or as a number. */ action?: unknown;
  /** Where it was: a name, or an object with a label. */ location?: unknown;
  /** Of a step: with what, a text or a list. */ objects?: unknown;
  /** Of a step: what happened, texts, or objects with a type and a label. */ events?: unknown[] | null;
  /** Of a step: how it ended, or whether well. */ outcome?: string | boolean | null;
  /** Of a step: its reward. */ reward?: number | null;
  [more: string]: unknown;
}

/** A batch of messages in order; all of them are kept, or none. */
export interface NewMessages {
  messages: NewMessage[];
  /** Without it each joins the thread that fits. */ thread?: string | null;
  channel?: string | null;
  source?: string | null;
  /** Erased so long after its time: 30d. */ ttl?: string | number | null;
  expires_at?: string | number | null;
}

/** One item of experience, in order: a message, a tool call with its result, or an embodied step. `seq` is gapless per thread from 0; `at` is event time; `received_at` is record time. `prediction_error` and `location_confidence` lie in [0, 1]. `expires_at` is when it is to be erased. */
export interface Observation {
  id: string;
  thread_id: string;
  seq: number;
  at: string;
  received_at: string;
  actor: string;
  text: string;
  kind: Kind;
  at_source: TimeSource;
  utc_offset: number | null;
  external_id: string | null;
  channel: string | null;
  location: string | null;
  location_confidence: number | null;
  events: (Record<string, unknown>)[];
  prediction_error: number | null;
  extras: Record<string, unknown>;
  expires_at: string | null;
}

/** A page of a list of Observation. */
export interface ObservationPage {
  items: Observation[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** Work that goes on after an answer. `state` is `running`, `done` or `failed`. It runs until the messages are embedded and their boundaries decided and no follow-up work of the user (titles, facts, links) is due; `waiting` counts the jobs before that. `error` is why it failed: the work stands among the dead jobs, where it can be tried again. An import runs until its file is read; then `counts` has the observations read, those added, duplicates, episodes and unreadable records. Before, the process that imports tells the observations read so far, and another none. */
export interface Operation {
  id: string;
  state: string;
  waiting: number;
  error: string | null;
  counts: Record<string, number> | null;
}

/** A page of a list of str. */
export interface PageStr {
  items: string[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** A page of a list of tuple. */
export interface PageTuple {
  items: unknown[][];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** A page of a list of UUID. */
export interface PageUuid {
  items: string[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** Somebody who spoke here. `name` is the one shown, `names` all they go by, that one first. `first_at` and `last_at` are event time; None for the memory's own user before they spoke. `proposed` are names of others that may be theirs. */
export interface PersonCard {
  name: string;
  names: string[];
  channels: string[];
  messages: number;
  first_at: string | null;
  last_at: string | null;
  is_user: boolean;
  proposed: ProposedName[];
}

/** A page of a list of PersonCard. */
export interface PersonCardPage {
  items: PersonCard[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** A place: its label as first seen, steps counted there, visits, and the episodes they reach into. `first_at` and `last_at` are event times; an open frame counts as an episode. */
export interface PlaceCard {
  label: string;
  steps: number;
  visits: number;
  episodes: number;
  first_at: string;
  last_at: string;
}

/** The places, most steps first, and the moves between them, most frequent first; ties by labels. */
export interface PlaceSummary {
  places: PlaceCard[];
  moves: MoveCard[];
}

/** An error as RFC 9457 writes it: `detail` names the remedy. */
export interface Problem {
  type?: string;
  title: string;
  status: number;
  detail: string;
  errors?: (Record<string, unknown>)[] | null;
}

/** A name that may be the same person's, and why. */
export interface ProposedName {
  name: string;
  reason: string;
}

/** The words that prove a fact, as they stand in an observation, and the episode that holds them today. `text` is "" where the observation is gone. `said_at` and `valid_at` (since when it is so) are event time, `learned_at` is record time. */
export interface Quote {
  observation_id: string;
  episode_id: string | null;
  actor: string;
  text: string;
  said_at: string;
  valid_at: string;
  learned_at: string | null;
}

/** A link that a human or an agent took back: this pair is never proposed again. `at` is record time, `by` who took it back. */
export interface Refusal {
  child: string;
  parent: string;
  at: string;
  by: string;
}

/** A page of a list of Refusal. */
export interface RefusalPage {
  items: Refusal[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** What segmenting a thread again made of it, or would make (`written` False). `generation` is the one in force afterwards. Of the closed episodes, `kept` stay as they are, `replaced` give way and `new` come in their place. `unembedded` observations had text but no vector and were judged by their words alone. */
export interface Resegmented {
  thread_id: string;
  policy: string;
  mode: string;
  generation: number;
  stored: ExplainedSpan[];
  proposed: ExplainedSpan[];
  kept: number;
  replaced: number;
  new: number;
  unembedded: number;
  written: boolean;
}

/** What a pass did: episodes put away, brought back and erased, observations erased, and what is left. */
export interface RetentionPass {
  archived: number;
  returned: number;
  erased: number;
  expired: number;
  left: number;
}

/** The policy of a user: its rules, whether it is their own or the setting's, and what it has put away. `expiring` counts the observations with a time to live. */
export interface RetentionState {
  policy: string;
  own: boolean;
  archived: number;
  pinned: number;
  expiring: number;
}

/** A gap inside the episode that nearly became a boundary: what would have been needed. */
export interface RunnerUp {
  seq: number;
  probability: number | null;
  threshold: number | null;
  observation: Observation | null;
  held: string;
}

/** What answers a question: facts, episodes, and the best messages over all. Where nothing is relevant `abstained` is true, `hits` is empty and the last of `notes` says why. */
export interface SearchAnswer {
  facts: (Record<string, unknown>)[];
  hits: AnswerEpisode[];
  observations: AnswerMessage[];
  abstained: boolean;
  confidence: number;
  notes: string[];
  /** What was taken on, where that is asked for: open by the day due, then settled. */ commitments?: (Record<string, unknown>)[] | null;
  candidates?: AnswerEpisode[] | null;
  suppressed?: AnswerEpisode[] | null;
}

/** A part of a thread with its words; the id is that of its primary episode. `text` are its words at the resolution asked for. `compacted_through` is the last seq they stand for, None where there are none yet; `source_tokens` is how many tokens that was. `score` is 0 without a query. */
export interface SectionCard {
  episode_id: string;
  thread_id: string;
  thread: string;
  first_seq: number;
  last_seq: number;
  start_at: string;
  end_at: string;
  state: string;
  opened_for: string;
  trigger: string;
  compacted_through: number | null;
  title: string;
  text: string;
  micro: string;
  meso: string;
  macro: string;
  by: string;
  source_tokens: number;
  parent_episode_id: string | null;
  score: number | null;
}

/** A page of a list of SectionCard. */
export interface SectionCardPage {
  items: SectionCard[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** An episode of a sequence; `relevance` is in [0, 1], 0 where only time was asked for. `parent_episode_id` is the episode it goes on with, `parent_title` that one's title ("" where it is gone). */
export interface Sequenced {
  episode_id: string;
  thread_id: string;
  title: string;
  summary: string;
  start_at: string;
  end_at: string;
  relevance: number | null;
  parent_episode_id: string | null;
  parent_title: string;
  metadata: Metadata;
}

/** A page of a list of Sequenced. */
export interface SequencedPage {
  items: Sequenced[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** A session as its caller knows it. `id` is its episode's, `thread` the name of the thread to speak in. `state` is open, closed or abandoned (nothing was said in it: it left no episode). `ended_at` is None where nobody called for the end. `outcome` is what the caller said of it, None where nothing. */
export interface Session {
  id: string;
  thread: string;
  topic: string;
  state: string;
  started_at: string;
  key: string | null;
  agent_id: string;
  parent_episode_id: string | null;
  title: string;
  participants: string[];
  tools: string[];
  key_decisions: string[];
  outcome: string | null;
  ended_at: string | null;
}

/** How a session ended, as far as it settles something: `text` is a decision of it, or its outcome. `at` is when it ended, `episode_id` its own, `topic` what it was started for. */
export interface SessionEnd {
  at: string;
  text: string;
  topic: string;
  episode_id: string;
  utc_offset: number | null;
}

/** A page of a list of Session. */
export interface SessionPage {
  items: Session[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** A reusable pattern drawn from episodes (seed 002). `steps` are in order, `parameters` are what differs from time to time, `examples` are stored requests. `frequency` counts the times it was seen, `validation` is the share of checks it passed. `initial` is the confidence it was created with; `uses` and `successes` count since then. `evidence` are its source turns. */
export interface Skill {
  name: string;
  description: string;
  kind: SkillKind;
  steps: string[];
  preconditions: string[];
  postconditions: string[];
  parameters: string[];
  returns: string;
  examples: string[];
  confidence: number | null;
  frequency: number;
  last_used: string | null;
  evidence: TurnRef[];
  validation: number | null;
  checks: Record<string, boolean>;
  initial: number | null;
  uses: number;
  successes: number;
}

/** A skill as it is shown: `confidence` is today's, idle time taken off; `score` is how well it answers. `decision` is the verdict that created it. Cards of a list carry neither it nor the evidence. */
export interface SkillCard {
  id: string;
  skill: Skill;
  confidence: number | null;
  created_at: string;
  score: number | null;
  decision: Decision | null;
}

/** A page of a list of SkillCard. */
export interface SkillCardPage {
  items: SkillCard[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** What a skill is about (seed 002): doing, deciding, asking for something, or how to answer. */
export type SkillKind = "procedural" | "decision" | "interaction" | "communication";

/** Counts of one scope; `facts` are those nothing has ended, `unconsolidated` episodes that wait to be read for some. */
export interface Stats {
  user_id: string;
  threads: number;
  observations: number;
  episodes: number;
  open_observations: number;
  waiting_jobs: number;
  embedder: string;
  policy: string;
  first_at: string | null;
  last_at: string | null;
  facts: number;
  unconsolidated: number;
}

/** An episode that would have been a hit, and why it is none. `reason` begins with `suppressed`, `archived`, `edited` or `faded`; the last was kept out by its strength alone. */
export interface Suppressed {
  hit: Hit;
  reason: string;
}

/** An answer in words, as Markdown. */
export interface TextAnswer {
  text: string;
}

/** An ordered stream of observations with one owner: a conversation, or one run of an agent. `created_at` is the event time of its earliest observation, `last_activity_at` that of its latest. `explicit` tells that the caller chose it (by a name, or on a channel where users choose); silence never ends it then. `timeout` is its own longest silence, `closed_for` why it was closed, `selected_at` when it was last chosen to be gone on with (event time), `turn_count` how many user messages it holds. */
export interface Thread {
  id: string;
  origin: string;
  created_at: string;
  last_activity_at: string;
  title: string | null;
  status: string;
  modality: string;
  channels: string[];
  generation: number;
  explicit: boolean;
  timeout: number | null;
  closed_for: string;
  selected_at: string | null;
  turn_count: number;
}

/** A thread with the silence that ends it; `record` is its metadata as in seed 002, section 1.3. */
export interface ThreadCard {
  thread: Thread;
  timeout: number;
  record: Record<string, unknown>;
}

/** The text for the next prompt, and where each recalled line of it is from. `thread` is the name of the thread the message is in, or would join; None where it would begin one. `tokens` is what the text is estimated at. `notes` tell in words what limited it. */
export interface ThreadContext {
  text: string;
  items: ContextLine[];
  tokens: number;
  thread: string | null;
  thread_id: string | null;
  notes: string[];
}

/** A page of a list of Thread. */
export interface ThreadPage {
  items: Thread[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** Where an observation's event time comes from; assumed times give no gap cue and no date words. `received`: said live, without a time, so it happened when it came. `assumed`: of old talk whose times nobody knows. */
export type TimeSource = "given" | "date_only" | "received" | "assumed";

/** A part of the tree: work that took time, a model's call, or only the place of a decision. `at` is when it began; None, as `seconds`, where that was not kept. */
export interface TraceNode {
  name: string;
  at: string | null;
  start: number | null;
  seconds: number | null;
  attributes: Record<string, unknown>;
  verdicts: TracedVerdict[];
  children: TraceNode[];
}

/** An observation of the turn; `text` only where it was asked for. */
export interface TracedObservation {
  id: string;
  seq: number;
  at: string;
  actor: string;
  kind: string;
  text: string | null;
}

/** A decision in the tree; `detail` holds numbers, ids and codes, and text only where it was asked for. */
export interface TracedVerdict {
  type: string;
  verdict: string;
  score: number | null;
  threshold: number | null;
  policy: string;
  confidence: string;
  decision: string | null;
  detail: Record<string, unknown>;
}

/** A side that loses most disagreements with a feature: how many, its share lost, and what to tell it. `line` is guidance for a new prompt version where the model loses; where the algorithm does, its weights are what to change. */
export interface TuningFinding {
  feature: string;
  side: string;
  cases: number;
  lost: number | null;
  line: string;
}

/** One run: seed 002's record of it, the policy in force after it, and what disagreements taught. `decision_id` is None for a dry run; `kind` is tuned, kept (nothing changed) or rollback; `prompt` names the version of the language model's prompt. */
export interface TuningRun {
  decision_id: string | null;
  at: string;
  kind: string;
  policy: string;
  prompt: string;
  record: Record<string, unknown>;
  findings: TuningFinding[];
}

/** A page of a list of TuningRun. */
export interface TuningRunPage {
  items: TuningRun[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** A turn that shows a skill: its thread and the seq it begins at. */
export interface TurnRef {
  thread_id: string;
  seq: number;
}

/** Everything that was done for one turn, in the order it began. */
export interface TurnTrace {
  turn: string;
  thread: string;
  thread_id: string;
  messages: TracedObservation[];
  work: TraceNode[];
}

/** What undoing a resegmentation did. `generation` is in force again; `later` observations came since it was replaced. */
export interface Undone {
  thread_id: string;
  generation: number;
  restored: number;
  removed: number;
  kept: number;
  later: number;
}

/** How a fact read before somebody changed it by hand, and when (record time) it was changed. */
export interface Version {
  fact: string;
  value: string;
  changed_at: string;
}

/** A visit of a place: a thread was there from `first_seq` to `last_seq`, `steps` of which say so. `episodes` are the ids of those it reaches into, in order. `previous` and `following` are the visits of the same place before and after it, `since_previous` the time between, 0 where threads met there. */
export interface VisitCard {
  place: string;
  thread: string;
  thread_id: string;
  first_seq: number;
  last_seq: number;
  start_at: string;
  end_at: string;
  steps: number;
  episodes: string[];
  previous: VisitMark | null;
  following: VisitMark | null;
  since_previous: number | null;
}

/** A page of a list of VisitCard. */
export interface VisitCardPage {
  items: VisitCard[];
  /** Give it as `cursor` for the next page; null on the last. */ next: string | null;
}

/** Which visit: its thread (by its caller's name), the first seq of it, and when it was. */
export interface VisitMark {
  thread: string;
  first_seq: number;
  start_at: string;
  end_at: string;
}

/** What can be erased: an observation, episode, thread or user, all of a speaker, or what holds words. */
export type What = "observation" | "episode" | "thread" | "speaker" | "words" | "user";

/** The stored episodes of a thread beside those of another policy; nothing was written. */
export interface WhatIf {
  thread_id: string;
  policy: string;
  stored: ExplainedSpan[];
  proposed: ExplainedSpan[];
  same: number;
  removed: number[];
  added: number[];
}

export interface UserMemoryBoundaries {
  /** Say why an episode begins and ends where it does, and what would have changed it */
  explain(asked: { episode_id: string }): Promise<Explanation>;
  /** Return a thread's cues, probabilities, thresholds and cuts over time, to be plotted */
  trace(asked: { thread: string }): Promise<BoundaryTrace>;
  /** Compare a thread's episodes with those another policy would make; writes nothing */
  whatif(asked: { thread: string; policy: string }): Promise<WhatIf>;
  /** Segment a thread again, by a policy (this memory's unless given), as a new generation */
  resegment(asked: { thread: string; policy?: string | null; complete?: boolean; dry_run?: boolean; cut?: number | null; join?: number | null }): Promise<Resegmented>;
  /** Go back to the generation before the last `resegment`; each call goes back one more */
  undo(asked: { thread: string }): Promise<Undone>;
}

export interface UserMemoryChains {
  /** Return the closed sessions that nothing goes on from yet, where a story may go on; latest first */
  heads(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EpisodePage>;
  /** Return the links of sessions that were taken back, oldest first */
  refusals(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<RefusalPage>;
  /** Return the closed episodes of a topic, earliest first: the `limit` most relevant, or the newest */
  sequence(asked?: { /** A moment of record time: answer as the memory stood then. */ as_of?: string | null; topic?: string; limit?: number; min_relevance?: number; order?: string; policy?: string; since?: string | null; until?: string | null; where?: string | string[] | null; project?: string | null; only?: string | string[] | null }): Promise<SequencedPage>;
  /** Return the story of a topic as text, in seed 004's form; takes what `sequence` does */
  replay(asked: { /** A moment of record time: answer as the memory stood then. */ as_of?: string | null; topic: string; limit?: number; order?: string; policy?: string; since?: string | null; until?: string | null; where?: string | string[] | null; project?: string | null; only?: string | string[] | null }): Promise<TextAnswer>;
  /** Return a session with those before it in its chain, the root first; NotFound for an unknown one */
  get(asked: { episode: string; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EpisodePage>;
  /** Let a session go on from an earlier one, by hand; return the record (None: it does so already) */
  add(asked: { episode: string; parent: string }): Promise<Decision | null>;
  /** Take the link of a session to its parent back: neither that chain is proposed for it again */
  remove(asked: { episode: string; by?: string }): Promise<Refusal>;
  /** Return the whole tree a session stands in, branches too, by start; NotFound for an unknown one */
  tree(asked: { episode: string; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EpisodePage>;
  /** Return the tree a session stands in, placed for a picture; NotFound for an unknown session */
  arc(asked: { episode: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<Arc>;
}

export interface UserMemoryEpisodes {
  /** Return episodes in chronological order, open frames included; the last `limit` of them */
  list(asked?: { thread?: string | null; channel?: string | null; speaker?: string | null; since?: string | null; until?: string | null; place?: string | null; where?: string[] | null; project?: string | null; only?: string[] | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EpisodeCardPage>;
  /** Return episodes (of a thread) by end of event time, newest first, open frames included */
  recent(asked?: { days?: number | null; thread?: string | null; where?: string[] | null; suppressed?: boolean; project?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EpisodeCardPage>;
  /** Return what is pinned, by thread and place in it */
  pinned(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<MarkedPage>;
  /** Return what is suppressed, with reason and time: words first, then by thread and place in it */
  suppressed(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<MarkedPage>;
  /** Return the ids of episodes that a `resegment` replaced, for which `successor` knows another */
  replaced(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<PageUuid>;
  /** Find the words of closed episodes anew, with what this memory is opened with; return of how many */
  reencode(asked?: { thread?: string | null; every?: boolean; by?: string | null }): Promise<Counted>;
  /** Return one closed episode (in place of a replaced one its `successor`); NotFound otherwise */
  get(asked: { episode_id: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<Episode>;
  /** Give a closed episode a title by hand, under which it is found from now on; return it */
  rename(asked: { episode_id: string; title: string }): Promise<Episode>;
  /** Return what listings show of an episode, of a part of a thread too; NotFound otherwise */
  card(asked: { episode_id: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EpisodeCard>;
  /** Return the observations of an episode or open frame, in order */
  messages(asked: { episode_id: string; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<ObservationPage>;
  /** Return every version of an episode's words, oldest first */
  history(asked: { episode_id: string; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EncodingPage>;
  /** Return how an episode served each time it was judged, oldest first */
  reviews(asked: { episode_id: string; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<DecisionPage>;
  /** Return the id under which an episode's messages are found today: another one once it was replaced */
  successor(asked: { episode_id: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<IdAnswer>;
  /** Pin an episode or open frame, or a whole thread with what is still to come */
  pin(asked?: { episode_id?: string | null; thread?: string | null; reason?: string }): Promise<Marked>;
  /** Take the pin off an episode or a thread; tell whether there was one */
  unpin(asked?: { episode_id?: string | null; thread?: string | null }): Promise<Changed>;
  /** Keep an episode, a whole thread, or whatever holds some words, but show it no more */
  suppress(asked?: { episode_id?: string | null; thread?: string | null; words?: string | null; reason?: string }): Promise<Marked>;
  /** Take an episode, a thread or words off the suppression list; tell whether they were on it */
  unsuppress(asked?: { episode_id?: string | null; thread?: string | null; words?: string | null }): Promise<Changed>;
}

export interface UserMemoryErasures {
  /** Return the receipts of the user (an erased one too), oldest first; or of one thing */
  list(asked?: { observation?: string | null; episode?: string | null; thread?: string | null; speaker?: string | null; words?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<ErasurePage>;
  /** Return those of these strings that the database still holds beside observations that are kept */
  residue(asked: { texts: string[] }): Promise<PageStr>;
  /** Return the user's observations that are kept and hold one of these strings, in capitals or not */
  repeats(asked: { texts: string[] }): Promise<ObservationPage>;
}

export interface UserMemoryFacts {
  /** Return facts that hold: those that answer a query, best first, else the newest first */
  list(asked?: { query?: string | null; category?: string | null; subject?: string | null; at?: string | null; known_by?: string | null; history?: boolean; project?: string | null; only?: string[] | null; suppressed?: boolean; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<FactCardPage>;
  /** Learn facts from every episode that waits for it, though too few wait; return how many there were */
  consolidate(): Promise<Counted>;
  /** Return one fact with the words that prove it */
  get(asked: { fact_id: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<FactCard>;
  /** Put a fact right by hand: its sentence, the value it is compared by, its category */
  edit(asked: { fact_id: string; text?: string | null; value?: string | null; category?: string | null }): Promise<FactCard>;
  /** Delete a fact, and return what it was; the same words do not teach it again, others may */
  delete(asked: { fact_id: string }): Promise<FactCard>;
  /** Return what was so of one matter, past and present, oldest first */
  history(asked: { fact_id: string; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<FactCardPage>;
  /** Let no statement end a fact by itself (or, unpinned, let those end it that were made) */
  pin(asked: { fact_id: string; pinned?: boolean }): Promise<FactCard>;
  /** Say yes to a fact: it is certain */
  confirm(asked: { fact_id: string }): Promise<FactCard>;
}

export interface UserMemoryJobs {
  /** Return how an operation stands: running, done or failed */
  operation(asked: { operation_id: string }): Promise<Operation>;
  /** Return the later work by user and time, the first `limit`; `state` is waiting, leased or dead */
  list(asked?: { state?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<JobEntryPage>;
  /** Count the later work by its state: waiting, leased (being done) and dead (given up) */
  counts(): Promise<Record<string, number>>;
  /** Run the later work that waits (encodings, questions), and return how many jobs ran */
  run(): Promise<Counted>;
  /** Try again every job that was given up; return how many */
  retryDead(): Promise<Counted>;
  /** Make a waiting or dead job due now with all its attempts back, and return what it was */
  retry(asked: { job_id: string }): Promise<JobEntry>;
  /** Delete a waiting or dead job, named as for `retry`, and return what it was */
  cancel(asked: { job_id: string }): Promise<JobEntry>;
}

export interface UserMemoryLinks {
  /** Return links (of one thread), newest first; with those that were taken back where wanted */
  list(asked?: { thread?: string | null; taken_back?: boolean; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<LinkCardPage>;
  /** Link two threads by hand, whatever was decided of them; InvalidInput for one thread twice */
  add(asked: { thread: string; other: string }): Promise<Link>;
  /** Take the link of two threads back; they stay apart until somebody links them by hand */
  remove(asked: { thread: string; other: string }): Promise<Link>;
  /** Return the episodes that linked threads form, each with its threads and members in `metadata` */
  episodes(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<EpisodePage>;
  /** Return what a message would be linked to if it began a thread now, best first; keeps nothing */
  foresee(asked: { text: string; at?: string | null; thread?: string | null }): Promise<PageTuple>;
  /** Say why a thread was linked to earlier ones (to one of them) and to others not */
  explain(asked: { thread: string; other?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<LinkExplanation>;
  /** Say whether a link, or a refusal to link, was `correct` or `incorrect`; return its decision */
  outcome(asked: { link: string; outcome: string }): Promise<Decision>;
}

export interface UserMemoryPeople {
  /** Return everybody who spoke, whom most is heard of first, with names that may be the same person's */
  list(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<PersonCardPage>;
  /** Say that two names are one person's, with all that either is joined with; return the person */
  same(asked: { name: string; other: string; shown?: string | null }): Promise<PersonCard>;
  /** Say that a name is a person's of its own; with `other`, that the two are not one person's */
  apart(asked: { name: string; other?: string | null }): Promise<PersonCard>;
}

export interface UserMemoryPlaces {
  /** Return where the user's threads were, how often and how long, and the moves from place to place */
  list(asked?: { thread?: string | null; since?: string | null; until?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<PlaceSummary>;
  /** Return the visits of a place, each linked to the one before and the one after it */
  visits(asked: { place: string; order?: string; thread?: string | null; since?: string | null; until?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<VisitCardPage>;
  /** Return the places a thread went through, in order, with the episodes of each visit */
  route(asked: { thread: string; since?: string | null; until?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<VisitCardPage>;
}

export interface UserMemoryRetention {
  /** Return the policy that says what this user's memory lets go, and what it has put away */
  get(): Promise<RetentionState>;
  /** Set the user's own policy ("age=365d,strength=0.2,count=10000,grace=30d", or "none") */
  set(asked: { policy: string | null }): Promise<RetentionState>;
  /** Return what a policy (the user's unless given) would put away, erase and bring back, and why */
  preview(asked?: { policy?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<LetGoPage>;
  /** Do at once what upkeep does bit by bit: erase what has expired, archive, erase what was archived */
  apply(): Promise<RetentionPass>;
}

export interface UserMemorySections {
  /** Return what compaction made of threads (of one): the newest first, or what a query is about */
  list(asked?: { query?: string | null; thread?: string | null; resolution?: string; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<SectionCardPage>;
  /** Give the parts of one thread, or of all the user's, their words now; return those that had none */
  compact(asked?: { thread?: string | null }): Promise<SectionCardPage>;
}

export interface UserMemorySessions {
  /** Return sessions that were started, the newest first; `state` is open, closed or abandoned */
  list(asked?: { state?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<SessionPage>;
  /** Start a session about a topic; speak in its `thread` until `end` */
  start(asked: { topic: string; parent_episode_id?: string | null; thread?: string | null; channel?: string | null; key?: string | null; agent_id?: string | null; participants?: string[]; tools?: string[]; timestamp?: string | null }): Promise<Session>;
  /** Return a session as it stands; raises as `end` */
  get(asked: { episode: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<Session>;
  /** End a session: its last event is cut, it gets its words and its place in a chain */
  end(asked: { episode: string; outcome?: string | null; key_decisions?: string[]; participants?: string[]; tools?: string[]; timestamp?: string | null }): Promise<Session>;
}

export interface UserMemorySkills {
  /** Return skills: those that answer a query, best first, else the surest first */
  list(asked?: { query?: string | null; kind?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<SkillCardPage>;
  /** Return one skill by its name or id, with the turns that show it and the verdict that created it */
  get(asked: { name: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<SkillCard>;
  /** Forget a skill for good, and return what it was; what was observed stays */
  delete(asked: { name: string }): Promise<SkillCard>;
  /** Say that a skill was used and whether it served; its confidence follows (docs/chains.md#skills) */
  used(asked: { name: string; success: boolean; at?: string | null }): Promise<SkillCard>;
}

export interface UserMemoryThreads {
  /** Return the threads by last activity, newest first; the first `limit` of them */
  list(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<ThreadPage>;
  /** Say after how many minutes of silence a thread ends: one thread, or the user's (on a channel) */
  setTimeout(asked: { minutes: number | null; thread?: string | null; channel?: string | null }): Promise<void>;
  /** Return one thread with its metadata as seed 002 writes it; NotFound names what there is */
  get(asked: { name: string; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<ThreadCard>;
  /** Give a thread a title; it is still called by its name */
  rename(asked: { name: string; title: string }): Promise<Thread>;
  /** Close a thread and its open frame; the next message without a thread begins another */
  close(asked: { name: string }): Promise<Thread>;
  /** Let the user's next messages go on with a thread, however long it was silent, on every channel */
  select(asked: { name: string }): Promise<Thread>;
}

export interface UserMemoryTrace {
  /** Return what was done for a turn, with decisions, timings and calls of models, as a tree */
  turn(asked: { turn: string; text?: boolean }): Promise<TurnTrace>;
  /** Return what the memory took in, concluded and let go after `since`, up to `until` (now) */
  changes(asked?: { since?: string | null; until?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<MemoryChanges>;
  /** Return who did what to the user's memory: the newest `limit` entries, newest first */
  audit(asked?: { since?: string | null; until?: string | null; kind?: string | null; by?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<AuditEntryPage>;
  /** Return what was decided of the user's memory, by record time: the newest `limit`, newest last */
  decisions(asked?: { since?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<DecisionPage>;
}

export interface UserMemoryTuning {
  /** Return every run with its record, newest first */
  list(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<TuningRunPage>;
  /** Learn from the labelled links what is certainly better, and put it in force; return the record */
  run(asked?: { what?: string; dry_run?: boolean }): Promise<TuningRun>;
  /** Take the last change of links (or of chains) back; asked again, the one before */
  rollback(asked?: { what?: string }): Promise<TuningRun>;
  /** Say whether any automatic decision was right: of a link, or of a boundary (by its episode's id) */
  outcome(asked: { decision: string; outcome: string }): Promise<Decision>;
}

export class UserMemory {
  /** Add */
  add(asked: { /** Answer when titles and links are made, too, or after ten seconds. */ wait?: boolean; /** The same key adds nothing again. */ idempotencyKey?: string | null; messages: NewMessage[]; thread?: string | null; channel?: string | null; source?: string | null; ttl?: string | number | null; expires_at?: string | number | null }): Promise<BatchReceipts>;
  /** Export */
  export(asked?: { /** Only threads about this: tag=memory. */ where?: string | null; /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): AsyncGenerator<string>;
  /** Import File */
  importFile(asked: { /** The file's name, which may title the chat. */ name?: string | null; /** Your own name for where the messages are from: ids are told apart by it. */ source?: string | null; /** Of a text; UTF-8 unless it says so. */ encoding?: string | null; /** Of times without one: Europe/Berlin. */ timezone?: string | null; /** The order of numeric dates: dmy, mdy, ymd. */ dates?: string | null; /** When a meeting began whose captions do not say it. */ began?: string | null; /** What the user is called there: names, addresses, accounts. */ me?: string[] | null; /** Which key of JSON messages says who spoke. */ speaker?: string | null; /** Store nothing, tell what would come. */ dry_run?: boolean; /** Answer when it is done; false: an operation. */ wait?: boolean; body: BodyInit }): Promise<ImportReport>;
  /** Return what the next prompt should be told of the past, before or after the message was added */
  context(asked: { /** A moment of record time: answer as the memory stood then. */ as_of?: string | null; message: string; thread?: string | null; channel?: string | null; at?: string | null; max_tokens?: number; form?: "default" | "context-2027-02" | "context-2027-01" | "seed-002"; project?: string | null; only?: string | string[] | null }): Promise<ThreadContext>;
  /** Return the episodes and facts that best answer a query, with the observations that prove it */
  search(asked: { /** A moment of record time: answer as the memory stood then. */ as_of?: string | null; query: string; limit?: number; observations?: number | null; policy?: string; now?: string | null; explain?: boolean; asking?: string | null; facts?: number; suppressed?: boolean; thread?: string | null; channel?: string | null; speaker?: string | null; since?: string | null; until?: string | null; place?: string | null; where?: string | string[] | null; project?: string | null; only?: string | string[] | null; category?: string | null }): Promise<SearchAnswer>;
  /** Return the episodes and facts that best answer a query, with the observations that prove it */
  recall(asked: { /** A moment of record time: answer as the memory stood then. */ as_of?: string | null; query: string; limit?: number; observations?: number | null; policy?: string; now?: string | null; explain?: boolean; asking?: string | null; facts?: number; suppressed?: boolean; detail?: "auto" | "none" | "low" | "high"; thread?: string | null; channel?: string | null; speaker?: string | null; since?: string | null; until?: string | null; place?: string | null; where?: string | string[] | null; project?: string | null; only?: string | string[] | null; category?: string | null }): Promise<DetailedRecall>;
  /** Return what `search` finds as Markdown for a prompt, in seed 003's form; "" where nothing answers */
  retrieve(asked: { /** A moment of record time: answer as the memory stood then. */ as_of?: string | null; query: string; detail?: "auto" | "none" | "low" | "high"; limit?: number; facts?: number; now?: string | null; asking?: string | null; thread?: string | null; channel?: string | null; speaker?: string | null; since?: string | null; until?: string | null; place?: string | null; where?: string | string[] | null; project?: string | null; only?: string | string[] | null; category?: string | null }): Promise<TextAnswer>;
  /** Erase one observation, episode or thread, all that one `speaker` said, or `everything` of the user */
  eraseEpisodes(asked: { episode: string; dry_run?: boolean }): Promise<Erasure>;
  /** Close the open frames (of one thread, or all of the user's) and wait for their words */
  flush(asked?: { thread?: string | null }): Promise<Counted>;
  /** Erase one observation, episode or thread, all that one `speaker` said, or `everything` of the user */
  eraseThreads(asked: { thread: string; dry_run?: boolean }): Promise<Erasure>;
  /** Erase one observation, episode or thread, all that one `speaker` said, or `everything` of the user */
  eraseObservations(asked: { observation: string; dry_run?: boolean }): Promise<Erasure>;
  /** Erase one observation, episode or thread, all that one `speaker` said, or `everything` of the user */
  eraseSpeakers(asked: { speaker: string; dry_run?: boolean }): Promise<Erasure>;
  /** Erase one observation, episode or thread, all that one `speaker` said, or `everything` of the user */
  eraseWords(asked: { words: string; dry_run?: boolean }): Promise<Erasure>;
  /** Count what the memory holds of the user */
  stats(asked?: { /** A moment of record time: answer as the memory stood then. */ as_of?: string | null }): Promise<Stats>;
  /** Do for this user what `Memory.upkeep` does for all; return how many frames that closed */
  upkeep(): Promise<Counted>;
  /** Erase one observation, episode or thread, all that one `speaker` said, or `everything` of the user */
  eraseUser(asked?: { dry_run?: boolean }): Promise<Erasure>;
  readonly boundaries: UserMemoryBoundaries;
  readonly chains: UserMemoryChains;
  readonly episodes: UserMemoryEpisodes;
  readonly erasures: UserMemoryErasures;
  readonly facts: UserMemoryFacts;
  readonly jobs: UserMemoryJobs;
  readonly links: UserMemoryLinks;
  readonly people: UserMemoryPeople;
  readonly places: UserMemoryPlaces;
  readonly retention: UserMemoryRetention;
  readonly sections: UserMemorySections;
  readonly sessions: UserMemorySessions;
  readonly skills: UserMemorySkills;
  readonly threads: UserMemoryThreads;
  readonly trace: UserMemoryTrace;
  readonly tuning: UserMemoryTuning;
}

export interface SpaceMemoryJobs {
  /** Return the later work by user and time, the first `limit`; `state` is waiting, leased or dead */
  list(asked?: { state?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<JobEntryPage>;
  /** Count the later work by its state: waiting, leased (being done) and dead (given up) */
  counts(): Promise<Record<string, number>>;
  /** Run the later work that waits (encodings, questions), and return how many jobs ran */
  run(): Promise<Counted>;
  /** Try again every job that was given up; return how many */
  retryDead(): Promise<Counted>;
  /** Make a waiting or dead job due now with all its attempts back, and return what it was */
  retry(asked: { job_id: string }): Promise<JobEntry>;
  /** Delete a waiting or dead job, named as for `retry`, and return what it was */
  cancel(asked: { job_id: string }): Promise<JobEntry>;
}

export class SpaceMemory {
  /** Return the users this space remembers something of */
  users(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<PageStr>;
  /** Return what language models cost the space, or one user, by day (UTC), stage and model */
  usage(asked?: { since?: string; until?: string; user?: string | null; /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<ModelUsePage>;
  /** Return the receipts of all that was erased in the space, oldest first */
  erasures(asked?: { /** Items of a page. */ limit?: number; /** `next` of the page before. */ cursor?: string | null }): Promise<ErasurePage>;
  /** Close frames that have been silent past the gap at which their policy cuts for certain */
  upkeep(): Promise<Counted>;
  readonly jobs: SpaceMemoryJobs;
}

export interface ClientOptions {
  /** A key that `episodic keys create` made; none is needed on the machine itself where there are none. */
  key?: string;
  /** Milliseconds an answer may take; 60,000 unless given. */
  timeout?: number;
  /** How often a request is sent that the service asks to be sent again (429, 503); 4 unless given. */
  tries?: number;
  fetch?: typeof fetch;
}

/** What the service refused: its problem document. */
export class EpisodicError extends Error {
  readonly status: number;
  readonly problem: Problem;
}

/** A memory behind a service; the space is the key's. */
export class Client extends SpaceMemory {
  constructor(url?: string, options?: ClientOptions);
  /** Return a user's memory; nothing is asked for it. */
  user(name: string): UserMemory;
}

export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Read a list page by page: `for await (const episode of all(ana.episodes.list))`. */
export function all<Asked extends object, Item>(
  list: (asked: Asked) => Promise<Page<Item>>,
  asked?: Asked,
): AsyncGenerator<Item>;
