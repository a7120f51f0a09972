//! The cases. One is added by writing an `async fn(Transport)` in a file of [`cases`](crate::cases), and its name here.

use std::future::Future;
use std::pin::Pin;

use crate::cases::{
    access, connections, errors, files, host_data, keep_alive, leaving, limits, order, paths, readers,
    routes, shutdown,
};
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
    files::{
        an_upload_is_served_to_its_principal_only_until_deleted,
        a_large_upload_is_streamed_in_both_directions,
        a_form_of_files_is_stored,
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
    keep_alive::{
        comments_while_the_model_is_silent,
        comments_while_a_tool_runs,
        comments_leave_the_events_whole,
        no_comments_where_the_format_has_none,
        a_silent_response_opens_in_time,
        no_comment_in_a_quick_answer,
    }
    connections::{
        several_requests_on_one,
        requests_that_do_not_wait_for_answers,
        a_connection_outlives_refusals,
        a_connection_outlives_bodies_that_nobody_reads,
        a_refusal_reaches_who_is_still_sending,
        a_refusal_does_not_wait_for_ever,
        a_body_that_is_withheld_closes_the_connection,
        a_body_with_a_content_encoding_is_refused,
        a_body_that_waits_to_be_wanted,
        a_body_that_comes_slowly,
        bodies_in_pieces_of_any_size,
        many_at_the_same_time,
        a_silent_run_beside_others,
    }
    readers::{
        one_that_stops_holds_up_nobody,
        one_that_stops_is_given_up,
        one_that_is_slow_gets_everything,
    }
    host_data::{
        users_and_data_reach_tools,
        they_do_on_every_route,
        nobody_is_anonymous,
        what_the_backend_does_not_have_fails_the_tool,
        users_reach_the_prompt,
        users_are_not_mixed_up,
        chats_of_two_users_are_apart,
        the_backends_own_routes_are_its_own,
    }
    paths::{
        at_the_root,
        below_a_path,
        below_three_segments,
        trailing_slashes,
        query_strings,
        escapes_in_the_id_of_a_chat,
        escaped_slashes,
        a_request_with_its_whole_address,
        two_assistants_in_one_backend,
        two_assistants_with_the_same_chats,
    }
    shutdown::{
        drain_tells_every_live_stream,
        drain_lets_runs_end_by_themselves,
        drain_refuses_new_runs,
        drain_fires_the_tokens_of_tools,
        one_run_too_many_of_a_user,
        one_run_too_many_of_all,
        too_many_runs_in_a_while,
    }
    access::{
        nobody_is_refused,
        a_hook_says_whose_request_it_is,
        a_refusal_reaches_who_is_still_sending,
        pages_of_other_origins_are_refused,
        its_own_pages_are_welcome,
        listed_pages_may_ask_and_read,
        browsers_ask_first,
        a_name_that_is_pointed_here,
        hosts_by_a_list,
        forms_of_other_pages,
        keys_that_stand_twice,
        headers_that_every_answer_has,
    }
}
