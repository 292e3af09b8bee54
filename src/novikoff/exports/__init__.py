"""Exports of linear models for other programs: coefficients as JSON, graphs as ONNX.

Here belongs what other programs read; files that novikoff itself loads again are in `novikoff.model_files`.
"""

from novikoff.exports.json_coefficients import to_json
from novikoff.exports.onnx_graph import to_onnx

__all__ = ["to_json", "to_onnx"]
