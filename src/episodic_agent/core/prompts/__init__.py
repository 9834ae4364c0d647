"""What is said to a language model and what it must answer, as pure functions with versions.

Everything a person or a memory said is data: it stands quoted (`quoting`), under short aliases, and the
instructions say so. Each caller is a stage, by whose name its model is chosen and its cost is counted.
"""

STAGES = ("topic_shift", "episode", "thread_link", "compact", "skills", "review", "facts")
