//! The bytes of a provider's stream: one event in each chunk of the HTTP body, with the event sizes of real providers.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// The byte before the time in a delta. It occurs nowhere else in a stream, so clients of every format can count deltas
/// by it.
pub(super) const MARK: u8 = b'~';

/// The number of digits after the mark: the digits of the time and of the number.
pub(super) const DIGITS: usize = TIME_DIGITS + NUMBER_DIGITS;
const TIME_DIGITS: usize = 11;
const NUMBER_DIGITS: usize = 5;
/// The bounds at which the time and the number of a delta wrap around to 0.
const TIMES: u64 = 10_u64.pow(11);
const NUMBERS: usize = 10_usize.pow(5);

/// The text of a delta: the time at which it was written, in microseconds, and its number within the answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    time: u64,
    number: usize,
}

impl Stamp {
    /// Parses the digits after a mark.
    pub(super) fn read(digits: &[u8]) -> Option<Self> {
        let (time, number) = str::from_utf8(digits).ok()?.split_at_checked(TIME_DIGITS)?;
        Some(Self { time: time.parse().ok()?, number: number.parse().ok()? })
    }

    /// Returns `true` if the stamp belongs to the delta with this number, counted from 0.
    pub(super) fn is_number(self, number: usize) -> bool {
        self.number == number % NUMBERS
    }

    /// Returns the microseconds from its time to `at`, or 0 if its time is later.
    pub(super) fn age(self, at: u64) -> u64 {
        let age = (at % TIMES + TIMES - self.time) % TIMES;
        if age > TIMES / 2 { 0 } else { age }
    }
}

/// Returns the text of a delta.
pub(super) fn stamp(time: u64, number: usize) -> String {
    let (time, number, mark) = (time % TIMES, number % NUMBERS, char::from(MARK));
    format!("{mark}{time:0TIME_DIGITS$}{number:0NUMBER_DIGITS$}")
}

/// Returns the body with the times of its deltas replaced by zeros.
pub(super) fn without_times(body: &[u8]) -> Vec<u8> {
    let mut out = body.to_vec();
    for at in memchr::memchr_iter(MARK, body) {
        if let Some(time) = out.get_mut(at + 1..at + 1 + TIME_DIGITS) {
            time.fill(b'0');
        }
    }
    out
}

/// The API of a stream.
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

    /// Returns the chunks before the deltas.
    pub(super) fn opening(self) -> String {
        self.events().opening.iter().map(|event| chunk(event)).collect()
    }

    /// Returns the chunks after the deltas, with the end of the body.
    pub(super) fn closing(self) -> String {
        let mut out: String = self.events().closing.iter().map(|event| chunk(event)).collect();
        out.push_str("0\r\n\r\n");
        out
    }

    /// Returns the chunk of a delta with this time and number.
    pub(super) fn delta(self, micros: u64, number: usize) -> String {
        let [before, after] = self.events().delta;
        chunk(&format!("{before}{}{after}", stamp(micros, number)))
    }
}

/// Returns the microseconds since 1970. All processes of a measurement run on one machine, so they share this clock.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn chunk(event: &str) -> String {
    let mut out = String::with_capacity(event.len() + 8);
    let _ = write!(out, "{:x}\r\n{event}\r\n", event.len());
    out
}

/// Returns the chunks of an answer of OpenAI's Responses API that calls the tool `take`. The arguments have this many
/// bytes, and 64 bytes in each delta.
pub(super) fn call(bytes: usize) -> String {
    const PIECE: usize = 64;
    let (opening, closing) = (r#"{\"text\":\""#, r#"\"}"#);
    let text = bytes.saturating_sub(11);
    let mut out: String = RESPONSES.opening.iter().take(1).map(|event| chunk(event)).collect();
    out += &chunk(
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"id\":\"fc_01\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_01\",\"name\":\"take\"},\"output_index\":0,\"sequence_number\":1}\n\n",
    );
    let mut delta = |piece: &str| {
        out += &chunk(&format!(
            "event: response.function_call_arguments.delta\ndata: {{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{piece}\",\"item_id\":\"fc_01\",\"obfuscation\":\"0123456789\",\"output_index\":0,\"sequence_number\":1234}}\n\n"
        ));
    };
    delta(opening);
    let piece = "x".repeat(PIECE);
    (0..text / PIECE).for_each(|_| delta(&piece));
    delta(&"x".repeat(text % PIECE));
    delta(closing);
    let arguments = format!("{opening}{}{closing}", "x".repeat(text));
    out += &chunk(&format!(
        "event: response.function_call_arguments.done\ndata: {{\"type\":\"response.function_call_arguments.done\",\"arguments\":\"{arguments}\",\"item_id\":\"fc_01\",\"output_index\":0,\"sequence_number\":9997}}\n\n"
    ));
    out += &chunk(&format!(
        "event: response.output_item.done\ndata: {{\"type\":\"response.output_item.done\",\"item\":{{\"id\":\"fc_01\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{arguments}\",\"call_id\":\"call_01\",\"name\":\"take\"}},\"output_index\":0,\"sequence_number\":9998}}\n\n"
    ));
    out + &Api::Responses.closing()
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
