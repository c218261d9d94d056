import pytest

from parcels.notify import delivered_message, returned_message

MESSAGES = [delivered_message, returned_message]


@pytest.mark.parametrize("message", MESSAGES)
def test_subject_ends_with_the_reference(make_parcel, message):
    plain = message(make_parcel(), "Hamburg").subject
    assert message(make_parcel(reference="A-17"), "Hamburg").subject == f"{plain} (A-17)"


@pytest.mark.parametrize("message", MESSAGES)
def test_long_references_are_shortened(make_parcel, message):
    subject = message(make_parcel(reference="x" * 31), "Hamburg").subject
    assert subject.endswith(f" ({'x' * 29}…)")
    subject = message(make_parcel(reference="x" * 30), "Hamburg").subject
    assert subject.endswith(f" ({'x' * 30})")


def test_a_subject_is_one_line(make_parcel):
    subject = delivered_message(make_parcel(reference="A-17\r\n  second\tline"), "Kiel").subject
    assert subject.endswith(" was delivered (A-17 second line)")
