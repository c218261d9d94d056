import pytest


@pytest.fixture
def module():
    import inflection.filenames

    return inflection.filenames


@pytest.mark.parametrize(
    ("title", "extension", "name"),
    [
        ("Donald E. Knuth", "txt", "donald-e-knuth.txt"),
        ("Opening hours", ".CSV", "opening-hours.csv"),
        ("Console", "txt", "console.txt"),
        ("COM10", "txt", "com10.txt"),
        ("lpt 1", "txt", "lpt-1.txt"),
    ],
)
def test_names(module, title, extension, name):
    assert module.file_name(title, extension) == name


def test_nothing_left(module):
    with pytest.raises(ValueError):
        module.file_name("!!!", "txt")


def test_many(module):
    found = module.file_names(iter(["Prices", "News", "Prices"]), "txt")
    assert list(found.items()) == [("Prices", "prices.txt"), ("News", "news.txt")]


def test_two_titles_one_file(module):
    with pytest.raises(ValueError) as caught:
        module.file_names(["News", "Prices", "News!"], "txt")
    assert "'News'" in str(caught.value) and "'News!'" in str(caught.value)


def test_there_is_an_error_for_reserved_names(module):
    assert issubclass(module.ReservedName, ValueError)
