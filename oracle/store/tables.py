"""Tables of the store; the migrations in this package create exactly these (a test compares them)."""

from sqlalchemy import BigInteger, Boolean, Column, Integer, LargeBinary, MetaData, String, Table, UniqueConstraint

metadata = MetaData()

HASH = String(66)
ADDRESS = String(42)

windows = Table(
    "windows",
    metadata,
    Column("window_id", BigInteger, primary_key=True, autoincrement=False),
    Column("secret", LargeBinary, nullable=False),
    Column("judged", Boolean, nullable=False, default=False),
    Column("sealed", Boolean, nullable=False, default=False),  # its root was made: what comes now does not count
    Column("seen_ms", BigInteger),  # the machine's monotonic clock at the first sight of the opening block
    Column("seen_boot", String(64)),  # under which that clock ran; of another boot it cannot be compared
)

commitments = Table(
    "commitments",
    metadata,
    Column("window_id", BigInteger, primary_key=True, autoincrement=False),
    Column("window_seed", HASH, primary_key=True),  # a window opened anew by a reorganisation is another window
    Column("node", ADDRESS, primary_key=True),
    Column("device", Integer, primary_key=True, autoincrement=False),
    Column("root", HASH, primary_key=True),
    Column("m", Integer, nullable=False),
    Column("n", Integer, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("signature", LargeBinary, nullable=False),
    Column("elapsed_ms", BigInteger),  # null: another member passed it on, so this one has no say on its time
    Column("first", Boolean, nullable=False),  # false: a second root, kept as evidence of equivocation
)

proofs = Table(
    "proofs",
    metadata,
    Column("window_id", BigInteger, primary_key=True, autoincrement=False),
    Column("node", ADDRESS, primary_key=True),
    Column("device", Integer, primary_key=True, autoincrement=False),
    Column("document", LargeBinary, nullable=False),  # canonical JSON {proof, signature}
    Column("heard", Boolean, nullable=False, default=False),  # another member passed it on
)

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("node", ADDRESS, primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("arrived_ms", BigInteger, nullable=False),
    Column("boot", String(64), nullable=False, default=""),
)

roll_calls = Table(
    "roll_calls",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("node", ADDRESS, primary_key=True),
    Column("present", Integer, nullable=False),
    Column("total", Integer, nullable=False),
)

specs = Table(
    "specs",
    metadata,
    Column("spec_hash", HASH, primary_key=True),
    Column("document", LargeBinary, nullable=False),
    Column("received_at", BigInteger, nullable=False),  # chain time
)

receipts = Table(
    "receipts",
    metadata,
    Column("job_id", BigInteger, primary_key=True, autoincrement=False),
    Column("receipt_digest", HASH, primary_key=True),
    Column("document", LargeBinary, nullable=False),  # canonical JSON {receipt, signature, checkpoints}
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("job_id", BigInteger, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("content_hash", HASH, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

job_verdicts = Table(
    "job_verdicts",
    metadata,
    Column("job_id", BigInteger, primary_key=True, autoincrement=False),
    Column("receipt_digest", HASH, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("reason", String(64), nullable=False),
    Column("content", Integer),  # number of the one this member computed otherwise; null: none, or it is nobody's guilt
    Column("computed", HASH),  # what it got
)

job_inputs = Table(
    "job_inputs",
    metadata,
    Column("job_id", BigInteger, primary_key=True, autoincrement=False),
    Column("content_hash", HASH, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

audits = Table(
    "audits",
    metadata,
    Column("window_id", BigInteger, primary_key=True, autoincrement=False),
    Column("node", ADDRESS, primary_key=True),
    Column("device", Integer, primary_key=True, autoincrement=False),
    Column("category", String(16), primary_key=True),
    Column("audit_id", HASH, nullable=False, unique=True),
    Column("claim", BigInteger, nullable=False),
    Column("nonce", HASH, nullable=False),
    Column("draw", HASH, nullable=False),  # preimage of the nonce; told once the root is there
    Column("started_ms", BigInteger, nullable=False),  # the machine's monotonic clock, under this boot
    Column("boot", String(64), nullable=False),
    Column("root", HASH),  # null: not answered
    Column("elapsed_ms", BigInteger),
    Column("openings", LargeBinary),  # canonical JSON; null: not opened
    Column("outcome", String(16)),  # null: not judged
    Column("reason", String(64), nullable=False, default=""),
    Column("units", BigInteger, nullable=False, default=0),
)

volumes = Table(
    "volumes",
    metadata,
    Column("volume_id", HASH, primary_key=True),
    Column("node", ADDRESS, nullable=False),
    Column("member", ADDRESS, nullable=False),
    Column("number", Integer, nullable=False),  # index of the volume, from 0 on for each node
    Column("epoch", Integer, nullable=False),  # in which it was opened
    Column("key_hash", HASH, nullable=False),
    Column("confirmed", BigInteger, nullable=False, default=0),  # blocks the node has said are on its disk
    Column("sent", BigInteger, nullable=False, default=0),
    Column("sent_epoch", Integer, nullable=False, default=0),
    Column("sent_now", BigInteger, nullable=False, default=0),  # in that epoch, repeats included
    Column("retired", Boolean, nullable=False, default=False),
    Column("key", HASH),  # shown once it is retired; null: not retired, or the secret was lost
    UniqueConstraint("node", "member", "number"),
)

transfers = Table(
    "transfers",
    metadata,
    Column("audit_id", HASH, primary_key=True),
    Column("secret", LargeBinary, nullable=False),  # makes the payload
    Column("began_ms", BigInteger, nullable=False),  # the machine's monotonic clock, under this boot
    Column("boot", String(64), nullable=False),
    Column("sent_root", HASH),  # null: the payload was not sent to its end
    Column("landed_ms", BigInteger),  # null: nothing came back to its end
    Column("fault", String(32), nullable=False, default=""),
)

serving_offers = Table(
    "serving_offers",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("node", ADDRESS, primary_key=True),
    Column("url", String(64), nullable=False),
    Column("rate", BigInteger, nullable=False),  # requests/s
    Column("issued_at", BigInteger, nullable=False),  # chain time; the latest offer counts
    Column("member", ADDRESS, nullable=False),
    Column("signature", LargeBinary, nullable=False),
)

probes = Table(
    "probes",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("node", ADDRESS, primary_key=True),
    Column("claim", BigInteger, nullable=False),
    Column("probed_at", BigInteger, nullable=False),  # chain time
    Column("outcome", String(16), nullable=False),
    Column("reason", String(64), nullable=False),
    Column("units", BigInteger, nullable=False),  # requests/s proven
    Column("error_bps", Integer),  # null: not measured
    Column("p50_us", BigInteger),
    Column("p95_us", BigInteger),
    Column("p99_us", BigInteger),
    Column("ttft_us", BigInteger),
)

link_endpoints = Table(
    "link_endpoints",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("node", ADDRESS, primary_key=True),
    Column("host", String(39), nullable=False),  # literal address
    Column("port", Integer, nullable=False),
    Column("issued_at", BigInteger, nullable=False),  # chain time; the latest endpoint counts
    Column("signature", LargeBinary, nullable=False),
    Column("provider_id", BigInteger, nullable=False),  # at that time
    Column("region", LargeBinary, nullable=False),  # as well
)

link_reports = Table(
    "link_reports",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("first", ADDRESS, primary_key=True),
    Column("second", ADDRESS, primary_key=True),
    Column("digest", HASH, primary_key=True),  # struct hash: two of a pair contradict each other
    Column("rtt_us", BigInteger, nullable=False),
    Column("jitter_us", BigInteger, nullable=False),
    Column("loss_ppm", Integer, nullable=False),
    Column("throughput_mbps", BigInteger),  # null: not measured
    Column("first_signature", LargeBinary, nullable=False),
    Column("second_signature", LargeBinary),  # null: a proposal
)

link_trips = Table(
    "link_trips",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("node", ADDRESS, primary_key=True),
    Column("rtt_us", BigInteger, nullable=False),  # this member's shortest round trip
)

benchmarks = Table(
    "benchmarks",
    metadata,
    Column("node", ADDRESS, primary_key=True),
    Column("signed_at", BigInteger, nullable=False),  # chain time; the newest report counts
    Column("figures", LargeBinary, nullable=False),  # canonical JSON, as it was hashed
    Column("signature", LargeBinary, nullable=False),
)

intents = Table(
    "intents",
    metadata,
    Column("key", String(128), primary_key=True),  # (epoch, action, subject): each is sent once
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("tx_hash", HASH, nullable=False),
    Column("raw", LargeBinary, nullable=False),
    Column("sender", ADDRESS, nullable=False),
    Column("nonce", BigInteger, nullable=False),
    Column("max_fee_wei", String(78), nullable=False),
    Column("contract", String(64), nullable=False),
    Column("function", String(64), nullable=False),
    Column("state", String(16), nullable=False),  # stored | succeeded | reverted | superseded
)

documents = Table(
    "documents",
    metadata,
    Column("epoch", Integer, primary_key=True, autoincrement=False),
    Column("name", String(64), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("holder", String(64), nullable=False),  # "" before the first one
    Column("token", BigInteger, nullable=False),  # goes up with every new holder
    Column("lasts_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),  # Unix time by the database's clock
)
