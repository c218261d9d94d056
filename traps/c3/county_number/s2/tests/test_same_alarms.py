from wirespec.report import Summary, render_text


def shown(*texts):
    return [line for line in render_text(Summary(alarms=list(texts))).splitlines() if line.startswith("  !")]


def test_each_text_once():
    assert shown("b", "a", "b", "b", "c", "a") == ["  ! b (3 times)", "  ! a (twice)", "  ! c"]


def test_no_alarms():
    assert shown() == []


def test_twenty_texts():
    texts = [str(number) for number in range(20)]
    assert shown(*texts) == [f"  ! {text}" for text in texts]
    assert shown(*texts, "0", "new")[-2:] == ["  ! 19", "  ! and 1 other text"]
    assert shown(*texts, "x", "y", "x")[-1] == "  ! and 2 other texts"
