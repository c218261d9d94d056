"""Messages about parcels: written to the outbox first, handed to a transport later."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from parcels.errors import TransportError
from parcels.model import Parcel, Scan
from parcels.store import Queued, Store

GENERAL = "general"
DEPOTS = ("<< new_channel >>", "<< old_channel >>")
REFERENCE_LENGTH = 30


@dataclass(frozen=True)
class Message:
    channel: str
    number: str
    subject: str
    body: str


class Transport(Protocol):
    def send(self, message: Queued) -> None:
        """Hand the message over or raise TransportError."""


class FileTransport:
    """Appends one JSON object a line; the mail relay picks the file up."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, message: Queued) -> None:
        line = json.dumps(
            {
                "channel": message.channel,
                "number": message.number,
                "subject": message.subject,
                "body": message.body,
            },
            ensure_ascii=False,
        )
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
        except OSError as error:
            raise TransportError(f"cannot write {self._path}: {error.strerror}") from error


def delivered_message(parcel: Parcel, place: str) -> Message:
    return Message(
        GENERAL,
        parcel.number,
        _subject(parcel, "was delivered"),
        f"{parcel.recipient.name} has the parcel. Last scan: {place}.",
    )


def returned_message(parcel: Parcel, place: str) -> Message:
    return Message(
        GENERAL,
        parcel.number,
        _subject(parcel, "comes back"),
        f"It could not be delivered to {parcel.recipient.name}. Last scan: {place}.",
    )


def late_message(channel: str, last: Scan, days: int) -> Message:
    """Tells the depot desk that nobody has seen the parcel since its `last` scan."""
    return Message(
        channel,
        last.number,
        f"Parcel {last.number}: no scan since {last.day.isoformat()}",
        f"Last seen at {last.place}, {days} days ago.",
    )


def _subject(parcel: Parcel, what: str) -> str:
    """One line: the number, what happened, and the customer's reference if there is one."""
    subject = f"Parcel {parcel.number} {what}"
    reference = " ".join(parcel.reference.split())
    if len(reference) > REFERENCE_LENGTH:
        reference = reference[: REFERENCE_LENGTH - 1] + "…"
    return f"{subject} ({reference})" if reference else subject


def queue(store: Store, message: Message) -> int:
    return store.queue(message.channel, message.number, message.subject, message.body)


def flush(store: Store, transport: Transport) -> int:
    """Send what is pending, oldest first; the number of messages sent."""
    sent = 0
    for message in store.pending():
        transport.send(message)
        store.mark_sent(message.id)
        sent += 1
    return sent
