"""Model files of every kind as an earlier version wrote them, and what that version answered."""
