"""Refusals: requests that the service answers with an error, each with the status it has in HTTP."""

from __future__ import annotations

from typing import ClassVar

from novikoff.errors import ServiceError

__all__ = [
    "BadLabelError",
    "BadRequestError",
    "BadRowError",
    "ConflictError",
    "ExpiredError",
    "NotFoundError",
    "QueueFullError",
    "RefusalError",
    "UnavailableError",
]


class RefusalError(ServiceError):
    """A request that is refused. Nothing of it was logged or learned, unless the class says otherwise.

    Attributes
    ----------
    status : int
        Of the answer in HTTP.
    title : str
        What all refusals of this class have in common.
    retry_after : int or None
        Seconds after which it may be tried again.
    """

    status: ClassVar[int] = 400
    title: ClassVar[str] = "Bad request"
    retry_after: ClassVar[int | None] = None


class BadRequestError(RefusalError):
    """A request that cannot be read."""


class NotFoundError(RefusalError):
    """There is no prediction, model or snapshot of this name."""

    status, title = 404, "Not found"


class ConflictError(RefusalError):
    """The prediction has another label already."""

    status, title = 409, "Another label is there already"


class ExpiredError(RefusalError):
    """The label came after the window; it is logged, and not learned."""

    status, title = 410, "The label came too late"


class BadRowError(RefusalError):
    """A feature that the model cannot take."""

    status, title = 422, "The features cannot be used"


class BadLabelError(RefusalError):
    """A label that the model does not take."""

    status, title = 422, "The label cannot be used"


class QueueFullError(RefusalError):
    """More requests are waiting than may wait."""

    status, title, retry_after = 429, "Too many requests are waiting", 1


class UnavailableError(RefusalError):
    """The service starts, stops, or has no room to log anything."""

    status, title, retry_after = 503, "The service is not available now", 1
