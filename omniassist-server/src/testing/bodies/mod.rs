mod body;
pub mod chat_sse;
pub mod responses_sse;

pub use body::SseBody;
