"""The table of all operations."""

from __future__ import annotations

from novikoff.service.accounts import LedgerReport
from novikoff.service.requests import Labelled, Learned, Predicted
from novikoff.service.web import inference, live, model_calls, server_calls
from novikoff.service.web.operations import Operation, Parameter
from novikoff.service.web.wire import (
    InferRequest,
    InferResponse,
    LabelBody,
    LabelLine,
    LearnBody,
    Live,
    ModelMetadata,
    PendingPredictions,
    PredictBody,
    Ready,
    ServerMetadata,
    SnapshotInfo,
    StoredAnswer,
)

__all__ = ["OPERATIONS"]

_MODEL = "/v2/models/{model}"
_BODY = (400, 413, 415, 422, 429, 503)
_READ = (404, 429, 503)


def _integer(name: str, text: str, default: int, largest: int) -> Parameter:
    return Parameter(name, text, {"type": "integer", "minimum": 0, "maximum": largest, "default": default})


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path=f"{_MODEL}/predict",
        name="predict",
        summary="Predict a row, or each line of application/x-ndjson",
        handler=model_calls.predict,
        scope="predict",
        body=PredictBody,
        line=PredictBody,
        answer=Predicted,
        errors=(404, *_BODY),
    ),
    Operation(
        method="PUT",
        path=f"{_MODEL}/predictions/{{id}}/label",
        name="put_label",
        summary="Learn the label of a prediction",
        handler=model_calls.put_label,
        scope="label",
        body=LabelBody,
        answer=Labelled,
        errors=(404, 409, 410, *_BODY),
    ),
    Operation(
        method="POST",
        path=f"{_MODEL}/labels",
        name="post_labels",
        summary="Learn the labels of predictions, one on each line; a status for each line",
        handler=model_calls.post_labels,
        scope="label",
        line=LabelLine,
        media_type="application/x-ndjson",
        errors=(404, *_BODY),
    ),
    Operation(
        method="POST",
        path=f"{_MODEL}/learn",
        name="learn",
        summary="Predict a row, count, and learn its label; or each line of application/x-ndjson",
        handler=model_calls.learn,
        scope="label",
        body=LearnBody,
        line=LearnBody,
        answer=Learned,
        errors=(404, 409, 410, *_BODY),
    ),
    Operation(
        method="GET",
        path=f"{_MODEL}/predictions/{{id}}",
        name="get_prediction",
        summary="A prediction, and its label if it has one",
        handler=model_calls.get_prediction,
        scope="predict",
        answer=StoredAnswer,
        errors=(400, *_READ),
    ),
    Operation(
        method="GET",
        path=f"{_MODEL}/predictions",
        name="list_predictions",
        summary="Predictions that wait for their label, the oldest first",
        handler=model_calls.list_predictions,
        scope="label",
        answer=PendingPredictions,
        errors=(400, *_READ),
        parameters=(
            Parameter("status", "Which predictions.", {"type": "string", "enum": ["pending"], "default": "pending"}),
            _integer("limit", "The most predictions to return.", 100, 1000),
            _integer("after", "`next` of the page before.", 0, 1 << 62),
        ),
    ),
    Operation(
        method="GET",
        path=f"{_MODEL}/ledger",
        name="get_ledger",
        summary="Mistakes served, updates, and what follows by theorem",
        handler=model_calls.get_ledger,
        scope="predict",
        answer=LedgerReport,
        errors=_READ,
    ),
    Operation(
        method="GET",
        path=f"{_MODEL}/log",
        name="get_log",
        summary="Rows with their labels, in the order in which they were learned; line n is label from + n - 1",
        handler=model_calls.get_log,
        scope="admin",
        media_type="application/x-ndjson",
        errors=(400, *_READ),
        parameters=(_integer("from", "The seq of the first label.", 1, 1 << 62),),
    ),
    Operation(
        method="GET",
        path=f"{_MODEL}/events",
        name="get_events",
        summary="Labels as they are learned, and the ledger, as server-sent events",
        handler=live.get_events,
        scope="predict",
        media_type="text/event-stream",
        errors=(400, *_READ),
        parameters=(
            Parameter("Last-Event-ID", "The seq after which to go on.", {"type": "integer", "minimum": 0}, "header"),
        ),
    ),
    Operation(
        method="GET",
        path=f"{_MODEL}/live",
        name="get_live_page",
        summary="A page that shows the ledger as it changes",
        handler=live.get_live_page,
        scope=None,
        media_type="text/html",
        errors=_READ,
    ),
    Operation(
        method="POST",
        path=f"{_MODEL}/snapshots",
        name="post_snapshot",
        summary="Write a snapshot",
        handler=model_calls.post_snapshot,
        scope="admin",
        answer=SnapshotInfo,
        errors=_READ,
    ),
    Operation(
        method="GET",
        path=f"{_MODEL}/snapshots/latest",
        name="get_snapshot",
        summary="The newest snapshot, a model file",
        handler=model_calls.get_snapshot,
        scope="admin",
        media_type="application/octet-stream",
        errors=_READ,
    ),
    *(
        Operation(
            method="POST",
            path=f"{_MODEL}{versions}/infer",
            name=f"infer{suffix}",
            summary="Predict rows that are tensors by feature name (Open Inference Protocol)",
            handler=inference.infer,
            scope="predict",
            body=InferRequest,
            answer=InferResponse,
            errors=(404, *_BODY),
        )
        for versions, suffix in (("", ""), ("/versions/{version}", "_version"))
    ),
    *(
        Operation(
            method="GET",
            path=f"{_MODEL}{versions}/ready",
            name=f"get_model_ready{suffix}",
            summary="Whether requests to a model are answered",
            handler=inference.get_model_ready,
            scope=None,
            answer=Ready,
            errors=(400, *_READ),
        )
        for versions, suffix in (("", ""), ("/versions/{version}", "_version"))
    ),
    *(
        Operation(
            method="GET",
            path=f"{_MODEL}{versions}",
            name=f"get_model{suffix}",
            summary="A model: its features and labels",
            handler=inference.get_model,
            scope="predict",
            answer=ModelMetadata,
            errors=(400, *_READ),
        )
        for versions, suffix in (("", ""), ("/versions/{version}", "_version"))
    ),
    Operation(
        method="GET",
        path="/v2",
        name="get_server",
        summary="The server",
        handler=inference.get_server,
        scope=None,
        answer=ServerMetadata,
    ),
    Operation(
        method="GET",
        path="/v2/health/live",
        name="get_live",
        summary="Whether the process runs",
        handler=inference.get_live,
        scope=None,
        answer=Live,
    ),
    Operation(
        method="GET",
        path="/v2/health/ready",
        name="get_ready",
        summary="Whether requests are answered: after replay and compilation",
        handler=inference.get_ready,
        scope=None,
        answer=Ready,
        errors=(503,),
    ),
    Operation(
        method="GET",
        path="/metrics",
        name="get_metrics",
        summary="Metrics for Prometheus",
        handler=server_calls.get_metrics,
        scope="admin",
        media_type="text/plain",
        errors=(503,),
    ),
    Operation(
        method="GET",
        path="/openapi.json",
        name="get_openapi",
        summary="This document",
        handler=server_calls.get_openapi,
        scope=None,
        answer=dict,
    ),
    Operation(
        method="GET",
        path="/docs",
        name="get_docs",
        summary="This document as a page",
        handler=server_calls.get_docs,
        scope=None,
        media_type="text/html",
    ),
)
