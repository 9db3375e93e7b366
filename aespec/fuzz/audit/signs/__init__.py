"""Signs of a faulty verifier that can be read off a task's files, one kind a module; nothing is run here."""
