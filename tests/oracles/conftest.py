"""Makes the helper module of this room importable whatever pytest's import mode is."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
