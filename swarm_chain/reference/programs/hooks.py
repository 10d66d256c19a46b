"""Customer's code as a module: the hooks a program calls. Only inside a sandbox."""

from types import ModuleType

from swarm_chain.sandbox.worker import require_inside

MODULE = "job_code"


def load_hooks(code: str) -> ModuleType:
    """Run the customer's text as a module of its own and give it.

    Args:
        code: Python text of the spec; what it raises goes through, and ends as the customer's fault.

    Raises:
        InconsistentError: this process is no sandbox.
    """
    require_inside()
    module = ModuleType(MODULE)
    exec(compile(code, f"<{MODULE}>", "exec"), module.__dict__)  # noqa: S102 - what the sandbox is for
    return module


def hook_answer(request: list[bytes]) -> bytes:
    """What a sandbox runs for `run_hook`: code, name of a hook, its argument."""
    code, name, argument = request
    found: bytes = getattr(load_hooks(code.decode()), name.decode())(argument)
    return found
