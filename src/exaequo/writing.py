"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from exaequo.errors import ExaequoError


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file that appears whole or not at all. Links are followed; what is not a file is written to as it is."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ExaequoError(f"{path}: cannot write ({error.strerror or error}).") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
