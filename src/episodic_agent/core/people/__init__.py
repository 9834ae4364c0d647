"""People: which names are one person's.

Rules:

1. Nothing is joined by itself, but what differs in case and accents alone, and the user's own names.
2. Nothing stored is rewritten: a join is a decision of its user, kept, exported and taken back as such; each
   message keeps the name it came with.
3. Whose memory it is stays that: names said to be theirs are shown as the memory's own.
4. What is proposed needs no model, and is never two people as far as names tell: where several fit, none is.
"""
