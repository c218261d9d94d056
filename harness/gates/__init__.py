"""The gates of admission that must run something. Each looks at one trap in a `Bench` and yields `Problem`s."""
