"""Plots of cuts, maps of places, arcs of sessions: in the terminal, as SVG and as PNG."""

from episodic_agent.faces.plot.arc import arc_png, arc_svg
from episodic_agent.faces.plot.arc_terminal import arc_terminal
from episodic_agent.faces.plot.figure import plot_png, plot_svg
from episodic_agent.faces.plot.map import map_png, map_svg
from episodic_agent.faces.plot.map_terminal import map_terminal
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
