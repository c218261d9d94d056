"""Which broker route carries which message, and where to turn when one is down.

``docs/routing.md`` shows the same tables to the people who run the broker.
"""

from __future__ import annotations

from collections.abc import Collection

from wirespec.catalog import message_named
from wirespec.codec import decode
from wirespec.errors import WireError

URGENT_ROUTE = "alarms.page"
PARKING_ROUTE = "<< new_route >>"

ROUTES = {
    "hello": "units.presence",
    "heartbeat": "units.presence",
    "reading": "telemetry.live",
    "log_chunk": "telemetry.bulk",
    "alarm": "alarms.desk",
    "set_mode": "commands.out",
    "set_interval": "commands.out",
    "fetch_log": "commands.out",
    "ack": "units.receipts",
    "reject": "units.receipts",
}

FALLBACKS = {
    "alarms.page": "alarms.desk",
    "alarms.desk": "units.presence",
    "units.presence": "telemetry.bulk",
    "telemetry.live": "telemetry.bulk",
    "telemetry.bulk": PARKING_ROUTE,
}


class NoRoute(Exception):
    """Nothing that may carry the message is up."""


def route_for(name: str, *, urgent: bool = False) -> str:
    """The route of a message; an urgent one goes to the pager, whatever it is."""
    message = message_named(name)
    return URGENT_ROUTE if urgent else ROUTES[message.name]


def resolve(name: str, down: Collection[str], *, urgent: bool = False) -> str:
    """The route to use while the routes in ``down`` are out of order; raises NoRoute."""
    tried: list[str] = []
    route: str | None = route_for(name, urgent=urgent)
    while route is not None and route not in tried:
        if route not in down:
            return route
        tried.append(route)
        route = FALLBACKS.get(route)
    raise NoRoute(f"{name}: {', '.join(tried)} are all down")


def table() -> list[tuple[str, str, str]]:
    """(message, route, fallback) for every message, then for refused frames; "none" is none."""
    carried = {**ROUTES, "(refused)": PARKING_ROUTE}
    return [(name, route, FALLBACKS.get(route, "none")) for name, route in carried.items()]


def target_for(data: bytes) -> str | None:
    """Where a received frame is published; None for one that its sender will repeat."""
    try:
        frame = decode(data)
    except WireError as error:
        return None if error.retry else PARKING_ROUTE
    return route_for(frame.name, urgent=frame.urgent)
