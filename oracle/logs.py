"""Logs of a member: one JSON object a line, a stable event name and its fields."""

import logging
import sys

import structlog


def log_as_json() -> None:
    """Sends this process' logs to stderr as JSON, third-party warnings included."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format='{"event":"%(name)s","level":"%(levelname)s"}')
