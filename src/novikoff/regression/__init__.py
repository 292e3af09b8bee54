"""Online regression: numbers instead of classes, with squared loss, for streams of rows."""
