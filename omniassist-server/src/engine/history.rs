use omniassist_core::message::{Message, Part, Role, ToolState};
use omniassist_core::run::ToolCatalog;
use omniassist_core::{Error, HistoryPart, RunRequest, Text, ToolSide, Verdict, Verifier};

/// What stands for an output that can no longer be told to be the server's own.
const UNVERIFIABLE: &str = "The result of this call can no longer be verified.";

/// Passes every part that only the server can have written through the verifier.
///
/// # Errors
///
/// When the verifier refuses a part; the error names it.
pub(super) fn verify(
    request: &mut RunRequest,
    principal: &str,
    tools: &dyn ToolCatalog,
    verifier: &dyn Verifier,
) -> Result<(), Error> {
    let chat_id = request.chat_id.clone();
    for (message_index, message) in request.messages.iter_mut().enumerate() {
        if message.role != Role::Assistant {
            continue;
        }
        let mut distrusted = Vec::new();
        for (part_index, part) in message.parts.iter().enumerate() {
            if !is_servers_own(part, tools) {
                continue;
            }
            let mut posted = HistoryPart::new(message, part);
            posted.chat_id = chat_id.as_deref();
            posted.principal = principal;
            match verifier.verify(posted) {
                Verdict::Accept => {}
                Verdict::Refuse => {
                    let path = format!("messages[{message_index}].parts[{part_index}]");
                    return Err(Error::invalid_field(path, "a part that this server wrote", "another"));
                }
                _ => distrusted.push(part_index),
            }
        }
        distrust(message, &distrusted);
    }
    Ok(())
}

fn is_servers_own(part: &Part, tools: &dyn ToolCatalog) -> bool {
    match part {
        Part::Text(_) | Part::Reasoning(_) => true,
        Part::Tool(tool) => {
            tool.state.is_answered()
                && (tool.provider_executed || tools.side(&tool.name) != Some(ToolSide::FrontEnd))
        }
        _ => false,
    }
}

fn distrust(message: &mut Message, parts: &[usize]) {
    for index in parts {
        let Some(part) = message.parts.get_mut(*index) else { continue };
        match part {
            Part::Text(text) => text.metadata = None,
            Part::Reasoning(reasoning) => reasoning.metadata = None,
            Part::Tool(tool) => {
                tool.metadata = None;
                if let ToolState::OutputAvailable { input, .. } = &tool.state {
                    let (input, error_text) = (Some(input.clone()), Text::from_static(UNVERIFIABLE));
                    tool.state = ToolState::OutputError { input, error_text };
                }
            }
            _ => {}
        }
    }
}
