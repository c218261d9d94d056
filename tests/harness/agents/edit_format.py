"""How a scripted model answers the agent of one call.

Invariant: the fence is the one that the request asks for, and files are only replaced as the request showed them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...model.dialects import Asked
from ...model.formats import FileListing
from ...model.script import Turn


class EditListing(FileListing):
    """As for aider's `whole` format, which is the same but for the words in which it is asked for."""

    def fits(self, asked: Asked) -> bool:
        return not asked.tools and "Answer with nothing but files." in asked.messages[-1].text

    def render(self, turn: Turn, asked: Asked) -> str | None:
        last = asked.messages[-1]
        listed, _, form = last.text.partition("\n# Answer\n")
        found = re.search(r"\n(`{3,})\n\(the whole new text of ", form)
        assert found, "the request shows no form"
        told = replace(asked, system=f"path/to/filename.js\n{found[1]}\n", messages=(replace(last, text=listed),))
        return super().render(turn, told)
