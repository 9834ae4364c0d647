"""Say what the next prompt should know of the past, within a budget, with the source of every line.

`prompting.py` gives the default form, with what `gathering.py` finds to be needed and `replacing.py` puts
beside what may be over. `assembling.py` is the entry, and gives seed 002's form: the current thread's last
questions and answers, the linked threads, names, summaries, and, where nothing is linked, the titles of the
last day.

**Rules of the room.**
1. Nothing is written and nothing is locked. A message that is not stored yet is resolved and linked on trial,
   by the same rules as `add` will use.
2. The message is embedded once, before the transaction.
3. Only the end of a thread is read, so a thread of thousands costs no more than a short one.
4. Only stored text is quoted, one line each, made harmless for the model that reads it. Each line carries its
   thread, episode and observations.
5. In seed 002's form, on an explicit channel only that thread is told, and what the user recalled or linked
   by hand; the default form recalls everywhere.
6. What is hidden is not told, nor is a link that something spoke against. A link that is uncertain is told as
   possible.
7. The same memory and the same message give the same text.
8. Of a message that asks for nothing but what was said at a time, or is due on a day to come, the default
   form tells that time, or what was said of that day, alone.

**To add** a kind of line, let `assemble` know it with its share of the budget, read it here with its sources,
and quote it through `core/context/quoting.py`.
"""
