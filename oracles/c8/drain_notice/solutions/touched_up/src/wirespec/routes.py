"""Which broker route carries which message, and where to turn when one is down.

``docs/routing.md`` shows the same tables to the people who run the broker.
"""

from __future__ import annotations

from collections.abc import Collection

from wirespec.catalog import message_named

URGENT_ROUTE = "alarms.page"

ROUTES = {
    "hello": "units.presence",
    "heartbeat": "units.presence",
    "reading": "telemetry.live",
    "log_chunk": "telemetry.bulk",
    "alarm": "alarms.desk",
    "set_mode": "commands.out",
    "set_interval": "commands.out",
    "fetch_log": "commands.out",
    "drain_notice": "commands.out",
    "ack": "units.receipts",
    "reject": "units.receipts",
}

FALLBACKS = {
    "alarms.page": "alarms.desk",
    "alarms.desk": "units.presence",
    "units.presence": "telemetry.bulk",
    "telemetry.live": "telemetry.bulk",
}


class NoRoute(Exception):
    """Nothing that may carry the message is up."""


def route_for(name: str, *, urgent: bool = False) -> str:
    """The route of a message; an urgent one goes to the pager, whatever it is."""
    message = message_named(name)
    return URGENT_ROUTE if urgent else ROUTES[message.name]


def resolve(name: str, down: Collection[str], *, urgent: bool = False) -> str:
    """The route to use while the routes in ``down`` are out of order; raises NoRoute."""
    route = route_for(name, urgent=urgent)
    if route in down:
        route = FALLBACKS.get(route, route)
    return route
