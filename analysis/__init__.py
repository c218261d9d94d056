"""Analysis: numbers from finished runs. Takes plain records and imports no other room."""
