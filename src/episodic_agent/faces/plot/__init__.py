"""Plots of why a thread was cut where it was, maps of where an agent went: in the terminal, SVG and PNG."""

from episodic_agent.faces.plot.figure import plot_png, plot_svg
from episodic_agent.faces.plot.map import map_png, map_svg
from episodic_agent.faces.plot.map_terminal import map_terminal
from episodic_agent.faces.plot.terminal import plot_terminal

__all__ = ["map_png", "map_svg", "map_terminal", "plot_png", "plot_svg", "plot_terminal"]
