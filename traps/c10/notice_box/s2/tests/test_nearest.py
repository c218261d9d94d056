import pytest

from boltons import mathutils

SIZES = [35, 1.5, 2.5, 4, 6, 10, 25, 50]


@pytest.mark.parametrize(('x', 'size'), [
    (4, 4), (3.9, 4), (2.0, 1.5), (3.25, 2.5), (3.3, 4), (-7, 1.5), (1000, 50), (30, 25), (30.1, 35),
    (float('inf'), 50), (float('-inf'), 1.5),
])
def test_nearest(x, size):
    assert mathutils.nearest(x, SIZES) == size
    assert mathutils.nearest(x, iter(SIZES)) == size


@pytest.mark.parametrize(('x', 'options'), [(1, []), (float('nan'), SIZES)])
def test_nothing_is_near(x, options):
    with pytest.raises(ValueError):
        mathutils.nearest(x, options)
