use std::time::Duration;

/// The limits of OmniAssist, with their defaults.
///
/// ```
/// use omniassist_core::Limits;
///
/// let mut limits = Limits::default();
/// limits.max_steps = 8;
/// assert_eq!(limits.max_parts, 1_024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request body. Default 8 MiB; a larger body is answered 413.
    pub max_body_bytes: usize,
    /// Memory for request bodies of one named principal that are being received or read, and for the `data:` URLs of its
    /// runs. Default 32 MiB; more is answered 429 `too_many_uploads`. Anonymous callers share only
    /// [`max_body_bytes_in_flight`](Self::max_body_bytes_in_flight).
    pub max_body_bytes_per_principal: usize,
    /// Memory for request bodies of all clients that are being received or read, and for the `data:` URLs of their runs.
    /// Default 256 MiB; more is answered 503 `overloaded`.
    ///
    /// A `data:` URL counts until its run ends, if its body has 64 KiB or more. The rest of a conversation and the content
    /// of stored files do not count; [`max_runs`](Self::max_runs) bounds them.
    pub max_body_bytes_in_flight: usize,
    /// The time for receiving a request body. Default 30 s. A body that takes longer must reach
    /// [`min_body_rate`](Self::min_body_rate) in each further period of this length. Otherwise the request is answered
    /// 408 and its connection is closed.
    pub body_timeout: Duration,
    /// Bytes per second that a slow request body must reach, averaged over each [`body_timeout`](Self::body_timeout).
    /// Default 8 KiB.
    pub min_body_rate: usize,
    /// Nesting of a request's JSON. Default 64; 65 is answered 400. At most 127, the limit of the parser.
    pub max_json_depth: usize,
    /// Parts in one message. Default 1,024.
    pub max_parts: usize,
    /// Parts of all messages in one request; messages are counted too, since some have no part. Default 65,536 of each,
    /// which a conversation of 10,000 messages does not reach.
    pub max_conversation_parts: usize,
    /// Context messages in one request. Default 1,000; the compressor keeps the last of them.
    pub max_context_messages: usize,
    /// Estimated memory of all JSON values of a request body that are parsed (metadata, context data, tool schemas).
    /// Default 32 MiB; more is answered 400.
    pub max_json_memory_bytes: usize,
    /// Fields of a request body that its format does not define. Default 64; one more is answered 400.
    pub max_extra_fields: usize,
    /// Bytes of an id that a client chose (chat, message, tool call). Default 256.
    pub max_id_bytes: usize,
    /// Front-end tools that one request may declare. Default 64.
    pub max_declared_tools: usize,
    /// Bytes of the schema of a tool, an answer or a form, with each reference replaced by its target. Default 256 KiB;
    /// a client's tool with more is answered 400, and a host's fails to register.
    pub max_schema_bytes: usize,
    /// Levels of schemas within such a schema, references included. Default 32, at most 128.
    pub max_schema_depth: usize,
    /// Steps of the validation of a value against a schema, in addition to those for the size of the value. Default
    /// 250,000, a few milliseconds. If arguments need more, the model receives the error that they are too complex.
    pub max_schema_check_steps: u64,
    /// Bytes of the tool schemas of one request to a provider that does not follow `$ref`, with each reference replaced
    /// by its target. Default 1 MiB; a request with more is not sent, and the run fails.
    pub max_inlined_schema_bytes: usize,
    /// Model calls since the last user message, including those of resubmissions. Default 16. A server that hands
    /// conversations off counts those of each agent.
    pub max_steps: u32,
    /// Consecutive turns without a valid tool call (unknown tool, arguments that do not parse or are invalid) before
    /// the run ends. Default 2.
    pub max_invalid_turns: u32,
    /// Tool calls in one answer of the model. Default 128. The next call gets an error for the model, and later ones
    /// are dropped.
    pub max_calls_per_turn: usize,
    /// Concurrent runs of one named principal. Default 4; one more is answered 429 `too_many_runs`. Anonymous callers
    /// are not counted together, because they cannot be identified as one.
    pub max_runs_per_principal: usize,
    /// Concurrent runs of all clients, including anonymous ones. Default 10,000; one more is answered 503 `overloaded`.
    pub max_runs: usize,
    /// Open WebSockets of one named principal. Default 8; one more is answered 429 `too_many_sockets`. Anonymous callers
    /// share only [`max_sockets`](Self::max_sockets).
    pub max_sockets_per_principal: usize,
    /// Open WebSockets of all clients. Default 10,000; one more is answered 503 `overloaded`.
    pub max_sockets: usize,
    /// Frames that the client of a WebSocket may send in a second, parts of messages included. Default 10; twice as many may
    /// come at once. One more closes the WebSocket with 1008.
    pub max_socket_frames_per_second: u32,
    /// Bytes of whole states of agents that a stored tree of agents writes while it works. Default 32 MiB. The tree then goes
    /// on, and its last states are written when it ends.
    pub max_written_state_bytes: usize,
    /// The time without a message of the client and without agents at work, after which a WebSocket is closed with 1001.
    /// Default 10 min.
    pub socket_idle_timeout: Duration,
    /// The longest life of a WebSocket. It is then closed with 1001: at the end of its agents, or when the client begins
    /// others. Default 1 h.
    pub socket_lifetime: Duration,
    /// Bytes of one server-sent event from a provider. Default 8 MiB.
    pub max_sse_event_bytes: usize,
    /// Bytes of one provider response, decoded. Default 64 MiB.
    pub max_response_bytes: usize,
    /// Bytes of one tool call's arguments. Default 1 MiB.
    pub max_tool_args_bytes: usize,
    /// Bytes of one tool's output. Default 256 KiB; the rest is replaced by a note to the model.
    pub max_tool_output_bytes: usize,
    /// Tools of one step that run concurrently. Default 8.
    pub max_parallel_tools: usize,
    /// Bytes of the queued events of one tool call, and of its queued progress values, for a client that reads slowly.
    /// Default 256 KiB each; a single larger one may be queued too. Later events, and older progress, are dropped.
    pub max_unread_tool_bytes: usize,
    /// The time limit of a tool. Default 60 s.
    pub tool_timeout: Duration,
    /// The time that a cancelled tool may take to end before its task is aborted. Default 2 s.
    pub tool_cancel_grace: Duration,
    /// Instances of components in a conversation that count, the newest. Default 64.
    pub max_component_instances: usize,
    /// Bytes of each part of the state of an instance. Default 16 KiB. A larger one of a client is not accepted, and a change
    /// of the server to a larger one fails.
    pub max_component_state_bytes: usize,
    /// The time for answering an approval or a form. Default 15 min. A later answer is not accepted, and the model may
    /// ask again.
    pub approval_lifetime: Duration,
    /// The time that a new post to a chat waits for the end of the run that it replaces. Default 250 ms.
    pub supersede_grace: Duration,
    /// The time to connect to a provider. Default 5 s.
    pub connect_timeout: Duration,
    /// The time from a request to the first byte of the provider's answer. Default 60 s; 300 s for a loopback base URL
    /// and for Gemini.
    pub first_byte_timeout: Option<Duration>,
    /// The time without data on the provider's stream, measured on raw bytes. Default 120 s.
    pub idle_timeout: Duration,
    /// The time limit of a run. Default 15 min.
    pub run_timeout: Duration,
    /// Retries of a provider request that failed before any data was received. Default 2.
    pub max_retries: u32,
    /// The first delay between retries. It doubles each time, with full jitter. Default 0.5 s.
    pub retry_base_delay: Duration,
    /// The longest delay between retries. Default 8 s.
    pub retry_max_delay: Duration,
    /// The longest accepted `Retry-After`. A longer one fails immediately. Default 120 s.
    pub max_retry_after: Duration,
    /// The time for which an idle provider connection stays in its pool. A provider has one pool for each tokio
    /// runtime, and the number of connections in it is not limited. Default 30 s.
    pub pool_idle_timeout: Duration,
    /// The time that a client may leave a response unread before the run is dropped. Default 30 s.
    pub write_timeout: Duration,
    /// The time without data on a response before a comment is sent to keep it open. Default 15 s.
    pub keep_alive: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: usize = 1 << 20;
        Self {
            max_body_bytes: 8 * MIB,
            max_body_bytes_per_principal: 32 * MIB,
            max_body_bytes_in_flight: 256 * MIB,
            body_timeout: Duration::from_secs(30),
            min_body_rate: 8 * 1024,
            max_json_depth: 64,
            max_parts: 1_024,
            max_conversation_parts: 65_536,
            max_context_messages: 1_000,
            max_json_memory_bytes: 32 * MIB,
            max_extra_fields: 64,
            max_id_bytes: 256,
            max_declared_tools: 64,
            max_schema_bytes: MIB / 4,
            max_schema_depth: 32,
            max_schema_check_steps: 250_000,
            max_inlined_schema_bytes: MIB,
            max_steps: 16,
            max_invalid_turns: 2,
            max_calls_per_turn: 128,
            max_runs_per_principal: 4,
            max_runs: 10_000,
            max_sockets_per_principal: 8,
            max_sockets: 10_000,
            max_socket_frames_per_second: 10,
            max_written_state_bytes: 32 * MIB,
            socket_idle_timeout: Duration::from_secs(10 * 60),
            socket_lifetime: Duration::from_secs(60 * 60),
            max_sse_event_bytes: 8 * MIB,
            max_response_bytes: 64 * MIB,
            max_tool_args_bytes: MIB,
            max_tool_output_bytes: MIB / 4,
            max_parallel_tools: 8,
            max_unread_tool_bytes: MIB / 4,
            tool_timeout: Duration::from_secs(60),
            tool_cancel_grace: Duration::from_secs(2),
            max_component_instances: 64,
            max_component_state_bytes: 16 * 1024,
            approval_lifetime: Duration::from_secs(15 * 60),
            supersede_grace: Duration::from_millis(250),
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: None,
            idle_timeout: Duration::from_secs(120),
            run_timeout: Duration::from_secs(15 * 60),
            max_retries: 2,
            retry_base_delay: Duration::from_millis(500),
            retry_max_delay: Duration::from_secs(8),
            max_retry_after: Duration::from_secs(120),
            pool_idle_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
        }
    }
}
