"""Learn thresholds, weights and guidance from outcomes, under guard rails, for any type of decision.

`run` takes labelled decisions, the setting in force and its history, and returns what would change and the
record of it in seed 002's form (section 2.4 there); `rollback` goes back. A dry run is a run that nobody
stores.

**Rules of the room.**
1. Only what is clearly better is adopted: by more decisions turned right than chance would turn, and never
   more than .05 of a threshold in a run.
2. One thing at a time, threshold or weights: a change of both could not be judged, or taken back, apart.
3. A change is on probation for fifty labelled decisions and taken back if it does worse.
4. Behaviour weighs half of what words or a hand say; silence is no label.
5. Too few labels change nothing, and the reason says what is missing.
6. Where two judges disagree, the one that loses three cases of five with a sign gets a line of guidance.

**To add** a tuner for another verdict, label its decisions, say in `TuningRules` how far its threshold may
go, and
give `run` a function that scores by other weights, if its weights may move.
"""
