"""Keys in keystore v3 files, in the place and form Foundry uses: `cast wallet` reads them, and we read cast's."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_chain.core.encoding import checksum_address, keccak, word
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.signing import text_preimage, typed_digest
from swarm_chain.core.units import Address, Hash32, Signature
from swarm_chain.recursion import recursion_limit_kept

# Cost of one password guess: about a second and 256 MiB. Tests and the demo pass a smaller N on purpose.
SCRYPT_N = 262_144
MODE = 0o600


class KeySigner:
    """Signer with a private key in memory; only the address is ever shown.

    Args:
        private_key: 32 bytes, a valid secp256k1 scalar.

    Raises:
        InvalidInputError: the bytes are no private key.
    """

    __slots__ = ("_account", "_address")

    def __init__(self, private_key: bytes) -> None:
        with recursion_limit_kept():
            from eth_account import Account
        from eth_utils.exceptions import ValidationError

        try:
            self._account = Account.from_key(private_key)
        except (ValueError, ValidationError):
            # The reason would quote the key.
            raise _key_error("these bytes are no private key", "bad_key", "give 32 bytes of hex") from None
        self._address = Address(self._account.address)

    @property
    def address(self) -> Address:
        """Checksummed address of the key."""
        return self._address

    def sign_typed(self, domain: Hash32, struct_hash: Hash32) -> Signature:
        """65 bytes r || s || v, low s, v 27 or 28, over keccak256(0x1901 || domain || struct hash) (EIP-712)."""
        return self._sign(typed_digest(domain, struct_hash))

    def sign_text(self, text: bytes) -> Signature:
        """The same form over a text with the prefix of EIP-191, as `personal_sign` does."""
        return self._sign(keccak(text_preimage(text)))

    def sign_transaction(self, fields: dict[str, object]) -> bytes:
        """Raw signed EIP-1559 transaction."""
        return bytes(self._account.sign_transaction(fields).raw_transaction)

    def _sign(self, digest: Hash32) -> Signature:
        signed = self._account.unsafe_sign_hash(digest)
        return Signature(word(signed.r) + word(signed.s) + bytes([signed.v]))

    def __repr__(self) -> str:
        return f"KeySigner({self._address})"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeystoreFile:
    """A key file; `address` is None when the file does not name it (cast's do not)."""

    name: str
    path: Path
    address: Address | None


def keystore_dir(override: str | None = None) -> Path:
    """Folder of the key files: the override (SWARM_KEYSTORE_DIR, --keystore-dir), else Foundry's."""
    return Path(override).expanduser() if override else Path.home() / ".foundry" / "keystores"


def create_keystore(directory: Path, name: str, password: str, *, scrypt_n: int = SCRYPT_N) -> KeystoreFile:
    """New random key in `directory/name`, readable by its owner only; see `import_key` for arguments and errors."""
    return import_key(directory, name, os.urandom(32), password, scrypt_n=scrypt_n)


def import_key(
    directory: Path, name: str, private_key: bytes, password: str, *, scrypt_n: int = SCRYPT_N
) -> KeystoreFile:
    """Encrypt a key into `directory/name`; an existing file is never overwritten.

    Args:
        directory: made with mode 0700 if absent.
        name: file name, without slashes.
        private_key: 32 bytes.
        password: at least one character.
        scrypt_n: cost of a password guess, a power of two; smaller than the default only in tests and the demo.

    Raises:
        InvalidInputError: bad name, empty password, no key, or the file exists (exit 3).
    """
    if not name or "/" in name or name.startswith("."):
        raise _key_error(f"{name!r} is no key name", "bad_key_name", "use letters, digits, - and _")
    signer = KeySigner(private_key)
    path, text = directory / name, _encrypted(private_key, password, scrypt_n)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with open(path, "x", opener=_private) as file:
            file.write(text)
    except FileExistsError:
        raise _key_error(f"{path} exists", "keystore_exists", "choose another name, or remove it first") from None
    return KeystoreFile(name=name, path=path, address=signer.address)


def load_signer(path: Path, password: str) -> KeySigner:
    """Signer of a key file.

    Raises:
        InvalidInputError: missing file, broken file, or wrong password (codes "keystore_missing", "keystore_broken",
            "wrong_password"; exit 3).
    """
    return KeySigner(export_key(path, password))


def export_key(path: Path, password: str) -> bytes:
    """The 32 bytes of a key file; errors as in `load_signer`."""
    with recursion_limit_kept():
        from eth_account import Account

    document = _read(path)
    try:
        return bytes(Account.decrypt(document, password))
    except (KeyError, TypeError, NotImplementedError) as error:
        raise _broken(path) from error
    except ValueError as error:
        if "MAC mismatch" in str(error):
            raise _key_error(f"wrong password for {path}", "wrong_password", "try again") from None
        raise _broken(path) from error


def change_password(path: Path, old: str, new: str, *, scrypt_n: int = SCRYPT_N) -> None:
    """Encrypt a key file anew; the old file stays until the new one is complete. Errors as in `load_signer`."""
    text = _encrypted(export_key(path, old), new, scrypt_n)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    with open(fresh, "x", opener=_private) as file:
        file.write(text)
    fresh.replace(path)


def list_keystores(directory: Path) -> tuple[KeystoreFile, ...]:
    """Key files of a folder by name; files that are no keystores are left out."""
    if not directory.is_dir():
        return ()
    paths = sorted(path for path in directory.iterdir() if path.is_file() and not path.name.startswith("."))
    documents = [(path, _parsed(path)) for path in paths]
    return tuple(
        KeystoreFile(name=path.name, path=path, address=_address(document))
        for path, document in documents
        if document is not None
    )


def find_keystore(directory: Path, name: str) -> KeystoreFile:
    """Key file by its name; InvalidInputError (code "keystore_missing", exit 3) if there is none."""
    for found in list_keystores(directory):
        if found.name == name:
            return found
    raise _missing(directory / name)


def _encrypted(private_key: bytes, password: str, scrypt_n: int) -> str:
    with recursion_limit_kept():
        from eth_account import Account

    if not password:
        raise _key_error("the password is empty", "empty_password", "choose one, or give a password file")
    return json.dumps(Account.encrypt(private_key, password, kdf="scrypt", iterations=scrypt_n))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, MODE)


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise _missing(path)
    document = _parsed(path)
    if document is None:
        raise _broken(path)
    return document


def _parsed(path: Path) -> dict[str, Any] | None:
    """The keystore document, None if the file holds something else."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    return document if isinstance(document, dict) and ("crypto" in document or "Crypto" in document) else None


def _address(document: dict[str, Any]) -> Address | None:
    text = document.get("address")
    if not isinstance(text, str):
        return None
    try:
        raw = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        return None
    return checksum_address(raw) if len(raw) == 20 else None


def _missing(path: Path) -> InvalidInputError:
    return _key_error(f"there is no key file {path}", "keystore_missing", "list them with `swarm wallet list`")


def _broken(path: Path) -> InvalidInputError:
    return _key_error(f"{path} is no keystore v3 file", "keystore_broken", "restore it from a backup")


def _key_error(message: str, code: str, fix: str) -> InvalidInputError:
    return InvalidInputError(message, code=code, fix=fix, exit_code=3)
