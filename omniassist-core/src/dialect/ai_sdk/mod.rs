//! The AI SDK's UI message stream (`useChat`), versions 5, 6 and 7.
