//! The list of the cases. A case is an `async fn(Transport)` in a file of [`cases`](crate::cases), and its name here.

use std::future::Future;
use std::pin::Pin;

use crate::cases::{
    access, agents, apps, connections, errors, files, host_data, keep_alive, leaving, limits, order, paths,
    playground, readers, routes, shutdown, sockets, widget,
};
use crate::transport::Transport;

pub(crate) type CaseFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One behaviour that every transport must have.
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
        other_methods_are_not_allowed,
        unknown_paths_are_not_found,
    }
    agents::{
        an_agent_answers_below_both_of_its_paths,
        an_asked_agent_ends_with_its_client,
    }
    apps::{
        the_document_of_an_app_has_no_origin,
        an_app_calls_a_tool_and_reads_a_resource,
    }
    playground::{
        this_machine_is_admitted_without_a_proxy,
    }
    widget::{
        a_script_needs_no_principal_and_the_manifest_does,
        the_stable_url_is_revalidated_and_names_the_module,
        a_module_has_the_hash_of_its_tag_and_a_stale_one_is_not_found,
        a_module_is_compressed_as_the_browser_accepts_it,
    }
    sockets::{
        a_tree_from_its_start_to_its_end,
        the_upgrade_passes_the_checks_of_every_route,
        a_message_that_is_too_large_closes_with_1009,
        a_post_that_offers_an_upgrade_keeps_its_body,
        a_client_that_is_gone_ends_its_agents,
        a_slow_reader_slows_the_agents_down,
        draining_closes_with_1001,
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
        malformed_json_is_refused,
        only_json_content_types_are_accepted,
        the_error_names_the_wrong_field,
        each_dialect_has_its_own_error_format,
        provider_fails_before_the_first_byte,
        provider_fails_after_the_first_byte,
        a_failure_cuts_plain_text,
        a_tool_error_reaches_the_client_and_the_model,
        a_duplicate_run_is_refused,
    }
    order::{
        words_arrive_as_the_model_sends_them,
        deltas_arrive_complete_and_in_order,
        tool_output_arrives_before_the_next_step,
        characters_split_between_chunks_arrive_whole,
        a_large_answer_is_complete,
    }
    leaving::{
        before_the_first_byte,
        before_the_response_begins,
        in_the_middle_of_text,
        in_the_middle_of_a_tool,
        between_steps,
        while_a_retry_is_awaited,
        in_the_middle_of_the_request,
        by_closing_the_connection,
        by_closing_one_half,
    }
    keep_alive::{
        comments_while_the_model_is_silent,
        comments_while_a_tool_runs,
        comments_do_not_break_events,
        formats_without_comments_have_none,
        a_silent_response_begins_in_time,
        a_quick_answer_has_no_comment,
    }
    connections::{
        several_requests_share_a_connection,
        requests_do_not_wait_for_earlier_answers,
        a_connection_outlives_refusals,
        a_connection_outlives_unread_bodies,
        a_refusal_reaches_a_client_that_is_still_sending,
        a_refusal_does_not_wait_for_the_body,
        an_incomplete_body_closes_the_connection,
        a_body_with_a_content_encoding_is_refused,
        a_body_is_read_after_100_continue,
        a_slow_body_does_not_delay_others,
        bodies_arrive_in_pieces_of_any_size,
        simultaneous_requests_get_their_own_answers,
        a_silent_run_does_not_delay_others,
    }
    readers::{
        a_stalled_reader_delays_no_other,
        a_stalled_reader_is_disconnected,
        a_slow_reader_gets_the_whole_answer,
    }
    host_data::{
        users_and_data_reach_tools,
        users_and_data_reach_tools_on_every_route,
        requests_without_a_user_are_anonymous,
        missing_host_data_fails_the_tool,
        users_reach_the_prompt,
        users_are_not_mixed_up,
        chats_of_two_users_are_separate,
        the_backends_own_routes_are_unchanged,
    }
    paths::{
        at_the_root,
        below_a_path,
        below_three_segments,
        trailing_slashes,
        query_strings,
        escapes_in_the_id_of_a_chat,
        escaped_slashes,
        a_request_with_its_whole_uri,
        two_assistants_in_one_backend,
        two_assistants_keep_separate_chats,
    }
    shutdown::{
        drain_sends_an_error_to_every_live_stream,
        drain_waits_for_runs_that_end_in_time,
        drain_refuses_new_runs,
        drain_cancels_the_tokens_of_tools,
        runs_of_one_user_are_limited,
        runs_of_all_users_are_limited,
        a_rate_limit_refuses_runs,
    }
    access::{
        anonymous_requests_are_refused,
        a_hook_authenticates_requests,
        a_refusal_reaches_a_client_that_is_still_sending,
        pages_of_other_origins_are_refused,
        pages_of_the_own_origin_are_accepted,
        pages_of_listed_origins_are_accepted,
        preflights_are_answered,
        foreign_host_names_are_refused,
        only_listed_hosts_are_accepted,
        content_types_of_forms_are_refused,
        duplicate_keys_are_refused,
        every_answer_has_the_security_headers,
    }
}
