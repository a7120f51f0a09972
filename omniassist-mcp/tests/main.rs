#[cfg(feature = "client")]
mod client;
