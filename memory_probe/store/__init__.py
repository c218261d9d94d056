"""The probe's store: an append-only raw log and the memories derived from it, in one SQLite file a namespace."""
