"""What every agent that calls a model says about it: where it is seen from inside, and which model in which dialect.

Invariant: no key and no address of the host is known here; the key that programs insist on is one fixed word.
"""

from __future__ import annotations

from containers.relay import PORT
from containers.relay_usage import Dialect
from harness.config import ModelConfig
from harness.outcome import UsageFault

HOST_URL = f"http://127.0.0.1:{PORT}"  # the base URL of Anthropic's and Gemini's programs
V1_URL = f"{HOST_URL}/v1"  # the base URL of those that speak the two dialects of OpenAI
NO_KEY = "unused"


def spoken(agent: str, model: ModelConfig, *dialects: Dialect) -> Dialect:
    """The dialect that `agent` will speak: the configured one of those that it knows, else the first.

    Raises UsageFault where no model is named or the agent does not know the dialect.
    """
    if not model.name:
        raise UsageFault(f"model.name: the {agent} agent needs a model (also model.base_url, and model.key_env)")
    if not model.name.isascii() or not model.name.isprintable() or " " in model.name:
        raise UsageFault(f"model.name: {model.name!r} is no name of a model (printable ASCII without blanks)")
    if not model.dialect:
        return dialects[0]
    if model.dialect not in dialects:
        known = ", ".join(dialects)
        raise UsageFault(f"model.dialect: the {agent} agent does not speak {model.dialect!r} (it speaks: {known})")
    return Dialect(model.dialect)
