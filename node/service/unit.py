"""Text of the systemd unit of a node. Pure: `deploy/systemd/swarm-node.service` is what it says for the usual places.

SIGTERM goes to the agent alone (KillMode=mixed): Ray's processes live until it has finished and handed over its run.
"""

from dataclasses import dataclass

UNIT = "swarm-node.service"
STOP_S = 180  # longer than the agent drains, and Ray needs some seconds to end


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a unit is made from. `user` is the account the agent runs as; empty for a unit of the user's own manager."""

    program: str = "/opt/swarm/.venv/bin/swarm"
    environment: str = "/etc/swarm-node/environment"
    home: str = "/var/lib/swarm-node"
    user: str = "swarm-node"


def unit_text(service: Service) -> str:
    """The whole unit; it holds no secret.

    Args:
        service: places and account; paths are absolute and without white space or percent signs.
    """
    return (
        _HEAD.format(**_words(service)) + (_SYSTEM.format(**_words(service)) if service.user else "") + _tail(service)
    )


def next_commands(service: Service) -> tuple[str, ...]:
    """What is left to do after the unit was written, one command a line."""
    if not service.user:
        return (
            "systemctl --user daemon-reload",
            "systemctl --user enable --now swarm-node",
            "loginctl enable-linger",  # else the agent ends when its user logs out
            "journalctl --user -u swarm-node -f",
        )
    return (
        f"useradd --system --create-home --home-dir {service.home} {service.user}",
        f"sudo -u {service.user} env SWARM_HOME={service.home} swarm node doctor",
        "systemctl daemon-reload",
        "systemctl enable --now swarm-node",
        "journalctl -u swarm-node -f",
    )


def environment_text() -> str:
    """A first environment file, mode 0600: endpoints of providers often hold a key."""
    return (
        "# Settings of the node, one NAME=value a line; `swarm node run --help` and the options' names say which.\n"
        "#SWARM_RPC_URL=https://...\n"
        "#SWARM_DEPLOYMENT=/etc/swarm-node/deployment.json\n"
        "#SWARM_ORACLE_URL=https://...\n"
        "#SWARM_GPUS=0\n"
    )


def _words(service: Service) -> dict[str, str]:
    return {
        "program": service.program,
        "environment": service.environment,
        "home": service.home,
        "user": service.user,
        "stop": str(STOP_S),
    }


def _tail(service: Service) -> str:
    return _TAIL.format(target="multi-user.target" if service.user else "default.target")


_HEAD = """\
# A node of Swarm, written by `swarm node service install`. It needs
#   {environment}   SWARM_RPC_URL, SWARM_DEPLOYMENT, SWARM_ORACLE_URL ..., mode 0600
#   {home}/node   key and password, made there with mode 0600 by `swarm node register`
[Unit]
Description=Swarm node
Documentation=file:///opt/swarm/docs/node.md
Wants=network-online.target
After=network-online.target
# An endpoint or oracle member that is away comes back some day: it is tried for ever.
StartLimitIntervalSec=0

[Service]
Type=exec
EnvironmentFile={environment}
Environment=SWARM_HOME={home}
# The doctor writes its findings to the journal; it does not keep the node from starting.
ExecStartPre=-{program} node doctor
ExecStart={program} node run
Restart=on-failure
# Wrong usage or settings, or two facts that disagree: a person has to look.
RestartPreventExitStatus=2 3 70
RestartSec=5
# SIGTERM drains: the agent finishes its run, hands over what it owes and exits 0. Ray's processes end after it.
KillSignal=SIGTERM
KillMode=mixed
TimeoutStopSec={stop}
TimeoutStartSec=180
LimitNOFILE=65536
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
"""

# What only the system's manager can do.
_SYSTEM = """\

User={user}
Group={user}
StateDirectory=swarm-node
StateDirectoryMode=0700
WorkingDirectory={home}
ProtectSystem=strict
ReadWritePaths={home}
ProtectHome=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
PrivateTmp=yes
# GPUs and nothing else: PrivateDevices= would hide them.
DevicePolicy=closed
DeviceAllow=char-nvidia* rw
RestrictNamespaces=yes
# Netlink: Ray and psutil list the network's interfaces.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
CapabilityBoundingSet=
AmbientCapabilities=
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute is left out: torch and its GPU code ask for such pages.
"""

_TAIL = """\

[Install]
WantedBy={target}
"""
