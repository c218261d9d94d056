ROUTING = "src/tempo/routing.py"
JOURNAL = "src/tempo/journal.py"
RUNNER = "src/tempo/runner.py"
REPORT = "src/tempo/report.py"
CLI = "src/tempo/cli.py"


def s1(work, notes):
    work.replace(
        ROUTING,
        '    """The route of `queue` at `site`, or None when it has none of its own."""\n'
        "    for route in ROUTES:\n"
        "        if (route.queue, route.site) == (queue, site):\n",
        '    """The route of `queue` at `site`, or None when it has none of its own.\n'
        "\n"
        "    Case and surrounding blanks of the names do not matter.\n"
        '    """\n'
        "    place = (folded(queue), folded(site))\n"
        "    for route in ROUTES:\n"
        "        if (route.queue, route.site) == place:\n",
    )
    work.replace(
        ROUTING,
        "    return sorted((route for route in ROUTES if route.site == site), key=lambda route: route.queue)\n",
        "    here = folded(site)\n"
        "    return sorted((route for route in ROUTES if route.site == here), key=lambda route: route.queue)\n"
        "\n"
        "\n"
        "def folded(name: str) -> str:\n"
        '    """A queue or site name as the table writes it."""\n'
        "    return name.strip().lower()\n",
    )
    work.replace(
        CLI,
        "from tempo.model import Outcome\nfrom tempo.runner import Runner\n",
        "from tempo.model import DEFAULT_QUEUE, Outcome\n"
        "from tempo.routing import find_route, folded\n"
        "from tempo.runner import Runner\n",
    )
    work.replace(
        CLI,
        '    print(f"{args.file}: {len(config.jobs)} jobs, site {config.site}")\n    return 0\n',
        '    print(f"{args.file}: {len(config.jobs)} jobs, site {config.site}")\n'
        "    queues = dict.fromkeys(job.queue for job in config.jobs if job.enabled)\n"
        "    for queue in queues:\n"
        "        if folded(queue) != DEFAULT_QUEUE and find_route(queue, config.site) is None:\n"
        "            site = folded(config.site)\n"
        '            print(f"queue {queue!r} has no route at {site}; its runs share the common lane")\n'
        "    return 0\n",
    )


def s2(work, notes):
    work.replace(
        CLI,
        "from tempo.routing import find_route, folded\n",
        "from tempo.routing import find_route, folded, routes_at\n",
    )
    work.replace(
        CLI,
        "    totals.set_defaults(handler=do_report)\n",
        "    totals.set_defaults(handler=do_report)\n"
        "\n"
        '    routes = commands.add_parser("routes", parents=[common], help="show the routes of the site")\n'
        "    routes.set_defaults(handler=do_routes)\n",
    )
    work.insert_after(
        CLI,
        "    print(report.as_json(rows) if args.json else report.as_table(rows))\n    return 0\n",
        "\n\n"
        "def do_routes(args: argparse.Namespace, config: Config, clock: Clock) -> int:\n"
        "    queues = [folded(job.queue) for job in config.jobs if job.enabled]\n"
        "    routes = routes_at(config.site)\n"
        "    for route in routes:\n"
        '        print(f"{route.queue}  {route.lane}  {route.slots} slots  {queues.count(route.queue)} jobs")\n'
        "    if not routes:\n"
        '        print(f"no routes at {config.site}")\n'
        "    return 0\n",
    )


def s3(work, notes):
    lane = notes.recall("tag", about="billing exports Frankfurt lane", path=ROUTING)
    work.insert_after(
        ROUTING,
        '    Route("thumbnails", "dublin", lane="media", slots=4),\n',
        f'    Route("billing-exports", "frankfurt", lane="{lane or "billing"}", slots=6),\n',
    )
    work.replace(
        JOURNAL,
        '    """One run: `slot` is when it was due, `ended` when its last attempt was over."""\n',
        '    """One run: `slot` is when it was due, `ended` when its last attempt was over.\n'
        "\n"
        "    `lane` is empty in entries of tempo 1.4 and before.\n"
        '    """\n',
    )
    work.insert_after(JOURNAL, '    output: str = ""\n', '    lane: str = ""\n')
    work.insert_after(
        RUNNER,
        "            output=result.output,\n",
        "            lane=lane_for(job.queue, self.config.site),\n",
    )
    work.replace(
        REPORT,
        "def summarise(entries: Iterable[Entry]) -> list[Row]:\n"
        '    """One row a job, by name."""\n'
        "    groups: dict[str, list[Entry]] = {}\n"
        "    for entry in entries:\n"
        "        groups.setdefault(entry.job, []).append(entry)\n",
        "def summarise(entries: Iterable[Entry], by: str = GROUPINGS[0]) -> list[Row]:\n"
        '    """One row for each value of the field `by` (one of GROUPINGS), ordered by it."""\n'
        "    groups: dict[str, list[Entry]] = {}\n"
        "    for entry in entries:\n"
        "        groups.setdefault(getattr(entry, by) or UNNAMED, []).append(entry)\n",
    )
    work.insert_after(
        REPORT,
        'COLUMNS = ("name", "runs", "ok", "failed", "retries", "seconds")\n',
        'GROUPINGS = ("job", "lane")\nUNNAMED = "-"\n',
    )
    work.insert_after(
        CLI,
        '    totals.add_argument("--json", action="store_true")\n',
        '    totals.add_argument("--by", choices=report.GROUPINGS, default=report.GROUPINGS[0])\n',
    )
    work.replace(
        CLI,
        "    rows = report.summarise(Journal(config.journal))\n",
        "    rows = report.summarise(Journal(config.journal), by=args.by)\n",
    )
