"""What people run today: FastAPI and river, with the model in memory, pickled now and then.

It is not durable: what came after the last pickle is lost when the process ends, and so are all predictions.
"""

from __future__ import annotations

import os
import pickle
import uuid

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from river import linear_model, preprocessing

PICKLE_EVERY = 10_000  # labels


class Row(BaseModel):
    """A row to predict."""

    features: dict[str, float]


class Label(BaseModel):
    """The label of a prediction."""

    label: bool


app = FastAPI()
model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
rows: dict[str, dict[str, float]] = {}
learned = 0


@app.post("/predict")
async def predict(row: Row) -> dict:
    """Predict, and keep the row for its label."""
    id = str(uuid.uuid4())
    rows[id] = row.features
    return {"id": id, "score": model.predict_proba_one(row.features).get(True, 0.0)}


@app.put("/label/{id}")
async def label(id: str, body: Label) -> dict:
    """Learn the label of a prediction."""
    global learned
    row = rows.pop(id, None)
    if row is None:
        raise HTTPException(404)
    model.learn_one(row, body.label)
    learned += 1
    if learned % PICKLE_EVERY == 0:
        with open(os.environ["MODEL"], "wb") as file:
            pickle.dump(model, file)
    return {"learned": learned}
