import pytest

from boltons.queueutils import HeapPriorityQueue, SortedPriorityQueue


@pytest.fixture(params=[HeapPriorityQueue, SortedPriorityQueue])
def queue(request):
    queue = request.param()
    for task, priority in (('low', 0), ('high', 9), (1j, 4), ('mid', 4), ('gone', 7)):
        queue.add(task, priority)
    queue.remove('gone')
    return queue


def test_in(queue):
    assert 'mid' in queue
    assert 'gone' not in queue
    assert 'never' not in queue
    assert queue.pop() == 'high'
    assert 'high' not in queue


def test_order(queue):
    assert list(queue) == ['high', 1j, 'mid', 'low']
    queue.add('low', 20)
    assert list(queue) == ['low', 'high', 1j, 'mid']


def test_nothing_is_removed(queue):
    shown = list(queue)
    assert len(queue) == 4
    assert [queue.pop() for _ in range(4)] == shown
    assert list(queue) == []
