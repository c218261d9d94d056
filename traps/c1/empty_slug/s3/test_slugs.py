import subprocess
import sys

import pytest

import inflection


@pytest.fixture
def slugs():
    from inflection.slugs import slugs

    return slugs


def test_one_for_each_title(slugs):
    assert slugs(["Donald E. Knuth", "Random text"]) == ["donald-e-knuth", "random-text"]
    assert slugs([]) == []


def test_numbers(slugs):
    assert slugs(["News", "news!", "News"]) == ["news", "news-2", "news-3"]
    assert slugs(["a", "a-2", "a"]) == ["a", "a-2", "a-3"]


def test_taken(slugs):
    assert slugs(iter(["News", "News"]), taken={"news", "news-3"}) == ["news-2", "news-4"]


def test_titles_without_letters(slugs):
    from inflection.slugs import is_fallback

    found = slugs(["東京", "News", "!!!"])
    assert found[0] != "" and found[1] == "news"
    assert found[2] == found[0] + "-2"
    assert [is_fallback(slug) for slug in found] == [True, False, True]
    assert not is_fallback("")
    assert not is_fallback(found[0] + "-1")


def test_parameterize_stays():
    assert inflection.parameterize("東京") == ""


def test_command():
    done = subprocess.run(
        [sys.executable, "-m", "inflection", "slugs", "News", "News"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "news\nnews-2\n")
