//! A provider's stream as bytes: one event for each chunk of the HTTP body, sized as the providers' own are.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// Stands before the time in a delta. Nothing else in a stream holds this byte, so that clients of every format can
/// count deltas by it.
pub(super) const MARK: u8 = b'~';

/// Digits of the time in a delta: microseconds since 1970.
pub(super) const DIGITS: usize = 16;

/// Whose stream it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Responses,
    Chat,
    Anthropic,
}

impl Api {
    pub(super) const ALL: [Self; 3] = [Self::Responses, Self::Chat, Self::Anthropic];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Anthropic => "anthropic",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }

    fn events(self) -> Events {
        match self {
            Self::Responses => RESPONSES,
            Self::Chat => CHAT,
            Self::Anthropic => ANTHROPIC,
        }
    }

    /// What comes before the deltas, framed.
    pub(super) fn opening(self) -> String {
        self.events().opening.iter().map(|event| chunk(event)).collect()
    }

    /// What comes behind them, framed, the end of the body included.
    pub(super) fn closing(self) -> String {
        let mut out: String = self.events().closing.iter().map(|event| chunk(event)).collect();
        out.push_str("0\r\n\r\n");
        out
    }

    /// One delta, framed, that carries this time.
    pub(super) fn delta(self, micros: u64) -> String {
        let [before, after] = self.events().delta;
        chunk(&format!("{before}{}{micros:0DIGITS$}{after}", char::from(MARK)))
    }
}

/// Microseconds since 1970. All processes of a measurement run on one machine, so they share this clock.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn chunk(event: &str) -> String {
    let mut out = String::with_capacity(event.len() + 8);
    let _ = write!(out, "{:x}\r\n{event}\r\n", event.len());
    out
}

struct Events {
    opening: &'static [&'static str],
    delta: [&'static str; 2],
    closing: &'static [&'static str],
}

const RESPONSES: Events = Events {
    opening: &[
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_01\",\"object\":\"response\",\"created_at\":1764000000,\"status\":\"in_progress\",\"model\":\"gpt-x\",\"output\":[]},\"sequence_number\":0}\n\n",
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"id\":\"msg_0123456789abcdef0123456789abcdef0123456789abcdef01\",\"type\":\"message\",\"status\":\"in_progress\",\"content\":[],\"role\":\"assistant\"},\"output_index\":0,\"sequence_number\":1}\n\n",
        "event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"content_index\":0,\"item_id\":\"msg_0123456789abcdef0123456789abcdef0123456789abcdef01\",\"output_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"},\"sequence_number\":2}\n\n",
    ],
    delta: [
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"content_index\":0,\"delta\":\"",
        "\",\"item_id\":\"msg_0123456789abcdef0123456789abcdef0123456789abcdef01\",\"logprobs\":[],\"obfuscation\":\"0123456789\",\"output_index\":0,\"sequence_number\":1234}\n\n",
    ],
    closing: &[
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_01\",\"object\":\"response\",\"created_at\":1764000000,\"status\":\"completed\",\"model\":\"gpt-x\",\"output\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1000,\"total_tokens\":1010}},\"sequence_number\":9999}\n\n",
    ],
};

const CHAT: Events = Events {
    opening: &[
        "data: {\"id\":\"chatcmpl-0123456789abcdef0123456789abc\",\"object\":\"chat.completion.chunk\",\"created\":1764000000,\"model\":\"gpt-x\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"0123456789\"}\n\n",
    ],
    delta: [
        "data: {\"id\":\"chatcmpl-0123456789abcdef0123456789abc\",\"object\":\"chat.completion.chunk\",\"created\":1764000000,\"model\":\"gpt-x\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"",
        "\"},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"0123456789\"}\n\n",
    ],
    closing: &[
        "data: {\"id\":\"chatcmpl-0123456789abcdef0123456789abc\",\"object\":\"chat.completion.chunk\",\"created\":1764000000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"id\":\"chatcmpl-0123456789abcdef0123456789abc\",\"object\":\"chat.completion.chunk\",\"created\":1764000000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1000,\"total_tokens\":1010}}\n\n",
        "data: [DONE]\n\n",
    ],
};

const ANTHROPIC: Events = Events {
    opening: &[
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    ],
    delta: [
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"",
        "\"}}\n\n",
    ],
    closing: &[
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":1000}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ],
};
