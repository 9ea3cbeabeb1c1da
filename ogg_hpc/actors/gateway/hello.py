"""Whether a host suits a run, by its first message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogg_hpc.actors.gateway.frames import LAST
from ogg_hpc.actors.gateway.session import SessionError
from ogg_hpc.actors.message import PROTOCOL, MalformedMessageError, decode
from ogg_hpc.runtime.package_version import package_version

_MOST_ENVIRONMENTS = 1 << 20


def read_hello(frame: bytes) -> Mapping[str, Any]:
    """Return the fields of the hello that a frame holds.

    Raises
    ------
    SessionError
        It holds none.
    """
    if frame[0] != LAST:
        raise SessionError("INVALID_ARGUMENT", "a hello that does not fit into one frame")
    try:
        message = decode(frame[1:])
    except MalformedMessageError as error:
        raise SessionError("INVALID_ARGUMENT", f"no hello: {error}") from None
    if message.kind != "hello":
        raise SessionError("INVALID_ARGUMENT", f"a {message.kind!r:.40} before the hello")
    return message.fields


def check_hello(hello: Mapping[str, Any], about: Mapping[str, Any]) -> int:
    """Return how many environments a host has, which suits a learner.

    Raises
    ------
    SessionError
        It does not suit.
    """
    wanted = {"protocol": PROTOCOL, "package": package_version()}
    for key, value in wanted.items():
        if hello.get(key) != value:
            raise SessionError(
                "FAILED_PRECONDITION",
                f"the host has {key} {hello.get(key)!r:.40}, the controller {value!r}: install the "
                "same version of ogg-hpc on both sides",
            )
    mine, theirs = about.get("schema"), hello.get("schema")
    if mine and theirs and mine != theirs:
        raise SessionError(
            "FAILED_PRECONDITION",
            f"the host has the schema {theirs!r:.40}, the learner {mine!r:.40}: both sides must "
            "have the same environment",
        )
    capacity = hello.get("capacity")
    if type(capacity) is not int or not 0 < capacity <= _MOST_ENVIRONMENTS:
        raise SessionError("INVALID_ARGUMENT", f"a hello with the capacity {capacity!r:.40}")
    return capacity
