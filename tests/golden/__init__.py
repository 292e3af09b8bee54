"""Model files of every kind that an earlier version wrote, and the predictions of that version."""
