"""Exports: what a model has learned, for other programs: JSON to read, ONNX to serve."""

from novikoff.exports.json_coefficients import to_json
from novikoff.exports.onnx_graph import to_onnx

__all__ = ["to_json", "to_onnx"]
