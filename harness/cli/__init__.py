"""The command line: one module a noun, each only translating between words and the library."""
