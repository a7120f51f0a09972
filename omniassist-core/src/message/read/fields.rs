use crate::message::raw::raw_record;

raw_record! {
    /// The fields of all kinds of parts.
    PartFields {
        kind: "type",
        text: "text",
        provider_metadata: "providerMetadata",
        media_type: "mediaType",
        url: "url",
        filename: "filename",
        source_id: "sourceId",
        title: "title",
        id: "id",
        data: "data",
        tool_call_id: "toolCallId",
        tool_name: "toolName",
        state: "state",
        input: "input",
        raw_input: "rawInput",
        output: "output",
        error_text: "errorText",
        preliminary: "preliminary",
        provider_executed: "providerExecuted",
        call_provider_metadata: "callProviderMetadata",
        result_provider_metadata: "resultProviderMetadata",
        approval: "approval",
    }
}

raw_record! {
    /// The fields of a message, a function call or a function call's output, except `parts`.
    MessageFields {
        id: "id",
        role: "role",
        content: "content",
        metadata: "metadata",
        kind: "type",
        call_id: "call_id",
        name: "name",
        arguments: "arguments",
        output: "output",
        status: "status",
        message_id: "messageId",
        call_provider_metadata: "callProviderMetadata",
        provider_metadata: "providerMetadata",
    }
}
