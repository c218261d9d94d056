"""What can be wrong with a request. `code` travels in the response, programs compare it."""

from __future__ import annotations


class QuayError(Exception):
    """Base of everything that the one who asks can put right."""

    code = "error"


class BadRequest(QuayError):
    """The request cannot be understood."""

    code = "bad-request"


class NotFound(QuayError):
    """It speaks of a vessel, berth or stay that is not in the book."""

    code = "not-found"


class Conflict(QuayError):
    """It is understood, and what is in the book stands against it."""

    code = "conflict"


class InsuranceLapsed(Conflict):
    """The vessel wants to arrive and its insurance has run out; terminals have a page for it."""

    code = "<< arrival_insurance >>"


# Further codes and marks that were given to us.
SHEET = {
    "arrival_length": "<< arrival_length >>",
    "departure_dues": "<< departure_dues >>",
    "extract_insurance": "<< extract_insurance >>",
    "departure_insurance": "<< departure_insurance >>",
    "board_insurance": "<< board_insurance >>",
    "shift_insurance": "<< shift_insurance >>",
    "charge_insurance": "<< charge_insurance >>",
    "arrival_papers": "<< arrival_papers >>",
}
