def s1(work, notes):
    work.write("src/mini/boxes.py", "def empty(name):\n    return not any(c.isalpha() for c in name)\n")


def s2(work, notes):
    work.append("src/mini/boxes.py", "\n\ndef full(name):\n    return not empty(name)\n")


def s3(work, notes):
    mark = notes.recall("tag", about="box mark", path="src/mini/labels.py") or "box"
    work.replace("src/mini/labels.py", 'return f"{name}"', f'return f"{{name}} {mark}"')
    work.append("src/mini/labels.py", "\n\ndef bare(name: str) -> str:\n    return name\n")
