"""Chat files in, the project's own export out and in.

`detect` tells what a file is; `read_file` streams the messages of any chat file; `own` writes and reads the
lossless export. Unreadable records are reported with their line and never stop the rest.
"""

from episodic_agent.engine.files.opening import Unreadable
from episodic_agent.engine.files.own import export_lines, header_line, read_export
from episodic_agent.engine.files.read import ACCEPTED, Format, detect, read_file

__all__ = [
    "ACCEPTED",
    "Format",
    "Unreadable",
    "detect",
    "export_lines",
    "header_line",
    "read_export",
    "read_file",
]
