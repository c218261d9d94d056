"""Sandboxes around a sandbox, for gates: one that does not run the same thing twice.

Invariant: what is changed is said by the class; everything else is the sandbox inside, which stays open.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Self

from containers.sandbox import Channel, Result, Sandbox, Spec
from harness.once import Once


class Around:
    """A Sandbox that does what the one inside does."""

    def __init__(self, box: Sandbox) -> None:
        self._box, self.name = box, box.name

    @property
    def python(self) -> str:
        return self._box.python

    def describe(self) -> Mapping[str, str]:
        return self._box.describe()

    def run(self, spec: Spec) -> Result:
        return self._box.run(spec)

    def talk(self, spec: Spec) -> Channel:
        return self._box.talk(spec)

    def close(self) -> None:
        """The sandbox inside stays open: it is the caller's."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Remembered(Around):
    """A sandbox that runs a spec once and then tells its result again. Thread-safe.

    Instruments show their items in S3 alone, so that S1 and S2 of a trap's instrument arms are one and the same run;
    whether a run always ends alike is asked by gate `stable`, which does not use this.
    """

    def __init__(self, box: Sandbox) -> None:
        super().__init__(box)
        self._results: Once[Result] = Once()

    def run(self, spec: Spec) -> Result:
        return self._results.get(_key(spec), lambda: self._box.run(spec))[0]


def _key(spec: Spec) -> tuple[object, ...]:
    """Everything that a run depends on."""
    mounts = ((path, m.writable, hashlib.sha256(m.tar).digest()) for path, m in sorted(spec.mounts.items()))
    env = tuple(sorted(spec.env.items()))
    layer = spec.layer and spec.layer.digest
    return spec.command, spec.stdin, tuple(mounts), spec.exports, env, spec.cwd, spec.limits, spec.endpoint, layer
