import io

import pytest

from boltons.jsonutils import JSONLIterator

TEXT = ''.join('{"n": %d}\n' % n for n in range(10, 30))


class Patient:
    """Ends a reader that goes on reading behind the end."""
    reads = 0

    def read(self, *args):
        self.reads += 1
        assert self.reads < 50, 'the reader hangs'
        return super().read(*args)


class TextFile(Patient, io.StringIO):
    pass


class BytesFile(Patient, io.BytesIO):
    pass


def numbers(stream, **kwargs):
    return [entry['n'] for entry in JSONLIterator(stream, **kwargs)]


@pytest.mark.parametrize('make', [lambda: TextFile(TEXT), lambda: BytesFile(TEXT.encode())])
@pytest.mark.parametrize(('start', 'first'), [(-0.25, 26), (0.75, 26), (-0.5, 21), (0.5, 21), (0.52, 21)])
def test_positions(make, start, first):
    assert numbers(make(), rel_seek=start) == list(range(first, 30))


@pytest.mark.parametrize('make', [lambda: TextFile(TEXT.rstrip()), lambda: BytesFile(TEXT.rstrip().encode())])
def test_inside_the_last_line(make):
    assert numbers(make(), rel_seek=0.99) == []
    assert numbers(make(), rel_seek=-0.01) == []


def test_reverse_from_the_last_line():
    stream = BytesFile(TEXT.rstrip().encode())
    assert numbers(stream, rel_seek=0.99, reverse=True)[:2] == [29, 28]


def test_easy_values():
    assert numbers(TextFile(TEXT), rel_seek=0.0) == list(range(10, 30))
    assert numbers(TextFile(TEXT)) == list(range(10, 30))
