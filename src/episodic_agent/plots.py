"""Pictures of a memory: cuts of a thread, places of an agent, arcs of sessions (the extra `plot`).

>>> from episodic_agent import Memory
>>> from episodic_agent.plots import arc_svg
>>> ana = Memory.open().user("ana")                                        # doctest: +SKIP
>>> arc_svg(ana.chains.arc(ana.sections.list()[0].episode_id), "arc.svg")  # doctest: +SKIP
"""

from episodic_agent.faces.plot.arc import arc_png, arc_svg, arc_terminal
from episodic_agent.faces.plot.figure import plot_png, plot_svg
from episodic_agent.faces.plot.map import map_png, map_svg, map_terminal
from episodic_agent.faces.plot.terminal import plot_terminal

__all__ = [
    "arc_png",
    "arc_svg",
    "arc_terminal",
    "map_png",
    "map_svg",
    "map_terminal",
    "plot_png",
    "plot_svg",
    "plot_terminal",
]
