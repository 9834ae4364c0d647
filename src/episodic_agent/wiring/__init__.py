"""The door-frame: the only room that names concrete stores, embedders and models, and introduces them.

`memory` opens one: it hands the engine all of its collaborators. `database` knows stores by their URLs,
`providers` embedders and models by their names, `policies` boundary policies and what was fitted to an
embedder, `agents` sensors, profiles and detectors; `process` is what a memory is handed of its process, and
`event_loop` the memory of programs that have one.

**Rules of the room.**
1. Nothing below knows of it: what is built here reaches core and engine as an argument.
2. The environment and the clock are read here (and in `settings.py`) and nowhere else.
3. Nothing is decided here: a name is looked up, an unknown one is refused before a file is made.
4. What most calls do not need is imported at its first use: opening a memory loads no model and no numpy.

**To add** an embedder or a model, give it a name in `providers`; a sensor, in `agents`; a store, a scheme in
`database`.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.wiring.database import (
        database_path,
        distribute_database,
        distributing_statements,
        index_database,
        init_database,
        is_server,
        make_store,
        repair_file,
        scrub_database,
        without_password,
    )
    from episodic_agent.wiring.event_loop import AsyncMemory
    from episodic_agent.wiring.memory import Memory, temporary_memory
    from episodic_agent.wiring.policies import (
        calibrate,
        calibration_file,
        demo_conversations,
        find_calibration,
        resolve_policy,
        resolver,
    )
    from episodic_agent.wiring.process import budget_of, load_settings, utc_now
    from episodic_agent.wiring.providers import (
        EMBEDDERS,
        Say,
        embedder_by_name,
        make_embedder,
        make_language_model,
        make_sink,
        pull_model,
    )
else:
    __getattr__ = names_from(
        __name__,
        {
            "database": (
                "database_path distribute_database distributing_statements index_database init_database "
                "is_server make_store repair_file scrub_database without_password"
            ),
            "event_loop": "AsyncMemory",
            "memory": "Memory temporary_memory",
            "policies": (
                "calibrate calibration_file demo_conversations find_calibration resolve_policy resolver"
            ),
            "process": "budget_of load_settings utc_now",
            "providers": (
                "EMBEDDERS Say embedder_by_name make_embedder make_language_model make_sink pull_model"
            ),
        },
    )

__all__ = [
    "EMBEDDERS",
    "AsyncMemory",
    "Memory",
    "Say",
    "budget_of",
    "calibrate",
    "calibration_file",
    "database_path",
    "demo_conversations",
    "distribute_database",
    "distributing_statements",
    "embedder_by_name",
    "find_calibration",
    "index_database",
    "init_database",
    "is_server",
    "load_settings",
    "make_embedder",
    "make_language_model",
    "make_sink",
    "make_store",
    "pull_model",
    "repair_file",
    "resolve_policy",
    "resolver",
    "scrub_database",
    "temporary_memory",
    "utc_now",
    "without_password",
]
