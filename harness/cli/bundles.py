"""`freeze`, `verify`, `unpack`: a run as one file, and what a stranger does with it first.

Invariant: a verification that fails, or of a signer whom nobody vouches for, exits 3; what was not checked is said.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from analysis.report.layout import clean
from harness.bundle.container import BundleError
from harness.bundle.freeze import freeze as frozen
from harness.bundle.opened import open_run
from harness.bundle.reader import Bundle
from harness.bundle.seal import Seal, load_seal
from harness.bundle.signing import load_public, own_key
from harness.bundle.thaw import thaw
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.verification.verify import NEVER, Verified
from harness.verification.verify import verify as verified

_path = click.Path(path_type=Path)
bundle_argument = click.argument("bundle", type=_path, metavar="FOLD.dbf")
unseal_option = click.option(
    "--unseal", type=_path, metavar="KEYFILE", help="The key of a bundle that does not hold it."
)
_MARKS = {"ok": "ok ", "broken": "NO ", "not checked": "-- "}


def given_seal(unseal: Path | None) -> Seal | None:
    """The key from a file, if one was named."""
    return load_seal(unseal) if unseal else None


@click.command()
@click.argument("folder", type=_path, metavar="RUN")
@click.option("--out", "-o", type=_path, required=True, metavar="FOLD.dbf", help="The file to write.")
@click.option(
    "--sign", type=_path, metavar="KEY.pem", help="Sign with this key (default: your own, made at first use)."
)
@click.option("--reveal", is_flag=True, help="Put the key in, so that everybody can read facts, views and transcripts.")
def freeze(folder: Path, out: Path, sign: Path | None, reveal: bool) -> int:
    """Freeze a finished run into one signed file.

    What holds a fact is encrypted; the key stays in the run directory (seal.key) unless --reveal adds it.
    """
    if out.resolve().is_relative_to(folder.resolve()):
        raise UsageFault(f"{out}: lies in the run directory (remedy: name a place outside of it)")
    key, made = own_key(sign)
    begun = time.perf_counter()
    run = open_run(folder)
    done = frozen(run, out, key, reveal)
    if made:
        click.echo("a signing key was made for you (dreambench key show)", err=True)
    size = out.stat().st_size
    click.echo(f"{out}: {done.arms} arms, {done.trees} trees, {len(done.manifest.members)} members, {size} bytes, "
               f"{time.perf_counter() - begun:.1f} s")  # fmt: skip
    click.echo(f"root {done.manifest.root}\nsigned by {key.public.fingerprint}")
    if not reveal:
        click.echo(f"sealed; the key is {folder / 'seal.key'} (give it to whom you trust, or freeze with --reveal)")
    return COMPLETE


@click.command()
@bundle_argument
@click.option("--key", type=_path, metavar="PUBLIC.pem", help="The signer whom you trust.")
@click.option("--any-signer", is_flag=True, help="Accept an unknown signer: integrity only.")
@unseal_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(bundle: Path, key: Path | None, any_signer: bool, unseal: Path | None, as_json: bool) -> int:
    """Check a bundle without running anything of it: signature, digests, accounting, channel, statistics.

    Exit 3 on any mismatch, which is named, and for a signer whom neither --key nor --any-signer accepts.
    """
    begun = time.perf_counter()
    found = verified(bundle, load_public(key) if key else None, given_seal(unseal))
    seconds, holds = time.perf_counter() - begun, found.holds(any_signer)
    if as_json:
        click.echo(json.dumps({**_data(found, holds), "seconds": round(seconds, 2)}, indent=1))
    else:
        click.echo(_text(found, seconds, _sentence(found, holds, any_signer)))
    return COMPLETE if holds else REJECTED


def _data(found: Verified, holds: bool) -> dict[str, object]:
    checks = [{"name": c.name, "state": c.state, "says": list(c.says)} for c in found.checks]
    signer = found.signer.fingerprint if found.signer else None
    never = [{"name": name, "says": says} for name, says in NEVER]
    return {
        "holds": holds,
        "root": found.root,
        "signer": signer,
        "trusted": found.trusted,
        "checks": checks,
        "never": never,
    }


def _text(found: Verified, seconds: float, verdict: str) -> str:
    lines = []
    for check in found.checks:
        lines += [f"{_MARKS[check.state]} {check.name}: {says}" for says in check.says]
    lines += [f"{_MARKS['not checked']} {name}: {says}" for name, says in NEVER]
    made = sum(check.state != "not checked" for check in found.checks)
    return "\n".join([*lines, f"{made} checks in {seconds:.1f} s", "", verdict])


def _sentence(found: Verified, holds: bool, any_signer: bool) -> str:
    if found.broken:
        return f"does not verify: {', '.join(check.name for check in found.broken)}"
    if holds and found.trusted:
        return "verified"
    remedy = "" if any_signer else " (remedy: --key PUBLIC.pem of a signer whom you trust, or --any-signer)"
    return f"integrity only, unknown signer{remedy}"


@click.command()
@bundle_argument
@click.option("--out", "-o", type=_path, required=True, metavar="DIR", help="An empty or new directory.")
@unseal_option
def unpack(bundle: Path, out: Path, unseal: Path | None) -> int:
    """Write a bundle out as a run directory (run/) with its traps and oracles (sources/), to look into.

    Nothing is executed. `dreambench show DIR/run` and `dreambench report DIR/run` read it.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageFault(f"{out}: is there already (remedy: name a new directory)")
    try:
        with Bundle.open(bundle, given_seal(unseal)) as opened:
            opened.require_signed()
            if opened.seal is None:
                raise UsageFault(f"{bundle}: is sealed (remedy: --unseal KEYFILE)")
            folder = thaw(opened, out)
    except BundleError as error:
        raise UsageFault(f"{bundle}: {clean(str(error))}", REJECTED) from error
    click.echo(f"run: {out / folder.path.name}\nsources: {out / 'sources'}")
    return COMPLETE
