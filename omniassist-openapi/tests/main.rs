//! Tests of the tools of HTTP services.
