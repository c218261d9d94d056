"""Text of a box label."""


def label(name: str) -> str:
    return f"{name} box"


def width(name: str) -> int:
    return len(label(name))


def bare(name: str) -> str:
    return name
