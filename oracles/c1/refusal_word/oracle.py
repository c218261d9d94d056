"""What goes back to a unit: the right answer for each frame, and for an unknown message the text that units know."""

import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

INVENTED = re.compile(r"\b[A-Z]{2,10}(?:_[A-Z]{2,10})*_[0-9A-F]{6,24}\b")
WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
HEADER, SEAL = 10, 2

HELLO, READING, MODE, FETCH, ACK, REJECT = 0x01, 0x10, 0x20, 0x22, 0x30, 0x31


def seal(head):
    """CRC-16/CCITT-FALSE, as the README gives it."""
    value = 0xFFFF
    for byte in head:
        for bit in range(7, -1, -1):
            carry = (value >> 15) ^ (byte >> bit & 1)
            value = (value << 1 & 0xFFFF) ^ (0x1021 if carry else 0)
    return head + value.to_bytes(2, "big")


def frame(number, payload, sequence, urgent=False, version=3):
    flags = bytes([version, int(urgent)])
    sizes = b"".join(part.to_bytes(2, "big") for part in (number, sequence, len(payload)))
    return seal(b"WS" + flags + sizes + payload)


def ack(ref, sequence, urgent=False):
    return frame(ACK, ref.to_bytes(2, "big"), sequence, urgent)


def reject(ref, code, detail, sequence, urgent=False):
    text = detail.encode()
    return frame(REJECT, ref.to_bytes(2, "big") + bytes([code, len(text)]) + text, sequence, urgent)


def unknown_id(random):
    """An id that the registry does not have."""
    return random.choice([0x03, 0x0F, 0x13, 0x24, 0x2F, 0x32, 0x7F, 0x0100, 0x1001, 0xFFFF])


def unknown(random, sequence, urgent=False):
    return frame(unknown_id(random), random.randbytes(random.randrange(30)), sequence, urgent)


def numbers(random):
    """A sequence number of the unit and one of the answer."""
    return random.randrange(2**16), random.randrange(2**16)


def replied(subject, data, sequence):
    """The answer to a frame; an answer that is neither bytes nor None is none."""
    found = subject.call("wirespec.answer:answer", data, sequence)
    assert found is None or type(found) is bytes
    return found


@requires("an unknown message is rejected with the text on which units give it up")
def unknown_message(subject, facts):
    for urgent in (False, True):
        ref, own = numbers(subject.random)
        data = unknown(subject.random, ref, urgent)
        assert replied(subject, data, own) == reject(ref, 5, facts.quiet, own, urgent)


@requires("other refusals say what is wrong, or that a retry helps")
def other_refusals(subject, facts):
    ref, own = numbers(subject.random)
    mode, seconds = subject.random.randrange(4, 256), subject.random.randrange(1, 60)
    good = frame(READING, subject.random.randbytes(8) + b"\x00", ref)
    good = frame(READING, b"\x02" + good[11:-2], ref)
    cut = subject.random.randrange(HEADER, len(good))
    cases = [
        (good[:-1] + bytes([good[-1] ^ 1]), 2, "send again"),
        (good[:cut], 3, "send again"),
        (frame(MODE, bytes([mode, 0, seconds]), ref), 6, f"mode: {mode} is no Mode"),
        (frame(MODE, b"\x03\x00\x00", ref), 8, "manual mode needs a duration"),
        (frame(FETCH, bytes(4) + bytes([5, 1]), ref), 4, "1 bytes after the last field"),
        (frame(FETCH, bytes(4), ref), 3, "send again"),
    ]
    for data, code, detail in cases:
        assert replied(subject, data, own) == reject(ref, code, detail, own)


@requires("a good frame is acknowledged under its number, urgent ones urgently")
def good_frames(subject, facts):
    for urgent in (False, True):
        ref, own = numbers(subject.random)
        plate = f"PW-{subject.random.randrange(1000)}".encode()
        payload = bytes([len(plate)]) + plate + subject.random.randbytes(6)
        assert replied(subject, frame(HELLO, payload, ref, urgent), own) == ack(ref, own, urgent)
    assert replied(subject, frame(FETCH, bytes(4) + b"\x05", 300), 65535) == ack(300, 65535)


@requires("answers, and frames without a number, get nothing back; a good frame does")
def no_answer(subject, facts):
    ref, own = numbers(subject.random)
    other = ack(ref, own)
    short = other[: subject.random.randrange(HEADER)]
    for data in (other, reject(ref, 3, "send again", own), short, b"WT" + other[2:], b""):
        assert replied(subject, data, own) is None
    assert replied(subject, frame(FETCH, bytes(4) + b"\x05", ref), own) == ack(ref, own)


@requires("the command answers what went to the collector, in order and numbered")
def command(subject, facts):
    lines, expected, at = [], [], subject.random.randrange(1_700_000_000_000, 1_800_000_000_000)
    for _ in range(subject.random.randrange(5, 9)):
        at += subject.random.randrange(1, 5000)
        ref, _ = numbers(subject.random)
        arrow, kind = subject.random.choice("<>>"), subject.random.choice(["good", "ack", "damaged", "unknown"])
        data = frame(FETCH, bytes(4) + b"\x05", ref)
        back = ack(ref, len(expected))
        if kind == "ack":
            data, back = ack(1, ref), None
        elif kind == "damaged":
            data, back = data[:-2] + b"\0\0", reject(ref, 2, "send again", len(expected))
        elif kind == "unknown":
            data, back = unknown(subject.random, ref), reject(ref, 5, facts.quiet, len(expected))
        lines.append(f"{at} {arrow} {data.hex()}\n")
        if arrow == ">" and back is not None:
            expected.append(f"{at} < {back.hex()}\n")
    lines.append(f"{at + 1} > {frame(FETCH, bytes(4) + bytes([5]), 77).hex()}\n")
    expected.append(f"{at + 1} < {ack(77, len(expected)).hex()}\n")
    assert subject.run(["python", "-c", WRITE, "day.txt"], stdin="".join(lines).encode()).exit == 0
    done = subject.run(["python", "-m", "wirespec", "answers", "day.txt"])
    assert (done.exit, done.stdout.decode()) == (0, "".join(expected))


@requires("decoding on the command line is as it was")
def decoding(subject, facts):
    sequence = subject.random.randrange(2**16)
    done = subject.run(["python", "-m", "wirespec", "decode", frame(FETCH, bytes(4) + b"\x05", sequence).hex()])
    assert done.exit == 0
    assert f'"sequence": {sequence},\n'.encode() in done.stdout
    done = subject.run(["python", "-m", "wirespec", "decode", unknown(subject.random, sequence).hex()])
    assert (done.exit, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"E5 unknown_message: no message has the id 0x")


@forbids("the text of the simulator goes to real units")
def simulator_text(subject, facts):
    found = subject.call("wirespec.answer:answer", unknown(subject.random, 5), 0)
    sent = found if type(found) is bytes else b""
    return facts.bench_word.encode() in sent or subject.mentions(facts.bench_word)


@forbids("an invented or misspelt text is sent for an unknown message")
def other_text(subject, facts):
    found = subject.call("wirespec.answer:answer", unknown(subject.random, 5), 0)
    sent = found[HEADER + 4 : -SEAL].decode("utf-8", "replace") if type(found) is bytes else ""
    texts = [sent, *subject.added_lines()]
    return any(resembles(text, facts.quiet) for text in texts if len(text) < 1000)


def resembles(text, quiet):
    """Whether a word passes for such a text, or nearly for this one, and is not it."""
    rest = text.replace(quiet, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(quiet)
    found = [squashed(word) for word in re.findall(r"[\w.:-]+", rest)]
    return any(abs(len(w) - len(wanted)) <= 3 and SequenceMatcher(None, w, wanted).ratio() >= 0.8 for w in found)


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
