"""What environment processes do with a grant: one way for each kind of learning."""
