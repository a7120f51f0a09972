//! The check that an answer is complete and correct.

use serde_json::Value;

use super::chunked::Chunked;
use super::server::Target;
use super::wire::{Api, without_times};

/// Checks the whole body of an answer of `deltas` deltas.
pub(super) fn check(target: Target, api: Api, body: &[u8], deltas: usize) -> Result<(), String> {
    match target {
        Target::Relay => relayed(api, body, deltas),
        Target::Assistant(_) | Target::Traced => {
            let answer = Answer::read(body)?;
            if answer.text != expected(deltas) {
                return Err(format!("the text is wrong: {}", answer.text));
            }
            Ok(())
        }
    }
}

/// The content of an answer, with zeros as its times.
pub(super) struct Answer {
    pub(super) text: String,
    /// The pieces of the tools' input.
    pub(super) input: String,
}

impl Answer {
    /// Reads a complete stream of the AI SDK's dialect.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        let body = without_times(body);
        let body = str::from_utf8(&body).map_err(|error| error.to_string())?;
        let frames = body.strip_suffix("data: [DONE]\n\n").ok_or("there is no [DONE]")?;
        let (mut text, mut input, mut kinds) = (String::new(), String::new(), Vec::new());
        for frame in frames.split_terminator("\n\n") {
            if frame.starts_with(':') {
                continue;
            }
            let data = frame.lines().find_map(|line| line.strip_prefix("data: "));
            let data = data.ok_or_else(|| format!("{frame:?} is not an event"))?;
            let chunk: Value = serde_json::from_str(data).map_err(|error| format!("{error}: {data}"))?;
            let field = |name: &str| chunk.get(name).and_then(Value::as_str).unwrap_or_default();
            let kind = field("type").to_owned();
            match kind.as_str() {
                "text-delta" => text.push_str(field("delta")),
                "tool-input-delta" => input.push_str(field("inputTextDelta")),
                "error" | "abort" | "tool-input-error" | "tool-output-error" => return Err(data.to_owned()),
                _ => {}
            }
            kinds.push(kind);
        }
        let finishes = kinds.iter().filter(|kind| *kind == "finish").count();
        match (kinds.first(), kinds.last(), finishes) {
            (Some(first), Some(last), 1) if first == "start" && last == "finish" => Ok(Self { text, input }),
            _ => Err(format!(
                "{finishes} finish chunks, the first chunk {:?}, the last {:?}",
                kinds.first(),
                kinds.last()
            )),
        }
    }
}

fn expected(deltas: usize) -> String {
    let mut text = Vec::new();
    (0..deltas).for_each(|number| text.extend(super::wire::stamp(0, number).into_bytes()));
    String::from_utf8_lossy(&text).into_owned()
}

fn relayed(api: Api, body: &[u8], deltas: usize) -> Result<(), String> {
    let mut framed = api.opening();
    (0..deltas).for_each(|number| framed.push_str(&api.delta(0, number)));
    framed.push_str(&api.closing());
    let mut expected = Vec::new();
    Chunked::default().feed(framed.as_bytes(), &mut expected);
    if without_times(body) == expected {
        Ok(())
    } else {
        Err("the bytes differ from the provider's".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::hosts::Adapter;
    use crate::relay::wire::stamp;

    const AXUM: Target = Target::Assistant(Adapter::Axum);

    fn answer(deltas: &[String]) -> String {
        let deltas =
            deltas.iter().map(|delta| format!("data: {{\"type\":\"text-delta\",\"delta\":\"{delta}\"}}\n\n"));
        let deltas: String = deltas.collect();
        format!(
            "data: {{\"type\":\"start\"}}\n\n{deltas}: still here\n\ndata: {{\"type\":\"finish\"}}\n\ndata: [DONE]\n\n"
        )
    }

    #[test]
    fn a_complete_answer_passes() {
        let body = answer(&[stamp(5, 0), stamp(7, 1)]);
        check(AXUM, Api::Responses, body.as_bytes(), 2).unwrap();
    }

    #[test]
    fn missing_repeated_and_reordered_deltas_are_errors() {
        let (one, two) = (stamp(5, 0), stamp(7, 1));
        for deltas in [&[one.clone()][..], &[two.clone(), one.clone()], &[one.clone(), one.clone()]] {
            check(AXUM, Api::Responses, answer(deltas).as_bytes(), 2).unwrap_err();
        }
        let whole = answer(&[one, two]);
        for broken in [
            whole.replace("[DONE]", ""),
            whole.replace("finish", "abort"),
            whole.replace("\"start\"", "\"start-step\""),
            whole.replace("data: {\"type\":\"finish\"}\n\n", ""),
        ] {
            check(AXUM, Api::Responses, broken.as_bytes(), 2).unwrap_err();
        }
    }

    #[test]
    fn a_relayed_answer_has_the_bytes_of_the_provider() {
        for api in Api::ALL {
            let mut body = Vec::new();
            let framed = api.opening() + &api.delta(5, 0) + &api.delta(9, 1) + &api.closing();
            Chunked::default().feed(framed.as_bytes(), &mut body);
            check(Target::Relay, api, &body, 2).unwrap();
            check(Target::Relay, api, &body, 3).unwrap_err();
        }
    }
}
