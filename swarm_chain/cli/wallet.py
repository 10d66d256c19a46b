"""`swarm wallet`: keys in keystore v3 files, shared with Foundry. Secrets come from files, stdin or the terminal, never argv."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from swarm_chain.adapters.keystore import (
    change_password,
    create_keystore,
    export_key,
    find_keystore,
    import_key,
    list_keystores,
)
from swarm_chain.cli.amounts import format_eth, highest_cost
from swarm_chain.cli.context import Session, session_of
from swarm_chain.cli.keys import directory
from swarm_chain.cli.output import facts, table
from swarm_chain.cli.signed_files import SIGNED_FORMAT, read_unsigned
from swarm_chain.core.encoding import keccak, to_hex
from swarm_chain.core.errors import InvalidInputError
from swarm_chain.core.signing import text_preimage, typed_digest
from swarm_chain.core.units import Hash32

app = typer.Typer(help="Keys.")
Name = Annotated[str, typer.Argument(help="Name of the keystore.")]


@app.command()
def create(ctx: typer.Context, name: Name) -> None:
    """Makes a new key."""
    session = session_of(ctx)
    password = _new_password(session, session.settings.password_file)
    with session.output.progress("encrypting"):
        made = create_keystore(directory(session.settings), name, password)
    _show_key(session, "created", made.name, str(made.address), made.path)


@app.command("import")
def import_(
    ctx: typer.Context,
    name: Name,
    key_file: Annotated[Path | None, typer.Option(help='File with the private key in hex; "-" is stdin.')] = None,
) -> None:
    """Encrypts a private key that you already have."""
    session = session_of(ctx)
    key = _key_bytes(session.secret("private key", key_file))
    password = _new_password(session, session.settings.password_file)
    with session.output.progress("encrypting"):
        made = import_key(directory(session.settings), name, key, password)
    _show_key(session, "imported", made.name, str(made.address), made.path)


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """Lists your keys; no password needed."""
    session = session_of(ctx)
    folder = directory(session.settings)
    found = list_keystores(folder)
    session.output.show(
        {
            "directory": str(folder),
            "keystores": [{"name": k.name, "address": k.address, "path": str(k.path)} for k in found],
        },
        table(
            f"keys in {folder}", ("name", "address"), [(k.name, k.address or "unknown until unlocked") for k in found]
        ),
    )


@app.command()
def export(
    ctx: typer.Context,
    name: Name,
    out: Annotated[Path, typer.Option("--out", help="New file for the private key, readable by you only.")],
) -> None:
    """Writes the private key to a file; whoever reads it owns the account."""
    session = session_of(ctx)
    path = find_keystore(directory(session.settings), name).path
    session.output.confirm(f"Write the private key of {name} to {out}, not encrypted?")
    key = export_key(path, session.secret(f"password of {name}", session.settings.password_file))
    _write_private(out, to_hex(key) + "\n")
    session.output.show({"name": name, "file": str(out)}, facts("exported", {"key": name, "file": out, "mode": "0600"}))


@app.command("change-password")
def change_password_(
    ctx: typer.Context,
    name: Name,
    new_password_file: Annotated[Path | None, typer.Option(help="File with the new password.")] = None,
) -> None:
    """Encrypts a key with another password; the old file stays until the new one is complete."""
    session = session_of(ctx)
    path = find_keystore(directory(session.settings), name).path
    old = session.secret(f"password of {name}", session.settings.password_file)
    new = _new_password(session, new_password_file)
    with session.output.progress("encrypting"):
        change_password(path, old, new)
    session.output.show({"name": name, "changed": True}, facts("password changed", {"key": name, "file": path}))


@app.command()
def remove(ctx: typer.Context, name: Name) -> None:
    """Deletes a key for good; without a copy its funds are lost."""
    session = session_of(ctx)
    found = find_keystore(directory(session.settings), name)
    session.output.confirm(f"Delete {found.path} ({found.address}) FOR GOOD?", typed=name)
    found.path.unlink()
    session.output.show({"name": name, "removed": True, "address": found.address}, facts("removed", {"key": name}))


@app.command()
def sign(
    ctx: typer.Context,
    message: Annotated[str | None, typer.Argument(help="Text to sign (EIP-191).")] = None,
    typed: Annotated[Path | None, typer.Option("--typed", help="EIP-712 JSON to sign.")] = None,
    transaction: Annotated[Path | None, typer.Option("--transaction", help="File that --unsigned wrote.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="File for the signed transaction.")] = None,
) -> None:
    """Signs a text, a typed message or a transaction with --account; needs no network."""
    session = session_of(ctx)
    given = [part for part in (message, typed, transaction) if part is not None]
    if len(given) != 1:
        raise InvalidInputError(
            "what to sign?", fix="give one of: a text, --typed FILE, --transaction FILE", code="usage"
        )
    if transaction is not None:
        _sign_transaction(session, transaction, out)
        return
    if message is not None:
        digest, signature = keccak(text_preimage(message.encode())), session.signer.sign_text(message.encode())
    else:
        domain, struct_hash = _typed_message(typed)
        digest, signature = typed_digest(domain, struct_hash), session.signer.sign_typed(domain, struct_hash)
    session.output.show(
        {"address": session.signer.address, "digest": digest, "signature": signature},
        facts("signed", {"by": session.signer.address, "digest": to_hex(digest), "signature": to_hex(signature)}),
    )


def _sign_transaction(session: Session, path: Path, out: Path | None) -> None:
    unsigned = read_unsigned(path)
    if session.signer.address != unsigned.sender:
        raise InvalidInputError(
            f"{path} is for {unsigned.sender}, this key is {session.signer.address}",
            fix="choose the right key with --account",
            code="wrong_key",
            exit_code=3,
        )
    cost = highest_cost(unsigned.fields)
    session.output.note(f"{unsigned.effect}\n  to {unsigned.fields.get('to')}, costs at most {format_eth(cost)}")
    session.output.confirm("Sign it?")
    raw = session.signer.sign_transaction(unsigned.fields)
    document = {"format": SIGNED_FORMAT, "effect": unsigned.effect, "raw": to_hex(raw), "hash": to_hex(keccak(raw))}
    target = out or path.with_suffix(".signed.json")
    target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    session.output.show(
        {"file": str(target), "hash": document["hash"]},
        facts("signed", {"file": target, "hash": document["hash"], "next": f"swarm tx send {target}"}),
    )


def _new_password(session: Session, file: Path | None) -> str:
    """A password for a new file: from a file, or typed twice."""
    first = session.secret("new password", file)
    if file is None and session.secret("again", None) != first:
        raise InvalidInputError("the two passwords differ", fix="try again", code="password_mismatch", exit_code=3)
    return first


def _key_bytes(text: str) -> bytes:
    try:
        raw = bytes.fromhex(text.strip().removeprefix("0x"))
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise InvalidInputError("that is no private key", fix="give 64 hex digits", code="bad_key", exit_code=3)
    return raw


def _typed_message(path: Path | None) -> tuple[Hash32, Hash32]:
    """Domain separator and struct hash of the JSON that wallets take."""
    from eth_account.messages import encode_typed_data

    try:
        document = json.loads((path or Path()).read_text(encoding="utf-8"))
        parts = encode_typed_data(full_message=document)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(
            f"{path} is no EIP-712 message", fix="give the JSON that eth_signTypedData_v4 takes"
        ) from error
    return Hash32(parts.header), Hash32(parts.body)


def _write_private(path: Path, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInputError(
            f"cannot write {path}: {error.strerror}", fix="name a new file in a folder of yours"
        ) from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _show_key(session: Session, title: str, name: str, address: str, path: Path) -> None:
    session.output.show(
        {"name": name, "address": address, "path": str(path)},
        facts(title, {"key": name, "address": address, "file": path, "use it": f"--account {name}"}),
    )
