"""The semantic score by an embedder, in place of shared words.

Invariant: it is a function of the question's text and the memories' texts, 0..1, and writes nothing.
"""

from __future__ import annotations

from memory_probe.embed import Embedder
from memory_probe.read.candidates import Asked
from memory_probe.read.score import Semantic
from memory_probe.store.columns import Array
from memory_probe.store.view import StoreView


def near(embedder: Embedder) -> Semantic:
    """Cosine of each memory's text with the prompt and the task, 0 where it points away. Loads the embedder.

    Raises MemoryFault as `Embedder.ready`.
    """
    embedder.ready()

    def measure(view: StoreView, ask: Asked) -> Array:
        texts = [view.memory(number).content for number in view.ids()]
        return embedder.cosines(f"{ask.query.prompt} {ask.query.task}", texts)

    return measure
