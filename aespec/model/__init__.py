"""The typed model that every later phase works on: tasks, values, instances, edits, locks."""
