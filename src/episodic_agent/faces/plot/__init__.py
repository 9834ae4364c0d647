"""Plots of cuts, maps of places, arcs of sessions, a year: in the terminal, as SVG and as PNG.

Each picture has a value it is drawn from (`BoundaryTrace`, `Places`, `Arc`), a drawing by matplotlib (the
extra `plot`), and a text for terminals.

**Rules of the room.**
1. A drawing reads its value alone: no memory, no clock, no chance. The same value gives the same bytes of
   SVG.
2. Labels never cover one another, and names are cut and cleaned before they are drawn.
3. matplotlib is imported where a picture is asked for, without its global state.
4. Terminals get what fits their width, and no control sequences where colour is off.

**To add** a picture, make the value first and test it; then draw it in a module of its own and in one for
terminals, share `style.py`, and compare the SVG of two runs byte for byte.
"""
