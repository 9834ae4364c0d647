"""Plots of why a thread was cut where it was: in the terminal, as SVG and as PNG."""

from episodic_agent.faces.plot.figure import plot_png, plot_svg
from episodic_agent.faces.plot.terminal import plot_terminal

__all__ = ["plot_png", "plot_svg", "plot_terminal"]
