"""The settings file of a coding agent: our entries put in and taken out, all else left to the byte."""

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from episodic_agent import private
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.hooks.agents import is_ours

BEFORE: Final = ".before-episodic"  # behind the name of a settings file: what stood there first
HOOKS: Final = "hooks"


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """What a settings file holds and what it is to hold; None: there is no file, or is to be none."""

    path: Path
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        """Tell whether anything changes."""
        return self.before != self.after


def installing(path: Path, entries: Mapping[str, Any]) -> SettingsChange:
    """Return the change that puts our entries behind those there are; InvalidInput for a damaged file."""
    path = _real(path)
    text = read(path)
    return SettingsChange(path, text, _with(_without(text, path), entries, path))


def removing(path: Path) -> SettingsChange:
    """Return the change that takes our entries out, and undoes the writing where nobody wrote since."""
    path = _real(path)
    text = read(path)
    if not installed(path):
        return SettingsChange(path, text, text)
    if path.with_name(path.name + BEFORE).exists():
        first = read(path.with_name(path.name + BEFORE))
        if text == _with(_without(first, path), _ours(text, path), path):
            return SettingsChange(path, text, first)
    rest = _without(text, path)
    return SettingsChange(path, text, rest if rest is not None and _parsed(rest, path) else None)


def apply(change: SettingsChange) -> None:
    """Write a change: what stood first is put beside the file until the entries are taken out again.

    Raises InvalidInput for a file, or a folder, that may not be written.
    """
    if not change.needed:
        return
    path = change.path
    check_writable(path)
    first = path.with_name(path.name + BEFORE)
    if change.after is None:
        path.unlink()
        first.unlink(missing_ok=True)
        return
    private.make_folder(path.parent)
    if change.before is not None and not first.exists() and not _has_ours(change.before, path):
        _write(first, change.before, path)
    _write(path, change.after, path)
    if not _has_ours(change.after, path):
        first.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Refuse what somebody made read-only, of an administrator too: it was made so on purpose."""
    nearest = next(folder for folder in path.parents if folder.exists())
    for place in (path, nearest):
        if place.exists() and not (place.stat().st_mode & stat.S_IWUSR and os.access(place, os.W_OK)):
            raise InvalidInput(f"{place} is read-only; make it writable (chmod u+w), or name another --file")


def installed(path: Path) -> dict[str, str]:
    """Return our command of each event that a settings file has; none where there is no file."""
    ours = _ours(read(path), path)
    return {event: group[HOOKS][0]["command"] for event, group in ours.items()}


def read(path: Path) -> str | None:
    """Return what a settings file holds; None where there is none. InvalidInput where that is no text."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is no UTF-8 text; mend it, and try again") from error


def _real(path: Path) -> Path:
    """Return the file itself where a path is a link to it: the link stays one."""
    return Path(os.path.realpath(path))


def _with(text: str | None, entries: Mapping[str, Any], path: Path) -> str:
    settings = _parsed(text, path)
    hooks = settings.setdefault(HOOKS, {})
    for event, group in entries.items():
        hooks.setdefault(event, []).append(group)
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _without(text: str | None, path: Path) -> str | None:
    """Return settings without our entries, and without what holds nothing since."""
    if text is None or not _has_ours(text, path):
        return text
    settings = _parsed(text, path)
    hooks = settings[HOOKS]
    for event in list(hooks):
        groups = [_rest(group) for group in hooks[event]]
        hooks[event] = [group for group in groups if group is not None]
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        del settings[HOOKS]
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _rest(group: Any) -> Any:
    """Return a group without our handlers; None where it has no other."""
    handlers = group.get(HOOKS) if isinstance(group, dict) else None
    if not isinstance(handlers, list) or not any(map(is_ours, handlers)):
        return group
    rest = [handler for handler in handlers if not is_ours(handler)]
    return {**group, HOOKS: rest} if rest else None


def _ours(text: str | None, path: Path) -> dict[str, Any]:
    return {
        event: {HOOKS: [handler]}
        for event, groups in _parsed(text, path).get(HOOKS, {}).items()
        for group in groups
        if isinstance(group, dict) and isinstance(group.get(HOOKS), list)
        for handler in group[HOOKS]
        if is_ours(handler)
    }


def _has_ours(text: str, path: Path) -> bool:
    return bool(_ours(text, path))


def _parsed(text: str | None, path: Path) -> dict[str, Any]:
    """Read settings; InvalidInput, with the place, for what the agent itself could not read."""
    if text is None or not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is no JSON ({error}); mend it, and try again") from error
    if not isinstance(settings, dict):
        raise InvalidInput(f"{path} holds no object of settings; mend it, and try again")
    hooks = settings.get(HOOKS, {})
    if not isinstance(hooks, dict):
        raise InvalidInput(f"{path}: `hooks` is no object of events; mend it, and try again")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise InvalidInput(f"{path}: `hooks.{event}` is no list; mend it, and try again")
    return settings


def _write(path: Path, text: str, like: Path) -> None:
    """Write a file at once or not at all, open to whom the settings are."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with private.opened(fresh) as file:
            file.write(text.encode("utf-8"))
        with suppress(FileNotFoundError):
            fresh.chmod(stat.S_IMODE(like.stat().st_mode))
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
