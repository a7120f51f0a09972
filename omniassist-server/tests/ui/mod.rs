//! Tests of generative UI: components in the history of a chat, and the contract of seed 002.

mod contract;
