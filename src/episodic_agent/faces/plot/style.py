"""The colours and the resolution that all pictures share."""

from typing import Final

DPI: Final = 125
INK, QUIET, GRID = "#22303c", "#6b7885", "#e3e8ec"
BLUE, ROSE, AMBER = "#2466a8", "#c2304f", "#f2a93b"
FACTOR_COLOURS: Final = {
    "location": "#2466a8",
    "event": "#f2a93b",
    "prediction": "#8e5ea2",
    "time": "#9fb0bd",
}
PLACE_COLOURS: Final = (  # pale, so that words on them are read; neighbours differ
    "#cfe3ef", "#fbe3c0", "#dcebcf", "#ead9f0", "#f6d5da",
    "#d5e8e4", "#eee6c9", "#dcdff2", "#f3dcc8", "#e2e8ec",
)  # fmt: skip
