"""When an agent's frame freezes: boundaries over steps (seed 000), and the rules of this room.

**The idea.** An agent that moves and acts lives through a stream of steps: where it is, what it sees, what
just happened, how well that was foreseen. Seed 000 adds four factors to one score: a new *place* (chapters
of a story), *salient events*, *prediction error*, and slowly the *time*. Over a high threshold the frame
freezes; before it may freeze again the score must have been low (hysteresis), or an agent between two
thresholds would freeze at every step.

**What the formula does and does not.** A new place alone freezes always; time alone never passes .2, error
alone .3, events .5. So at the document's numbers the place decides nearly everything, nothing bounds the
length of an episode, and one mistaken look through a doorway is an episode of its own. `seed-000` keeps
all that. The default mends it with the same factors: a place counts once it was *confirmed*; events count
once; errors come from a predictor; there is a shortest and a longest frame.

**Rooms of the room**
- `scoring.py`: the formula, the reason, the debug line. The only place where contributions are computed.
- `detectors.py`: the document's classes, mutable, for hand-made frames and subclasses.
- `reference.py`: the same as policies of the engine: `stub` and `seed-000`.
- `default.py` with `memory.py` (where are we, really?), `predictor.py` (what is usual here?) and `trail.py`
  (what the episode will be called): policy `steps-2026-12`, the rules.
- `learned.py`: policy `steps-2027-02`, the rules and where an activity ends. `reduced.py` says which steps
  tell of activities, `baseline.py` what a thread taught, `cues.py` what speaks for an end and what a
  pause adds; `activity.py` says what is asked for, and holds and packs all that.
- `custom.py`: anybody's `BoundaryDetector` as a policy.
- `events.py`, `parameters.py`: other people's words for the same things, read tolerantly; numbers that
  cannot be, refused by name.

**Edges.** Seed 000 freezes *with* the step that triggered (drain all). The default does so only where the
step itself asked or the frame is full; else the step opens the next episode (keep last), and a place is cut
off where its first step was seen: an episode in the kitchen holds kitchen steps and is called kitchen.

**What an episode gets.** `Boundary.surprise` is the peak prediction error of its steps (`seed-000`: the error
at the cut). `Boundary.detail` carries `location` (confidence-weighted mode), `location_path`, `step_count`,
`salient_events` and `entities`: the engine stores them as the episode's metadata.

The rules are those of the room above (`core/boundary`): pure, small values, every number rounded before it is
compared, thresholds with a tolerance of 1e-9 (.5 + .1 is not over .6).
"""
