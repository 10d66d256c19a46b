"""Logs of a member: one JSON object a line, a stable event name and its fields."""

import json
import logging
import sys

import structlog


class _OneJsonLine(logging.Formatter):
    """Lines of libraries in the same form: event "library", with logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        """One JSON object, the traceback included if there is one."""
        document = {
            "event": "library",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document)


def log_as_json(level: str = "info") -> None:
    """Sends this process' logs to stderr as JSON, third-party warnings included.

    Args:
        level: the least that is said: debug, info, warning or error.
    """
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneJsonLine())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    # It warns of every tick that is skipped because the one before still runs, which is what max_instances=1 is for.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
