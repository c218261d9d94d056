"""Batches in which the warehouse loads what runs have booked. A batch belongs to a slot, not to a time of day."""

from __future__ import annotations

from datetime import date, datetime, timedelta

PREFIX = "<< prefix >>"
BEGINS = timedelta(minutes=0)  # of a day in the books, after midnight
SATURDAY = 5


def batch_for(slot: datetime) -> str:
    """The name of the batch that a run for `slot` belongs to."""
    return f"{PREFIX}/{book_day(slot).isoformat()}"


def book_day(slot: datetime) -> date:
    """The day to which the books count `slot`; they have no weekends."""
    day = (slot - BEGINS).date()
    if day.weekday() >= SATURDAY:
        day += timedelta(days=7 - day.weekday())
    return day
