"""Logs of a gateway: one JSON object a line on stderr, stable event names."""

import logging
import sys

import structlog


def configure_logs(level: str) -> None:
    """Sets up structlog for the process.

    Args:
        level: debug, info, warning or error.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.EventRenamer("event"),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
