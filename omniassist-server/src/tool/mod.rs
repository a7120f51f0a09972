//! Tools: plain async functions of the host that a model can call.
