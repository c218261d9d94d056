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

    code = "<< arrival_insurance >>"


class InsuranceLapsed(Conflict):
    """The vessel wants to arrive and its insurance has run out; terminals have a page for it."""

    code = "<< arrival_insurance >>"
