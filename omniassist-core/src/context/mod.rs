//! Application context, compressed into a bounded, delimited block without calling a model.
