use std::time::Duration;

/// Every bound that OmniAssist keeps, with its default.
///
/// ```
/// use omniassist_core::Limits;
///
/// let mut limits = Limits::default();
/// limits.max_steps = 8;
/// assert_eq!(limits.max_messages, 1_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request body. Default 8 MiB; one more byte is answered 413.
    pub max_body_bytes: usize,
    /// Memory for request bodies of one named principal that are being received or read. Default 32 MiB; more is
    /// answered 429 `too_many_uploads`. Anonymous callers share only [`max_body_bytes_in_flight`](Self::max_body_bytes_in_flight).
    pub max_body_bytes_per_principal: usize,
    /// Memory for request bodies of all clients that are being received or read. Default 256 MiB; more is answered 503
    /// `overloaded`.
    pub max_body_bytes_in_flight: usize,
    /// Time for a request body to arrive. Default 30 s. A body that takes longer must bring
    /// [`min_body_rate`](Self::min_body_rate) in every further period of this length; otherwise the request is answered
    /// 408 and its connection is closed.
    pub body_timeout: Duration,
    /// Bytes per second, on average over each [`body_timeout`](Self::body_timeout), that a slow request body must bring.
    /// Default 8 KiB.
    pub min_body_rate: usize,
    /// Nesting of a request's JSON. Default 64; 65 is answered 400. At most 127, where the parser itself stops.
    pub max_json_depth: usize,
    /// Messages in one request. Default 1,000.
    pub max_messages: usize,
    /// Parts in one message. Default 1,024.
    pub max_parts: usize,
    /// Context messages in one request. Default 1,000; the compressor keeps the last of them.
    pub max_context_messages: usize,
    /// Memory of the JSON values in a request body that are parsed (metadata, context data, schemas of tools), estimated,
    /// all together. Default 32 MiB; more is answered 400.
    pub max_tree_bytes: usize,
    /// Fields of a request body that its format does not define. Default 64; one more is answered 400.
    pub max_extra_fields: usize,
    /// Bytes of an id that a client chose (chat, message, tool call). Default 256.
    pub max_id_bytes: usize,
    /// Front-end tools that one request may declare. Default 64.
    pub max_declared_tools: usize,
    /// Bytes of the schema of a tool, an answer or a form, with each reference replaced by its target. Default 256 KiB; a
    /// client's tool with more is answered 400, and a host's fails to register.
    pub max_schema_bytes: usize,
    /// Levels of schemas within such a schema, references included. Default 32, at most 128.
    pub max_schema_depth: usize,
    /// Steps that the check of a value against a schema may take, beside those for the size of the value. Default
    /// 250,000, a few milliseconds. The model reads that arguments which take more are too complex.
    pub max_schema_check_steps: u64,
    /// Bytes of the tool schemas of one request to a provider that does not follow `$ref`, with each reference replaced by
    /// its target. Default 1 MiB; a request with more is not sent, and the run fails.
    pub max_inlined_schema_bytes: usize,
    /// Model calls since the last user message, resubmissions included. Default 16.
    pub max_steps: u32,
    /// Turns in a row in which every tool call was unusable (unknown tool, arguments that do not parse or fit)
    /// before the run ends. Default 2.
    pub max_invalid_turns: u32,
    /// Tool calls in one answer of the model. Default 128. The next one is answered with an error that the model reads,
    /// and later ones are left out.
    pub max_calls_per_turn: usize,
    /// Runs of one named principal under way at the same time. Default 4; one more is answered 429 `too_many_runs`.
    /// Anonymous callers are not counted together, since nothing says that they are one.
    pub max_runs_per_principal: usize,
    /// Runs of all clients under way at the same time, anonymous ones included. Default 10,000; one more is answered
    /// 503 `overloaded`.
    pub max_runs: usize,
    /// Bytes of one server-sent event from a provider. Default 8 MiB.
    pub max_sse_event_bytes: usize,
    /// Bytes of one provider response, decoded. Default 64 MiB.
    pub max_response_bytes: usize,
    /// Bytes of one tool call's arguments. Default 1 MiB.
    pub max_tool_args_bytes: usize,
    /// Bytes of one tool's output; the rest is cut off with a note to the model. Default 256 KiB.
    pub max_tool_output_bytes: usize,
    /// Tools of one step that run at the same time. Default 8.
    pub max_parallel_tools: usize,
    /// Bytes of the events of one tool call, and bytes of its progress values, that wait for a client that reads slowly.
    /// Default 256 KiB of each; a single larger one may wait too. Later events, and older progress, are left out.
    pub max_unread_tool_bytes: usize,
    /// The time that a tool may run. Default 60 s.
    pub tool_timeout: Duration,
    /// The time that a cancelled tool may take to end before its task is aborted. Default 2 s.
    pub tool_cancel_grace: Duration,
    /// The time to answer an approval or a form. Default 15 min. A later answer does not count: the model may ask again.
    pub approval_lifetime: Duration,
    /// The time that a new post to a chat waits for the end of the run that it replaces. Default 250 ms.
    pub supersede_grace: Duration,
    /// The time to connect to a provider. Default 5 s.
    pub connect_timeout: Duration,
    /// From request to the first byte of the provider's answer. Default 60 s; 300 s for a loopback base URL and
    /// for Gemini.
    pub first_byte_timeout: Option<Duration>,
    /// Silence of the provider's stream, counted on raw bytes. Default 120 s.
    pub idle_timeout: Duration,
    /// A whole run. Default 15 min.
    pub run_timeout: Duration,
    /// Repeats of a provider request that failed before anything was received. Default 2.
    pub max_retries: u32,
    /// First back-off between repeats; doubles, with full jitter. Default 0.5 s.
    pub retry_base_delay: Duration,
    /// Longest back-off between repeats. Default 8 s.
    pub retry_max_delay: Duration,
    /// Longest `Retry-After` that is waited for; a longer one fails at once. Default 120 s.
    pub max_retry_after: Duration,
    /// The time for which an idle provider connection stays in its pool. A provider has one pool for each tokio
    /// runtime, and the number of connections in it is not limited. Default 30 s.
    pub pool_idle_timeout: Duration,
    /// The time that a client may leave a response unread before the run is dropped. Default 30 s.
    pub write_timeout: Duration,
    /// Silence on a response after which a comment is sent to keep it open. Default 15 s.
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
            max_messages: 1_000,
            max_parts: 1_024,
            max_context_messages: 1_000,
            max_tree_bytes: 32 * MIB,
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
            max_sse_event_bytes: 8 * MIB,
            max_response_bytes: 64 * MIB,
            max_tool_args_bytes: MIB,
            max_tool_output_bytes: MIB / 4,
            max_parallel_tools: 8,
            max_unread_tool_bytes: MIB / 4,
            tool_timeout: Duration::from_secs(60),
            tool_cancel_grace: Duration::from_secs(2),
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
