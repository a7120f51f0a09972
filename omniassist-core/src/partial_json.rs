//! Reads JSON that is still growing.
