"""The words shipped with entity reading: names, heads, cues and domains, written for this project.

Forms are folded as `core.text.fold` leaves them: lower case, without accents. Entries are joined by `|`;
`nyc=new york` names a short form and what it stands for.
"""
