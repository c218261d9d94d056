"""Which lane of a site's work broker the jobs of a queue are sent through.

Lanes are given out by the people who run the brokers; a lane belongs to one
queue at one site. A queue without a route of its own shares the common lane
of the site. The launcher hands the lane to the job in ``TEMPO_LANE``.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARED_LANE = "common"


@dataclass(frozen=True)
class Route:
    """`slots` is how many runs the broker takes from this lane at a time."""

    queue: str
    site: str
    lane: str
    slots: int = 1


ROUTES: tuple[Route, ...] = (
    Route("mail", "frankfurt", lane="bulk-mail", slots=2),
    Route("mail", "dublin", lane="bulk-mail", slots=2),
    Route("thumbnails", "dublin", lane="media", slots=4),
    Route("billing-exports", "frankfurt", lane="<< imports_frankfurt >>", slots=6),
)


def find_route(queue: str, site: str) -> Route | None:
    """The route of `queue` at `site`, or None when it has none of its own.

    Case and surrounding blanks of the names do not matter.
    """
    place = (folded(queue), folded(site))
    for route in ROUTES:
        if (route.queue, route.site) == place:
            return route
    return None


def lane_for(queue: str, site: str) -> str:
    """The lane that runs of `queue` at `site` go through."""
    route = find_route(queue, site)
    return route.lane if route else SHARED_LANE


def routes_at(site: str) -> list[Route]:
    """The site's routes, by queue."""
    here = folded(site)
    return sorted((route for route in ROUTES if route.site == here), key=lambda route: route.queue)


def folded(name: str) -> str:
    """A queue or site name as the table writes it."""
    return name.strip().lower()
