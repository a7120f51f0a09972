//! Components that the assistant shows: those that come with the crate, and their state and history.
//!
//! [`ComponentState`] reads and changes the state of an instance from any code of the host, also outside a run. The
//! [`component`](crate::component) module has the components themselves, and [`afs`] their history.
//!
//! # The contract
//!
//! Each item of the design document for generative UI, with the part of the SDK that fulfils it and its test:
//!
//! | item | of the document | here | test |
//! |---|---|---|---|
//! | 1 | Presentation: a terminal and a page | `Component::cli`, the UI message stream | `contract_002_01_a_terminal_and_a_page_show_one_component` |
//! | 2 | Registries for both | `ComponentRegistry::list` | `contract_002_02_terminals_and_pages_have_registries` |
//! | 3 | The agent's layer | `UiAgent` | `contract_002_03_an_agent_offers_components_to_its_model` |
//! | 4 | The core's layer | a component is a `Tool` | `contract_002_04_a_component_is_run_as_any_tool_of_the_core` |
//! | 5 | The storage layer | `Afs` | `contract_002_05_servers_share_the_storage_layer` |
//! | 6 | Extend, do not replace | options of an `AssistantBuilder` | `contract_002_06_an_agent_has_all_abilities_of_an_assistant` |
//! | 7 | One agent for both environments | `UiAgent::for_cli`, `for_web` | `contract_002_07_terminals_and_pages_share_the_agent` |
//! | 8 | State in entries of the history, no tables | `AfsHistory` | `contract_002_08_the_state_is_an_entry_of_the_conversation` |
//! | 9 | `/modules/history/`, `/modules/user-profile/` | `AfsHistory`, `AfsUserProfile` | `contract_002_09_the_history_and_the_user_profile_are_mounted` |
//! | 10 | `UIComponent` | `Component`; its hooks run in the page | `contract_002_10_a_component_has_the_members_of_the_interface` |
//! | 11 | `ComponentContext` | `ComponentContext` | `contract_002_11_a_component_gets_its_context` |
//! | 12 | `ComponentOutput` | `ComponentOutput` | `contract_002_12_an_output_has_an_element_state_updates_and_events` |
//! | 13 | `ComponentState` | `ComponentState`; `update` checks too | `contract_002_13_a_state_is_checked_and_stored_by_each_change` |
//! | 14 | Path and entry of a state | one entry for each instance | `contract_002_14_a_state_is_persisted_at_the_path_of_its_session` |
//! | 15 | Loading a state | an indexed read, no scan | `contract_002_15_the_latest_state_is_loaded_and_errors_load_none` |
//! | 16 | `register`, `get`, `list` | `ComponentRegistry` | `contract_002_16_a_registry_lists_an_environment_with_the_universal_ones` |
//! | 17 | `toAgents` | `ComponentRegistry::to_tools` | `contract_002_17_each_component_is_a_tool_of_the_model` |
//! | 18 | Ids of instances | unique, reused by `instanceId` | `contract_002_18_an_instance_has_a_unique_id_and_can_be_shown_again` |
//! | 19 | The order of a call | a new instance has no state to load | `contract_002_19_a_call_has_the_order_of_the_document` |
//! | 20 | The entry of a render | `AfsEntry::component_render` | `contract_002_20_a_render_is_an_entry_of_the_history` |
//! | 21 | Options, `afs` is required | `UiAgentOptions` | `contract_002_21_an_agent_needs_an_afs` |
//! | 22 | Another environment: warn and skip | a line of the log | `contract_002_22_a_component_of_another_environment_is_skipped_with_a_warning` |
//! | 23 | Instructions | only with a component | `contract_002_23_the_instructions_are_joined` |
//! | 24 | Skills and components | `UiAgentOptions::skills`; models get all tools by name | `contract_002_24_skills_and_components_are_merged` |
//! | 25 | `getComponents` | `UiAgent::get_components` | `contract_002_25_an_agent_returns_its_components` |
//! | 26 | `forCLI`, `forWeb` | `UiAgent::for_cli`, `for_web` | `contract_002_26_an_agent_is_made_for_a_terminal_or_a_page` |
//! | 27 | No second mechanism | `Assistant::tools` | `contract_002_27_components_are_tools_of_the_one_registry` |
//! | 28 | `UIHistoryEntry` | `AfsEntry`, `UiMessage` | `contract_002_28_an_entry_of_the_history_has_a_role_and_a_component` |
//! | 29 | `getComponentState`, `saveComponentState` | `get_component_state`, `save_component_state` | `contract_002_29_the_state_of_a_component_is_read_and_saved_by_functions` |
//! | 30 | Text is passed on | `ComponentStreamCoordinator::push` | `contract_002_30_text_is_passed_on` |
//! | 31 | Arguments accumulate | one growing value for each call | `contract_002_31_the_arguments_are_accumulated` |
//! | 32 | Lenient validation | closed properties are checked | `contract_002_32_each_step_has_the_props_so_far` |
//! | 33 | What does not parse is awaited | no step | `contract_002_33_what_cannot_be_parsed_yet_is_awaited` |
//! | 34 | The end is strict | `ComponentPropsError` | `contract_002_34_complete_props_are_valid_or_an_error` |
//! | 35 | Unclosed strings, nesting | `Growing` | `contract_002_35_unclosed_values_grow_and_never_panic` |
//! | 36 | Interleaved calls | by the id of the call | `contract_002_36_calls_can_grow_at_the_same_time` |
//! | 37 | `AFS().mount(AFSHistory)` on SQLite | `AfsHistory::new` of a `SqliteStore` | `sqlite: contract_002_37_a_history_is_mounted_on_a_file` |
//! | 38 | The paths of the figure | `Afs::read` | `contract_002_38_the_paths_of_the_figure_are_read` |
//! | 39 | The whole flow | `POST /ui/{instance}/{action}` | `contract_002_39_an_interaction_of_the_user_changes_the_state` |
//! | 40 | `ComponentProps`, `PartialComponentProps`, `UIMessage` | the same | `contract_002_40_the_types_have_the_members_of_the_document` |
//! | 41 | `renderSafely` | `ComponentErrorBoundary::render_safely` | `contract_002_41_a_failing_component_is_logged_and_sent_as_an_event` |
//! | 42 | Fallbacks | `ComponentErrorBoundary::fallback` | `contract_002_42_a_failing_component_has_a_fallback` |

#[cfg(feature = "components")]
pub mod builtin;
mod message;
mod state;

pub use crate::afs;
pub use message::{UiMessage, UiMessageComponent};
pub use state::{ComponentState, ComponentStateError, get_component_state, save_component_state};
