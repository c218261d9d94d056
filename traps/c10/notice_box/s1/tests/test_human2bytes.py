import pytest

from boltons.strutils import bytes2human, human2bytes


@pytest.mark.parametrize(('text', 'size'), [
    ('0', 0), ('17', 17), ('17B', 17), ('126K', 129024), ('1.5 G', 1610612736), ('95m', 99614720),
    (' 2 T ', 2199023255552), ('1.0005K', 1025), ('.5k', 512), ('-1K', -1024), ('-0.5', -1), ('+3', 3),
])
def test_sizes(text, size):
    found = human2bytes(text)
    assert found == size
    assert type(found) is int


@pytest.mark.parametrize('text', ['', 'K', '1KB', '1.2.3', '1 2', 'ten', '1e3', '--1', '1 X'])
def test_what_is_no_size(text):
    with pytest.raises(ValueError) as caught:
        human2bytes(text)
    assert repr(text) in str(caught.value)


def test_there_and_back():
    for power in range(0, 70, 10):
        assert human2bytes(bytes2human(2 ** power * 3)) == 2 ** power * 3
