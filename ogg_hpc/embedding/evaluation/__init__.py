"""What embeddings are worth: link prediction, node classification and reconstruction."""
