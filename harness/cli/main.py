"""`dreambench`: the group of all commands, and the one place where errors become messages and exit codes.

Invariant: a person's mistake prints one message and exits 1; an interrupt exits 130; an unexpected error keeps its
traceback, because hiding it would be worse.
"""

from __future__ import annotations

import os
import sys

import click

from harness.cli.agents import agents
from harness.cli.analyse import analyse
from harness.cli.bundles import freeze, unpack, verify
from harness.cli.compare import compare
from harness.cli.conditions import conditions
from harness.cli.machine import clean, doctor
from harness.cli.memory import memory
from harness.cli.planning import key, plan
from harness.cli.read import report, show, status
from harness.cli.replaying import audit, replay, rescore
from harness.cli.run import resume, run
from harness.cli.transfer import transfer
from harness.cli.trap import trap
from harness.outcome import BOUNDARIES, INTERRUPTED, USAGE, Fault, UsageFault
from memory_probe.protocol import MemoryFault
from oracles.solutions import SolutionError
from traps.schema import TrapError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dreambench-swe")
def cli() -> None:
    """Does the memory of a coding agent help it or poison it?

    Exit codes: 0 complete; 1 usage or configuration; 2 incomplete (invalid arms remain); 3 verification, admission or
    conformance failed; 130 interrupted.
    """


for command in (
    run,
    resume,
    status,
    show,
    report,
    analyse,
    compare,
    transfer,
    trap,
    memory,
    conditions,
    agents,
    doctor,
    clean,
    plan,
    key,
    freeze,
    verify,
    unpack,
    replay,
    rescore,
    audit,
):
    cli.add_command(command)


def main() -> None:
    """Entry point of the installed command."""
    try:
        code = cli.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):  # click turns the second into the first
        print("interrupted; nothing that was committed is lost (dreambench resume RUN goes on)", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)  # threads of arms that nobody waits for any more must not hold the process
    except click.ClickException as error:
        error.show()
        sys.exit(USAGE)
    except UsageFault as error:
        print(f"dreambench: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except (TrapError, SolutionError, MemoryFault) as error:
        print(f"dreambench: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except Fault as error:
        print(f"dreambench: {error}", file=sys.stderr)
        sys.exit(BOUNDARIES[error.boundary].exit_code)
    sys.exit(code if isinstance(code, int) else 0)
