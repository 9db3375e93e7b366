"""The properties that are measured, one module each, with `measure(study) -> Property`."""
