"""One function a verb: fields of the body in, body of the response out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quaybook.errors import BadRequest, QuayError
from quaybook.model import Vessel
from quaybook.service import Harbour
from quaybook.wire import Fields, Request, Response, refusal

Handler = Callable[[Harbour, Fields], dict[str, Any]]


def answer(harbour: Harbour, request: Request) -> Response:
    """The response to one request; a refusal is a response, too."""
    try:
        handler = VERBS.get(request.verb)
        if handler is None:
            raise BadRequest(f"no verb {request.verb}")
        return Response(request.id, ok=True, body=handler(harbour, Fields(request.body)))
    except QuayError as error:
        return refusal(request.id, error)


def vessel_register(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    vessel = Vessel(
        reg=fields.text("reg"),
        name=fields.text("name"),
        length_cm=fields.number("length_cm"),
        home=fields.flag("home"),
        insured_until=fields.day_or_none("insured_until"),
    )
    return {"reg": harbour.register(vessel).reg}


def vessel_show(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    vessel = harbour.vessel(fields.text("reg"))
    return {
        "reg": vessel.reg,
        "name": vessel.name,
        "length_cm": vessel.length_cm,
        "home": vessel.home,
        "insured_until": vessel.insured_until.isoformat() if vessel.insured_until else None,
    }


def berth_free(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    found = harbour.free_berths(fields.number("length_cm", 0), fields.number("draught_cm", 0))
    return {"berths": [berth.name for berth in found]}


def berth_depth(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    berth = fields.text("berth")
    place = harbour.depth(berth)
    return {"berth": berth, "depth_cm": place.depth_cm, "since": place.since}


def stay_open(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    stay = harbour.open_stay(fields.text("reg"), fields.text("berth"), fields.day("day"))
    return {"stay": stay.id, "berth": stay.berth}


def stay_close(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    charge = harbour.close_stay(fields.number("stay"), fields.day("day"))
    return {"cents": charge.cents, "reason": charge.reason}


def stay_list(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    return {
        "stays": [
            {
                "stay": stay.id,
                "reg": stay.reg,
                "berth": stay.berth,
                "opened": stay.opened.isoformat(),
                "class": stay.dues_class,
            }
            for stay in harbour.open_stays()
        ]
    }


def dues_list(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    charges = harbour.charges(fields.day("since"), fields.day("until"))
    return {
        "charges": [
            {"stay": one.stay, "day": one.day.isoformat(), "cents": one.cents, "reason": one.reason}
            for one in charges
        ]
    }


VERBS: dict[str, Handler] = {
    "vessel.register": vessel_register,
    "vessel.show": vessel_show,
    "berth.free": berth_free,
    "berth.depth": berth_depth,
    "stay.open": stay_open,
    "stay.close": stay_close,
    "stay.list": stay_list,
    "dues.list": dues_list,
}
