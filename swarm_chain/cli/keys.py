"""Which key a command uses, and its password."""

from dataclasses import dataclass
from pathlib import Path

from swarm_chain.adapters.keystore import (
    KeystoreFile,
    find_keystore,
    keystore_dir,
    list_keystores,
    load_signer,
)
from swarm_chain.adapters.rpc import redacted
from swarm_chain.cli.amounts import parse_address
from swarm_chain.cli.config import Settings
from swarm_chain.cli.context import Session
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.units import Address
from swarm_chain.ports import Signer


def directory(settings: Settings) -> Path:
    """Folder of the keystores; Foundry's unless SWARM_KEYSTORE_DIR says otherwise."""
    return keystore_dir(None if settings.keystore_dir is None else str(settings.keystore_dir))


def chosen_keystore(settings: Settings) -> Path:
    """The keystore of --keystore, --account or SWARM_ACCOUNT; the only one there is if none is named.

    Raises:
        InvalidInputError: none is named and there is not exactly one, or the named one does not exist (exit 3).
    """
    if settings.keystore is not None:
        return settings.keystore.expanduser()
    if settings.account is not None:
        return find_keystore(directory(settings), settings.account).path
    found = list_keystores(directory(settings))
    if len(found) == 1:
        return found[0].path
    raise InvalidInputError(
        f"which key? there are {len(found)} in {directory(settings)}",
        fix=_choose(found),
        code="no_account",
        values={"accounts": [keystore.name for keystore in found]},
        exit_code=3,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChoice:
    """Where the key of a command comes from; `keystore` is None if none is named and there is not exactly one.

    `remote` is the address of a remote signer, without user, path and query.
    """

    configured: bool
    keystore: Path | None
    remote: str | None
    password_file: Path | None


def key_choice(settings: Settings) -> KeyChoice:
    """The key the settings lead to, unread; none is configured only if none is named and the folder has none."""
    if settings.signer_url is not None:
        return KeyChoice(configured=True, keystore=None, remote=redacted(settings.signer_url), password_file=None)
    found = list_keystores(directory(settings))
    configured = settings.keystore is not None or settings.account is not None or bool(found)
    named = settings.keystore or (found[0].path if len(found) == 1 and settings.account is None else None)
    if named is None and settings.account is not None:
        named = next((keystore.path for keystore in found if keystore.name == settings.account), None)
    return KeyChoice(
        configured=configured,
        keystore=None if named is None else named.expanduser(),
        remote=None,
        password_file=settings.password_file,
    )


def unlock(session: Session) -> Signer:
    """The chosen key: that of the remote signer if one is set, else a keystore unlocked with its password.

    Raises:
        InvalidInputError: no key, no password or a wrong one, or both a keystore and a remote signer are named (exit 3).
        UnavailableError: the remote signer does not answer.
    """
    if session.settings.signer_url is not None:
        return _remote_signer(session.settings, session.settings.signer_url)
    path = chosen_keystore(session.settings)
    if not path.is_file():
        raise InvalidInputError(
            f"no keystore at {path}", fix="see which there are: swarm wallet list", code="no_keystore", exit_code=3
        )
    password = session.secret(f"password of {path.name}", session.settings.password_file)
    with session.output.progress(f"unlocking {path.name}"):
        return load_signer(path, password)


def own_address(session: Session) -> Address:
    """Address that a command acts for; asks for a password only if nothing else tells it."""
    sender = session.options.get("sender")
    if sender is not None:
        return parse_address(sender)
    if session.settings.signer_url is not None:
        return session.signer.address
    path = chosen_keystore(session.settings)
    named = next((keystore.address for keystore in list_keystores(path.parent) if keystore.path == path), None)
    return named or session.signer.address


def _remote_signer(settings: Settings, url: str) -> Signer:
    from swarm_chain.adapters.remote_signer import SignerEndpoint, connect_signer

    if settings.account is not None or settings.keystore is not None:
        raise InvalidInputError(
            "a remote signer and a keystore are both named",
            fix="unset SWARM_SIGNER_URL to use the keystore, or leave out --account and --keystore",
            code="two_signers",
            exit_code=3,
        )
    address = None if settings.signer_address is None else parse_address(settings.signer_address)
    return connect_signer(SignerEndpoint(url=url, plain_http=settings.signer_plain_http), address)


def _choose(found: tuple[KeystoreFile, ...]) -> str:
    if not found:
        return "make one with: swarm wallet create NAME"
    return f"choose with --account: {', '.join(keystore.name for keystore in found)}"
