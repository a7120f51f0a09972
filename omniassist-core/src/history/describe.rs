use crate::characters::prefix;
use crate::message::{Message, Part, Role, ToolPart, ToolState};

/// The maximum number of bytes of one part. The rest is omitted.
const MAX_PART: usize = 4 << 10;

/// Appends a message in the form for a summariser: one line for each text, call and file. Long parts are truncated.
///
/// The lines contain no reasoning, provider state or metadata, so they stay the same when a client changes those.
pub fn describe(message: &Message, out: &mut String) {
    let speaker = match message.role {
        Role::User => "User",
        Role::System => "Application",
        Role::Assistant => "Assistant",
    };
    for part in &message.parts {
        match part {
            Part::Text(part) if !part.text.trim().is_empty() => line(out, speaker, &part.text),
            Part::File(file) => {
                line(out, speaker, &format!("[file {}]", file.filename.as_ref().unwrap_or(&file.media_type)));
            }
            Part::Tool(tool) => call(out, tool),
            _ => {}
        }
    }
}

fn call(out: &mut String, tool: &ToolPart) {
    let Some(input) = tool.state.input() else { return };
    line(out, "Call", &format!("{}({})", tool.name, prefix(input.as_str(), MAX_PART)));
    match &tool.state {
        ToolState::OutputAvailable { output, preliminary: false, .. } => line(out, "Result", output.as_str()),
        ToolState::OutputError { error_text, .. } => line(out, "Error", error_text),
        ToolState::OutputDenied { .. } => line(out, "Result", "denied by the user"),
        _ => {}
    }
}

fn line(out: &mut String, speaker: &str, text: &str) {
    let shown = prefix(text, MAX_PART);
    out.push_str(speaker);
    out.push_str(": ");
    crate::context::escape_line(out, shown);
    if shown.len() < text.len() {
        out.push_str(" […]");
    }
    out.push('\n');
}
