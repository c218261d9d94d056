"""Reports: documents of tables built from records, and their renderings. No number is computed in a renderer."""
