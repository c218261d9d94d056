"""An agent of one call: the files that a task names and the task go to a model, whole files come back and are written.

    python3 edit.py SETTINGS PROMPT      (in the tree; see `Settings`)

Prints JSON lines: what was shown, what was answered, what was written; the last one says `done` or `failed`. Exit
status 0 when the answer was taken, 1 when there was none or it could not be (stderr has the reason in one line).

Invariant: one call is made, whatever comes of it; nothing is written before the whole answer was found in order.
"""

from __future__ import annotations

import http.client
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .listing import Unusable, fence_for, read, show
from .named import is_test, named_files, new_files, read_text, task_of

_PIECE = 1 << 16
_LARGEST_ANSWER = 4 << 20  # bytes of the answer's body that are kept; the rest is read and dropped
_PRINTED = 64_000  # characters of what the model said

SYSTEM = (
    "You change files of a software project. You are given files and a task, and you answer with every file that you "
    "change or add, each as a whole. You cannot run anything, and nobody answers questions."
)
_ASK = """\
Answer with nothing but files. Write the whole new text of each file that changes and of each new file, from the first
line to the last; no tests. Give each file as a block, and above each block the path of the file:

{form}"""
_FORM = "(the whole new text of {path})\n"


@dataclass(frozen=True)
class Settings:
    """`url` is that of the chat completions; `heading` is the line below which notes stand in a prompt; `room` is how
    many bytes of files are shown; `most` and `seed` are the call's `max_tokens` and `seed`."""

    url: str
    model: str
    heading: str
    room: int
    most: int
    seed: int


class Failed(Exception):
    """Why there is no answer, in one line."""


def tell(event: str, **more: Any) -> None:
    """A line of the transcript."""
    print(json.dumps({"event": event, **more}), flush=True)


def choose(task: str, root: Path, room: int) -> tuple[dict[str, str], list[str]]:
    """(path -> text of the files to show, paths of named files that are too long for what room is left or no text)."""
    shown: dict[str, str] = {}
    left_out: list[str] = []
    for path in named_files(task, root):
        text = read_text(root / path, room)
        if text is None:
            left_out.append(path)
        else:
            shown[path] = text
            room -= len(text.encode())
    return shown, left_out


def messages(
    prompt: str, shown: Mapping[str, str], left_out: Sequence[str] = (), new: Sequence[str] = ()
) -> list[dict[str, str]]:
    """The conversation: files first, so that what is the same for several prompts comes first; the prompt as it is.

    Tests are named and not shown: small models give back the test that they see as the file that is wanted.
    """
    fence = fence_for([*shown.values(), prompt])
    sources = [path for path in shown if not is_test(path)]
    parts = ["# Files", *(show(path, shown[path], fence) for path in sources)]
    parts += [] if sources else ["(none is shown)"]
    unseen = [*left_out, *(path for path in shown if is_test(path))]
    parts += ["Not shown, and not to be changed: " + ", ".join(unseen)] if unseen else []
    parts += ["Not there yet: " + ", ".join(new)] if new else []
    path = [*new, *sources, "path/to/file.py"][0]
    parts += ["# Task", prompt.strip("\n")]
    parts += ["# Answer", _ASK.format(form=show(path, _FORM.format(path=path), fence))]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}]


def ask(settings: Settings, said: list[dict[str, str]]) -> str:
    """The model's text. Raises Failed."""
    body = {
        "model": settings.model,
        "messages": said,
        "temperature": 0,
        "seed": settings.seed,
        "max_tokens": settings.most,
    }
    status, data = _post(settings.url, json.dumps(body).encode())
    if len(data) > _LARGEST_ANSWER:
        raise Failed(f"the answer has more than {_LARGEST_ANSWER} bytes")
    try:
        answer = json.loads(data)
        if status != 200:
            raise Failed(f"the endpoint answers {status}: {_one_line(answer['error']['message'])}")
        choice = answer["choices"][0]
        text = choice["message"]["content"] or ""
        if not isinstance(text, str):
            raise TypeError("content")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise Failed(f"the answer is no chat completion (status {status})") from error
    tell(
        "answer", text=text[:_PRINTED], characters=len(text), end=choice.get("finish_reason"), usage=answer.get("usage")
    )
    return text


def _post(url: str, body: bytes) -> tuple[int, bytes]:
    """(status, body up to one piece more than is kept). Raises Failed."""
    parts = urlsplit(url)
    link = http.client.HTTPConnection(parts.hostname or "", parts.port)
    try:
        link.request("POST", parts.path, body, {"Content-Type": "application/json", "Accept": "application/json"})
        got = link.getresponse()
        kept = bytearray()
        while piece := got.read(_PIECE):
            if len(kept) <= _LARGEST_ANSWER:
                kept += piece
        return got.status, bytes(kept)
    except http.client.IncompleteRead as error:
        raise Failed("the answer broke off") from error
    except (http.client.HTTPException, OSError) as error:
        raise Failed(f"no answer: {type(error).__name__}") from error
    finally:
        link.close()


def write(root: Path, files: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, list[str]]:
    """Write what differs; the paths by what was done. Tests that were named are kept. Raises Unusable, OSError."""
    data = {path: text.encode() for path, text in files.items() if not (path in shown and is_test(path))}
    done: dict[str, list[str]] = {"changed": [], "added": [], "same": [], "kept": [p for p in files if p not in data]}
    if not data:
        raise Unusable("the answer holds no file but tests that stay as they are")
    for path in data:
        _check_place(root, path, data, shown)
    for path, new in data.items():
        target = root / path
        kind = "added" if path not in shown else "same" if new == target.read_bytes() else "changed"
        done[kind].append(path)
        if kind != "same":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(new)
    return done


def _check_place(root: Path, path: str, files: Collection[str], shown: Collection[str]) -> None:
    """Whether a file can be written there. Raises Unusable."""
    target = root / path
    above = [parent.as_posix() for parent in Path(path).parents][:-1]
    if any((root / name).is_symlink() for name in (*above, path)):
        raise Unusable(f"the answer names a file behind a link: {path}")
    if target.is_dir() or any((root / name).is_file() or name in files for name in above):
        raise Unusable(f"the answer has a file where a folder is, or a folder where a file is: {path}")
    if target.exists() and path not in shown:
        raise Unusable(f"the answer replaces a file that was not shown: {path}")


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:300]


def run(settings: Settings, prompt: str, root: Path) -> None:
    """The session. Raises Failed and Unusable."""
    task = task_of(prompt, settings.heading)
    shown, left_out = choose(task, root, settings.room)
    new = new_files(task, root)
    tests = [path for path in shown if is_test(path)]
    tell("files", shown=[path for path in shown if path not in tests], left_out=[*left_out, *tests], new=new)
    text = ask(settings, messages(prompt, shown, left_out, new))
    try:
        done = write(root, read(text, tuple(shown)), shown)
    except UnicodeEncodeError as error:
        raise Unusable("the answer holds what is no text") from error
    except OSError as error:
        raise Failed(f"a file cannot be written: {error.strerror}") from error
    tell("done", **done)


def main(arguments: list[str]) -> int:
    """See the module."""
    settings = Settings(**json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
    prompt = Path(arguments[1]).read_bytes().decode("utf-8")
    try:
        run(settings, prompt, Path.cwd())
    except (Failed, Unusable) as error:
        tell("failed", reason=str(error))
        print(error, file=sys.stderr)
        return 1
    return 0
