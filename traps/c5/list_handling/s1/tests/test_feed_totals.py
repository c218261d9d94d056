import io
import json
from dataclasses import replace

from parcels import export
from parcels.model import Status


def feed(parcels):
    stream = io.StringIO()
    export.write("feed", parcels, stream)
    return json.loads(stream.getvalue())


def test_sums_by_carrier(make_parcel):
    parcels = [
        make_parcel(1, grams=900),
        make_parcel(2, carrier="kurier", grams=30_000),
        make_parcel(3, grams=1100),
    ]
    totals = feed(parcels)["totals"]
    assert totals == {
        "kurier": {"parcels": 1, "grams": 30_000},
        "nordpost": {"parcels": 2, "grams": 2000},
    }
    assert list(totals) == ["kurier", "nordpost"]


def test_only_what_is_on_the_list_counts(make_parcel):
    done = replace(make_parcel(1), status=Status.DELIVERED)
    assert feed([done])["totals"] == {}


def test_the_rest_stays(make_parcel):
    data = feed([make_parcel(1)])
    assert (data["version"], len(data["parcels"])) == (2, 1)
