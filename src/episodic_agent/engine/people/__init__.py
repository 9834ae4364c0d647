"""People: the names that are one person's, said and taken back (verbs), and what is read with them (naming).

What a user said of names is a decision of its own type. Reading goes through `named`: every message, fact and
episode has the name that is shown then, and is found by any. Writing sees what is stored.
"""
