//! The cases. One is added by writing an `async fn(Transport)` in a file of [`cases`](crate::cases), and its name here.

use std::future::Future;
use std::pin::Pin;

use crate::cases::{errors, leaving, limits, order, routes};
use crate::transport::Transport;

pub(crate) type CaseFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One behaviour, the same over every transport.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: fn(Transport) -> CaseFuture,
}

macro_rules! cases {
    ($($group:ident::{$($name:ident),+ $(,)?})+) => {
        pub(crate) const CASES: &[Case] = &[$($(Case {
            name: concat!(stringify!($group), "::", stringify!($name)),
            run: |transport| Box::pin($group::$name(transport)),
        },)+)+];
    };
}

cases! {
    routes::{
        run_as_server_sent_events,
        run_as_ndjson,
        run_as_plain_text,
        completion,
        completion_as_plain_text,
        object_by_name,
        the_only_object,
        openai_whole,
        openai_streamed,
        openai_models,
        ag_ui,
        copilotkit_info,
        copilotkit_run,
        copilotkit_connect,
        copilotkit_single_route,
        copilotkit_stop,
        stop_ends_the_run_of_a_chat,
        stream_has_nothing_to_resume,
        manifest,
        types,
        head_has_the_headers_of_get_and_no_body,
        methods_that_are_not_allowed,
        paths_that_are_not_there,
    }
    limits::{
        body_of_announced_length,
        body_in_chunks,
        body_on_every_route,
        depth_of_json,
        messages,
        parts,
        ids,
        context_messages,
        declared_tools,
    }
    errors::{
        json_that_is_none,
        content_types,
        wrong_field_is_named,
        each_dialect_in_its_own_words,
        provider_fails_before_the_first_byte,
        provider_fails_after_the_first_byte,
        plain_text_that_breaks_off,
        tool_fails,
        same_message_twice,
    }
    order::{
        words_arrive_while_the_model_speaks,
        every_delta_in_its_place,
        tool_output_arrives_before_the_next_step,
        characters_cut_between_chunks,
        large_answer,
    }
    leaving::{
        before_the_first_byte,
        before_the_response_begins,
        in_the_middle_of_text,
        in_the_middle_of_a_tool,
        between_steps,
        while_a_retry_is_awaited,
        in_the_middle_of_the_request,
        by_hanging_up,
        by_closing_one_half,
    }
}
