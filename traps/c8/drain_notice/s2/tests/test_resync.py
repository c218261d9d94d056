import wirespec

ONE = wirespec.encode("ack", {"ref": 1})
TWO = wirespec.encode("ack", {"ref": 2})


def refs(reader, data):
    return [frame.values["ref"] for frame in reader.feed(data)]


def test_garbage_between_frames():
    reader = wirespec.FrameReader()
    assert refs(reader, ONE + b"noise" + TWO) == [1, 2]
    assert (reader.skipped, reader.pending) == (5, 0)


def test_damaged_frame_is_skipped():
    reader = wirespec.FrameReader()
    damaged = ONE[:-1] + bytes([ONE[-1] ^ 1])
    assert refs(reader, damaged + TWO) == [2]
    assert reader.skipped == len(damaged)


def test_impossible_length_is_skipped():
    reader = wirespec.FrameReader()
    assert refs(reader, b"WS\x03\x00\x00\x30\x00\x00\xff\xff" + TWO) == [2]


def test_half_a_magic_number_is_kept():
    reader = wirespec.FrameReader()
    assert refs(reader, b"xxx" + ONE[:1]) == []
    assert reader.pending == 1
    assert refs(reader, ONE[1:]) == [1]
    assert reader.skipped == 3


def test_nothing_is_skipped_in_a_clean_stream():
    reader = wirespec.FrameReader()
    assert refs(reader, ONE + TWO[:4]) == [1]
    assert (reader.skipped, reader.pending) == (0, 4)
