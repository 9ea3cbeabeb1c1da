"""What the two ends of a gRPC connection agree on: the method, its limits, how silence is found."""

from __future__ import annotations

import os
from typing import Any

from ogg_hpc.actors.gateway.frames import MOST_BYTES
from ogg_hpc.errors import MissingExtraError

SERVICE, METHOD = "ogg_hpc.Controller", "Connect"
PATH = f"/{SERVICE}/{METHOD}"
AUTHORIZATION = "authorization"  # the header that carries the token

# Milliseconds. Pings find a machine that is gone, whose leases end anyway, and close what the
# connection holds; without a limit of their own they would be waited for a minute.
_PING = 2000
_COMMON = (
    ("grpc.max_send_message_length", MOST_BYTES),
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.max_metadata_size", 16384),
    ("grpc.keepalive_time_ms", _PING),
    ("grpc.keepalive_timeout_ms", _PING),
    ("grpc.http2.ping_timeout_ms", _PING),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)
SERVER_OPTIONS = (
    *_COMMON,
    ("grpc.so_reuseport", 0),  # or a second controller shares the port, and the hosts
    ("grpc.http2.min_recv_ping_interval_without_data_ms", _PING // 2),
    # What can be held without a token: a host has one stream, which it begins at once.
    ("grpc.server_handshake_timeout_ms", 5000),
    ("grpc.max_connection_idle_ms", 5000),
    ("grpc.max_concurrent_streams", 8),
    # What it takes of a host before the learner does; by itself it would take ever more.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 1 << 20),
)
CLIENT_OPTIONS = (
    *_COMMON,
    ("grpc.use_local_subchannel_pool", 1),  # each attempt is one of its own, without a pause
    ("grpc.enable_retries", 0),
)


def load_grpc() -> Any:
    """Return the module ``grpc`` with ``grpc.aio``.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    # Its own messages on standard error are of no use to people.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        import grpc
        import grpc.aio
    except ImportError:
        raise MissingExtraError("grpcio", "remote") from None
    return grpc
