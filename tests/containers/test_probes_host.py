"""The look from the outside: a mount that stays is ours, a mount of a neighbour that comes or goes is not."""

from __future__ import annotations

import secrets

import pytest

from containers import probes_host
from containers.docker import DockerSandbox
from containers.docker_engine import LABEL, connect
from containers.docker_neighbours import foreign_mounts
from containers.sandbox import Spec


def looks(monkeypatch: pytest.MonkeyPatch, *seen: set[str]) -> None:
    """Answers of successive looks at the mount table; the last one stays."""
    answers = list(seen)
    monkeypatch.setattr(probes_host, "_mounts", lambda: answers.pop(0) if len(answers) > 1 else answers[0])
    monkeypatch.setattr(probes_host, "_PATIENCE", 0.5)


def test_a_neighbours_container_that_ends_is_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, {"/", "/neighbour"}, {"/", "/neighbour"}, {"/"})
    assert probes_host._mounts_left({"/"}) == []


def test_a_neighbours_container_that_starts_later_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, {"/"}, {"/", "/later"})
    assert probes_host._mounts_left({"/"}) == []


def test_a_mount_that_stays_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, {"/", "/left"}, {"/", "/left", "/later"})
    assert probes_host._mounts_left({"/"}) == ["/left"]


@pytest.mark.docker
@pytest.mark.long
def test_a_container_that_lives_on_is_left_by_its_own_harness_alone(docker_image: str) -> None:
    before, label = probes_host._mounts(), f"neighbour-{secrets.token_hex(4)}"
    with DockerSandbox(docker_image, label) as box, box.talk(Spec(("sleep", "60"))):
        new = probes_host._mounts() - before
        own = held_by(label) & new
        assert own
        assert own <= foreign_mounts("", new)
        assert not own & foreign_mounts(label, new)
        assert not own & set(probes_host._mounts_left(before, "another-label"))
        assert own == set(probes_host._mounts_left(before, label))


def held_by(label: str) -> set[str]:
    """Mount points of the containers with a label, as the engine tells them."""
    client = connect()
    found = client.api.containers(all=True, filters={"label": f"{LABEL}={label}"})
    said = [client.api.inspect_container(entry["Id"]) for entry in found]
    client.close()
    layers = {each["GraphDriver"]["Data"]["MergedDir"] for each in said}
    spaces = {each["NetworkSettings"]["SandboxKey"].rsplit("/", 1)[-1] for each in said} - {""}
    return {mount for mount in probes_host._mounts() if mount in layers or mount.rsplit("/", 1)[-1] in spaces}
