"""When a section of a thread is due, and its words at three resolutions (seed 002, section 4.2).

`opens_section` and `due` say when a section ends and why it is to be told (by hand, thread end, size, age);
`resolutions` tells it without a language model.

**Rules of the room.**
1. Micro has at most 100 tokens, meso 500, macro 1,000, and none more than what it stands for: compaction
   never grows.
2. Without a model every sentence is one that was said; only long ones are cut, and relative times get their
   date.
3. A summary is judged by what can still be found in it: names, numbers and times weigh more than talk.
4. Due work has a key of section and last observation: done twice, it is done once.
5. Event time counts: of an old chat that is imported every section is a day old.

**To add** a trigger, give `Trigger` a member in its place of urgency and let `due` return it. To change what
a summary picks, change the worth of a unit in `resolutions.py` and look at `benchmarks.compaction_quality`.
"""
