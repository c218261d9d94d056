import subprocess
import sys
from pathlib import Path

from quaybook._places import PLACES
from quaybook.service import BERTH_NAME, LONGEST_CM

ROOT = Path(__file__).parent.parent


def test_made_files_are_up_to_date():
    command = [sys.executable, "-B", "tools/mkplaces.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_places_can_be_berths():
    for name, place in PLACES.items():
        assert BERTH_NAME.fullmatch(name)
        assert 0 < place.max_cm <= LONGEST_CM
        assert place.depth_cm > 0
