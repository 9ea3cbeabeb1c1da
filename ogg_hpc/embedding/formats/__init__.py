"""Files of embeddings, one module a format: each writes blocks of rows and reads them back."""
