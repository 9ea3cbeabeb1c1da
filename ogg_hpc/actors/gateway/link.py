"""What a controller and the learners of its node say to each other through Unix sockets.

A learner listens at ``learner-N`` in a private folder that follows from the folder of the run, and
the controller connects: so either may be started again while the other goes on. A packet is a head
of fixed size, its kind, the number of a host and the length of what follows.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import tempfile
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from ogg_hpc.actors.gateway.frames import MOST_BYTES
from ogg_hpc.errors import OggError

HEAD = struct.Struct("<BQI")
PACKET_BYTES = HEAD.size + MOST_BYTES
# Bytes of frames that may be on their way to one host: the rest stays with the learner, so that a
# host which does not read holds up nobody and fills no memory but its own share.
WINDOW = 1 << 20
_LONGEST = 107  # bytes of the path of a socket, on Linux


class Kind(IntEnum):
    """What a packet is."""

    FRAME = 1  # both ways: a frame from or to a host
    # From the learner:
    ABOUT = 2  # JSON: what the learner is
    DROP = 3  # a reason: refuse this host
    FINISHED = 4  # the learner needs no host any more
    # From the controller:
    LISTENING = 5  # the address that hosts connect to
    GONE = 6  # a reason: the host is no longer there
    TAKEN = 7  # an integer: so many bytes of frames have been passed on to the host
    REFUSED = 8  # a reason for which some host was refused
    ALIVE = 9  # nothing


class Packet(NamedTuple):
    """What the other side has sent."""

    kind: Kind
    host: int
    content: bytes


def head(kind: Kind, host: int, content: bytes) -> bytes:
    """Return the head of a packet."""
    return HEAD.pack(kind, host, len(content))


def socket_folder(run_folder: Path) -> Path:
    """Return the folder for the sockets of a run on this node, made for this user alone.

    It lies on a local disk: paths of sockets are short, and parallel file systems know none.

    Raises
    ------
    OggError
        It cannot be made, or is too deep for sockets, or another user has taken its name.
    """
    digest = hashlib.sha256(os.fsencode(run_folder.resolve())).hexdigest()[:16]
    folder = Path(tempfile.gettempdir(), f"ogg-hpc-{os.getuid()}-{digest}")
    if len(os.fsencode(socket_path(folder, 1000))) > _LONGEST:
        raise OggError(
            f"{folder.parent} is too long a path for sockets; set TMPDIR to a shorter one"
        )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise OggError(f"{folder} cannot be made: {error.strerror}; set TMPDIR") from None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not mine or stat.S_IMODE(found.st_mode) & 0o077:
        raise OggError(f"{folder} is not this user's alone; remove it, or set TMPDIR")
    return folder


def socket_path(folder: Path, learner: int) -> Path:
    """Return where a learner of this node, counted from 0, listens."""
    return folder / f"learner-{learner}"
