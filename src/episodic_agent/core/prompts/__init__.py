"""What is said to a language model and what it must answer, as pure functions with versions.

Everything a person or a memory said is data: it stands between markers, line by line under short
aliases, and the instructions say so.
"""
