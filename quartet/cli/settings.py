"""Settings files of the official tools: lines of KEY=VALUE."""

from __future__ import annotations

from pathlib import Path

from core.errors import QuartetError

FILES = ("setting.ini", "config.ini")
"""Names of settings files; the first one in the current folder is read if no program is named."""
KEYS = ("INPUT", "LOG", "EXEC1", "EXEC2", "CWD1", "CWD2")


def find() -> Path | None:
    """Return the settings file of the current folder, or None."""
    return next((Path(name) for name in FILES if Path(name).is_file()), None)


def read(path: Path | None) -> dict[str, str]:
    """Return the non-empty settings of a file, {} without a file. Raises QuartetError."""
    if path is None:
        return {}
    settings = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        text = line.strip()
        if not text or text[0] in "#;[":
            continue
        key, equals, value = text.partition("=")
        key = key.strip().upper()
        if not equals or key not in KEYS:
            raise QuartetError(
                f"{path}: line {number}: expected KEY=VALUE with one of {', '.join(KEYS)}, "
                f"not {text[:40]!r}"
            )
        if value.strip():
            settings[key] = value.strip()
    return settings


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise QuartetError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise QuartetError(f"{path} is not text: {error.reason} at byte {error.start}") from error
