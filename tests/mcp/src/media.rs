//! Tools, resources and prompts with media.

use omniassist_mcp::{Attachments, Content, Expose, Prompt, PromptMessage, Resource, ResourceContent};
use omniassist_server::AssistantBuilder;
use omniassist_server::tool::{Tool, ToolError};
use serde_json::json;

/// An image of one pixel.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63,
    0xf8, 0xcf, 0xc0, 0, 0, 0x03, 0x01, 0x01, 0, 0xc9, 0xfe, 0x92, 0xef, 0, 0, 0, 0, b'I', b'E', b'N', b'D',
    0xae, 0x42, 0x60, 0x82,
];

/// A sound without a sample.
const WAV: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0";

async fn image(attachments: Attachments) -> Result<(), ToolError> {
    attachments.add(Content::image("image/png", PNG))
}

async fn audio(attachments: Attachments) -> Result<(), ToolError> {
    attachments.add(Content::audio("audio/wav", WAV))
}

async fn embedded_resource(attachments: Attachments) -> Result<(), ToolError> {
    let content = ResourceContent::text("This is an embedded resource content.");
    attachments.add(Content::resource("test://embedded-resource", content))
}

async fn mixed(attachments: Attachments) -> Result<&'static str, ToolError> {
    attachments.add(Content::image("image/png", PNG))?;
    let content = ResourceContent::text(json!({ "test": "data", "value": 123 }).to_string());
    let content = content.media_type("application/json");
    attachments.add(Content::resource("test://mixed-content-resource", content))?;
    Ok("Multiple content types test:")
}

/// Adds the tools with media.
pub(crate) fn tools(builder: AssistantBuilder) -> AssistantBuilder {
    builder
        .tool(Tool::new("test_image_content", "Returns an image", image).read_only())
        .tool(Tool::new("test_audio_content", "Returns a sound", audio).read_only())
        .tool(Tool::new("test_embedded_resource", "Returns a resource", embedded_resource).read_only())
        .tool(Tool::new("test_multiple_content_types", "Returns a text and media", mixed).read_only())
}

/// Adds the resources of the suite.
pub(crate) fn resources(expose: Expose) -> Expose {
    let text = Resource::new("test://static-text", "static-text", async |_| {
        Ok(ResourceContent::text("This is the content of the static text resource."))
    });
    let binary =
        Resource::new("test://static-binary", "static-binary", async |_| Ok(ResourceContent::bytes(PNG)));
    let template = Resource::template("test://template/{id}/data", "template", async |request| {
        let id = request.parameter("id").unwrap_or_default();
        let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
        Ok(Some(ResourceContent::text(data.to_string())))
    });
    expose
        .resource(text.description("A text").media_type("text/plain"))
        .resource(binary.description("An image").media_type("image/png"))
        .resource(template.description("A record").media_type("application/json"))
}

/// Adds the prompts of the suite.
pub(crate) fn prompts(expose: Expose) -> Expose {
    let simple = Prompt::new("test_simple_prompt", "Has no arguments", async |_| {
        Ok(vec![PromptMessage::user("This is a simple prompt for testing.")])
    });
    let with_arguments = Prompt::new("test_prompt_with_arguments", "Has two arguments", async |request| {
        let argument = |name| request.argument(name).unwrap_or_default();
        let text = format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2"));
        Ok(vec![PromptMessage::user(text)])
    });
    let with_resource =
        Prompt::new("test_prompt_with_embedded_resource", "Has a resource", async |request| {
            let uri = request.argument("resourceUri").unwrap_or_default();
            let content = ResourceContent::text("Embedded resource content for testing.");
            Ok(vec![
                PromptMessage::user(Content::resource(uri, content)),
                PromptMessage::user("Please process the embedded resource above."),
            ])
        });
    let with_image = Prompt::new("test_prompt_with_image", "Has an image", async |_| {
        Ok(vec![
            PromptMessage::user(Content::image("image/png", PNG)),
            PromptMessage::user("Please analyze the image above."),
        ])
    });
    let asking = Prompt::new("test_input_required_result_prompt", "Asks for its argument", async |request| {
        let context = request.argument("context").unwrap_or_default();
        Ok(vec![PromptMessage::user(format!("Consider: {context}"))])
    });
    let cities = async |request: omniassist_mcp::CompletionRequest| {
        let cities = ["paris", "park", "party"].into_iter().filter(|city| city.starts_with(request.value()));
        Ok(cities.map(str::to_owned).collect())
    };
    expose
        .prompt(simple)
        .prompt(
            with_arguments
                .required_argument("arg1", "The first one")
                .required_argument("arg2", "The second one")
                .complete("arg1", cities),
        )
        .prompt(with_resource.required_argument("resourceUri", "The URI of the resource"))
        .prompt(with_image)
        .prompt(asking.required_argument("context", "The context of the prompt"))
}
