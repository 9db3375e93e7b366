"""The backend `docker`: a container per slot, through the engine's API."""
