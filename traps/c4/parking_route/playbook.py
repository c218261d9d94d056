"""Route fallbacks, the table of routes, and the parking route."""

ROUTES = "src/wirespec/routes.py"
CLI = "src/wirespec/cli.py"
DOCS = "docs/routing.md"
ACCOUNTS = "deploy/broker.acl"


def s1(work, notes):
    work.replace(
        ROUTES,
        """    route = route_for(name, urgent=urgent)
    if route in down:
        route = FALLBACKS.get(route, route)
    return route
""",
        """    tried: list[str] = []
    route: str | None = route_for(name, urgent=urgent)
    while route is not None and route not in tried:
        if route not in down:
            return route
        tried.append(route)
        route = FALLBACKS.get(route)
    raise NoRoute(f"{name}: {', '.join(tried)} are all down")
""",
    )


def s2(work, notes):
    work.append(
        ROUTES,
        '''

def table() -> list[tuple[str, str, str]]:
    """(message, route, fallback) for every message; "none" where there is no fallback."""
    return [(name, route, FALLBACKS.get(route, "none")) for name, route in ROUTES.items()]
''',
    )
    work.replace(
        CLI,
        "from wirespec import capture, catalog, report\n",
        "from wirespec import capture, catalog, report, routes\n",
    )
    work.replace(
        CLI,
        '"""Command line: encode, decode, describe, report."""',
        '"""Command line: encode, decode, describe, report, routes."""',
    )
    work.insert_after(
        CLI,
        "    one.set_defaults(run=_report)\n",
        """
    one = commands.add_parser("routes", help="list which route carries which message")
    one.set_defaults(run=_routes)
""",
    )
    work.append(
        CLI,
        """

def _routes(options: argparse.Namespace) -> str:
    lines = []
    for message, route, fallback in routes.table():
        otherwise = "" if fallback == "none" else f" (else {fallback})"
        lines.append(f"{message} -> {route}{otherwise}\\n")
    return "".join(lines)
""",
    )


def s3(work, notes):
    route = notes.recall("dotted", about="parking route", path=ROUTES) or "parking.frames"
    account = notes.recall("dotted", about="parking route broker accounts", path=ACCOUNTS) or route
    park(work, route)
    document(work, route)
    work.insert_after(
        ACCOUNTS,
        "allow collector publish alarms.page\n",
        f"allow collector publish {account}\n",
    )
    work.insert_after(
        ACCOUNTS,
        "allow support read alarms.page\n",
        f"allow support read {account}\n",
    )


def park(work, route):
    work.replace(
        ROUTES,
        "from wirespec.catalog import message_named\n",
        "from wirespec.catalog import message_named\n"
        "from wirespec.codec import decode\n"
        "from wirespec.errors import WireError\n",
    )
    work.insert_after(
        ROUTES,
        'URGENT_ROUTE = "alarms.page"\n',
        f'PARKING_ROUTE = "{route}"\n',
    )
    work.insert_after(
        ROUTES,
        '    "telemetry.live": "telemetry.bulk",\n',
        '    "telemetry.bulk": PARKING_ROUTE,\n',
    )
    work.replace(
        ROUTES,
        '''    """(message, route, fallback) for every message; "none" where there is no fallback."""
    return [(name, route, FALLBACKS.get(route, "none")) for name, route in ROUTES.items()]
''',
        '''    """(message, route, fallback) for every message, then for refused frames; "none" is none."""
    carried = {**ROUTES, "(refused)": PARKING_ROUTE}
    return [(name, route, FALLBACKS.get(route, "none")) for name, route in carried.items()]


def target_for(data: bytes) -> str | None:
    """Where a received frame is published; None for one that its sender will repeat."""
    try:
        frame = decode(data)
    except WireError as error:
        return None if error.retry else PARKING_ROUTE
    return route_for(frame.name, urgent=frame.urgent)
''',
    )


def document(work, route):
    work.replace(
        DOCS,
        "| `telemetry.bulk` | `log_chunk` | none |\n",
        f"| `telemetry.bulk` | `log_chunk` | `{route}` |\n",
    )
    work.append(DOCS, f"| `{route}` | refused frames | none |\n")
