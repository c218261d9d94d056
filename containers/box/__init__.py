"""What runs inside a docker sandbox as its first process. Standard library only; baked into the image.

`frames` is the wire format (the harness imports it too), `trees` unpacks and exports, `init` is the process.

Invariant: nothing here imports the rest of the package, and nothing here is trusted by it: what arrives from
inside a sandbox is data of a stranger, whoever wrote the program that sent it.
"""

#: How the first process is started inside: a directory of the image that holds this package and a `__main__`.
INIT = ("/usr/bin/python3", "-I", "-S", "/usr/libexec/box")
