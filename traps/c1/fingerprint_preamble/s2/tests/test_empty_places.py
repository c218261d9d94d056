import pytest

from crumb.check import check


@pytest.mark.parametrize(
    ("files", "texts"),
    [
        ({}, []),
        ({"shops/quay.toml": 'of = "coast"\n'}, ["shops/quay.toml: warning: no oven stands here"]),
        ({"regions/plain.toml": ""}, ["regions/plain.toml: warning: no shop stands here"]),
        (
            {"regions/plain.toml": "", "shops/quay.toml": 'of = "plain"\n'},
            ["shops/quay.toml: warning: no oven stands here"],
        ),
        (
            {"regions/plain.toml": "", "shops/quay.toml": 'of = "plain"\n', "ovens/quay-1.toml": 'of = "quay"\n'},
            [],
        ),
    ],
)
def test_places_where_nothing_stands(make_book, files, texts):
    assert [str(problem) for problem in check(make_book(files))] == texts


def test_they_are_sorted_in(make_book):
    files = {"shops/quay.toml": 'of = "coast"\n[gas]\nlimit = 9\n', "company.toml": "[roof]\nslope = 1\n"}
    assert [problem.source for problem in check(make_book(files))] == [
        "company.toml",
        "shops/quay.toml",
        "shops/quay.toml",
    ]
