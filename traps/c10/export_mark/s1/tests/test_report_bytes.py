import wirespec
from wirespec.capture import Entry
from wirespec.report import render_text, summarise

ACK = wirespec.encode("ack", {"ref": 1})
HELLO = wirespec.encode("hello", {"unit": "Göteborg-3", "firmware": 1, "boots": 1})


def entries(*frames):
    return [Entry(1000 * number, "up", data) for number, data in enumerate(frames)]


def test_sizes_are_whole_frames():
    summary = summarise(entries(ACK, HELLO, ACK, b"XX"))
    assert summary.sizes == {"ack": 2 * len(ACK), "hello": len(HELLO)}


def test_heaviest_first():
    text = render_text(summarise(entries(ACK, ACK, HELLO)))
    assert text.splitlines()[1:] == [
        "  ack: 2",
        "  hello: 1",
        "  bytes: 58, of them hello 30, ack 28",
    ]


def test_refused_frames_have_no_size():
    text = render_text(summarise(entries(b"XX")))
    assert text == "1 frames in 0.0 s\n  refused, bad_magic: 1\n"
