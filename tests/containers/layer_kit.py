"""What the tests of layers share: a small layer made by hand, and one that is built from the registries."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from containers.building import normalise, tree_digest
from containers.layer import Layer, Recipe
from containers.sandbox import Channel, Limits, Mount, Result, Sandbox, Spec

RECIPE = Recipe(pip=("cowsay==6.1",), npm=("is-number@7.0.0",))


def by_hand(place: Path, files: Mapping[str, str]) -> Layer:
    """A layer of `files`, those below bin executable, in a directory with a telling name below `place`."""
    directory = place / "a-telling-name"
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name.startswith("bin/") else 0o644)
    normalise(directory)
    return Layer(directory, tree_digest(directory), {})


def sh(sandbox: Sandbox, script: str, layer: Layer | None, limits: Limits | None = None) -> Result:
    spec = Spec(("sh", "-c", script), mounts={"/work": Mount(writable=True)}, limits=limits or Limits(wall=60))
    return sandbox.run(replace(spec, layer=layer))


@dataclass
class Layered:
    """A sandbox that shows `layer` to everything: what is asked of a sandbox can be asked of one with a layer."""

    sandbox: Sandbox
    layer: Layer
    name: str = "layered"

    @property
    def python(self) -> str:
        return self.sandbox.python

    def describe(self) -> Mapping[str, str]:
        return self.sandbox.describe()

    def run(self, spec: Spec) -> Result:
        return self.sandbox.run(replace(spec, layer=self.layer))

    def talk(self, spec: Spec) -> Channel:
        return self.sandbox.talk(replace(spec, layer=self.layer))
