"""Contents read for operators: where their leaves stand, and what they mean however they are written."""
