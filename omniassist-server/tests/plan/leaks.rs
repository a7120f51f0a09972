use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use omniassist_server::core::{RunRequest, ToolChoice};
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, Refusal, RunContext, RunPlan, StepPlan, Tool, ToolError};
use proptest::prelude::*;
use serde_json::json;

use super::{Rank, extensions, send};

const RANKS: [Rank; 3] = [Rank::Viewer, Rank::Agent, Rank::Admin];

/// A tool that is visible to callers of this rank and above.
#[derive(Debug, Clone)]
struct Described {
    rank: Rank,
    is_tagged: bool,
    is_added_by_plan: bool,
}

#[derive(Debug, Clone)]
enum Selection {
    All,
    Allow(BTreeSet<usize>),
    Deny(BTreeSet<usize>),
    DenyTag,
}

impl Selection {
    fn hides(&self, index: usize, tool: &Described) -> bool {
        match self {
            Self::All => false,
            Self::Allow(names) => !names.contains(&index),
            Self::Deny(names) => names.contains(&index),
            Self::DenyTag => tool.is_tagged,
        }
    }
}

macro_rules! apply {
    ($selection:expr, $plan:expr) => {
        match $selection {
            Selection::All => $plan,
            Selection::Allow(names) => $plan.allow_tools(names.iter().map(|index| name(*index))),
            Selection::Deny(names) => $plan.deny_tools(names.iter().map(|index| name(*index))),
            Selection::DenyTag => $plan.deny_tag("tagged"),
        }
    };
}

fn name(index: usize) -> String {
    format!("secret_{index}_tool")
}

fn make(index: usize, described: &Described, ran: &Arc<AtomicUsize>) -> Tool {
    let (rank, ran) = (described.rank, Arc::clone(ran));
    let schema =
        json!({"type": "object", "properties": { (format!("field_{index}")): { "type": "string" } }});
    let tool = Tool::from_fn_with_schema(name(index), format!("describes_{index}"), schema, move |_, _| {
        ran.fetch_or(1 << index, Ordering::SeqCst);
        async { Ok::<_, ToolError>("ran") }
    });
    let tool = tool.title(format!("title_{index}"));
    let tool = if described.is_tagged { tool.tag("tagged") } else { tool };
    // A tool that a plan adds is always visible to the caller of the plan.
    if described.is_added_by_plan {
        return tool;
    }
    tool.visible_to(move |run: &RunContext| run.extensions().get::<Rank>() >= Some(&rank))
}

fn selection() -> impl Strategy<Value = Selection> {
    let some = || proptest::collection::btree_set(0..8_usize, 0..6);
    prop_oneof![
        Just(Selection::All),
        some().prop_map(Selection::Allow),
        some().prop_map(Selection::Deny),
        Just(Selection::DenyTag),
    ]
}

fn described() -> impl Strategy<Value = Described> {
    let rank = proptest::sample::select(&RANKS);
    (rank, any::<bool>(), proptest::bool::weighted(0.2))
        .prop_map(|(rank, is_tagged, is_added_by_plan)| Described { rank, is_tagged, is_added_by_plan })
}

fn assistant(
    model: &ScriptedProvider,
    tools: &[Described],
    run: Selection,
    step: Selection,
    choice: usize,
    defers: bool,
    ran: &Arc<AtomicUsize>,
) -> Assistant {
    let mut builder = Assistant::builder(model.clone()).defer_tools_above(defers.then_some(0));
    let mut added = Vec::new();
    for (index, described) in tools.iter().enumerate() {
        let tool = make(index, described, ran);
        if described.is_added_by_plan {
            added.push(tool);
        } else {
            builder = builder.tool(tool);
        }
    }
    let prepare = move |plan: &mut RunPlan| {
        let all: Result<(), Refusal> =
            added.iter().try_for_each(|tool| plan.add_tool(tool.clone()).map(drop)).map_err(Refusal::from);
        apply!(&run, plan).tool_choice(ToolChoice::Tool(name(choice).into()));
        std::future::ready(all)
    };
    let prepare_step = move |plan: &mut StepPlan| {
        apply!(&step, plan);
        std::future::ready(Ok(()))
    };
    builder.prepare(prepare).prepare_step(prepare_step).build().unwrap()
}

/// Returns the strings that would reveal a tool.
fn traces(index: usize) -> [String; 4] {
    [name(index), format!("describes_{index}"), format!("field_{index}"), format!("title_{index}")]
}

fn assert_free(text: &str, hidden: &[usize], place: &str) -> Result<(), TestCaseError> {
    for trace in hidden.iter().flat_map(|index| traces(*index)) {
        prop_assert!(!text.contains(&trace), "{} in {}: {}", trace, place, text);
    }
    Ok(())
}

/// Returns the number of cases. `PROPTEST_CASES` changes it for a longer run.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_trace_of_a_hidden_tool_reaches_the_provider_or_the_client(
        tools in proptest::collection::vec(described(), 1..8),
        rank in proptest::sample::select(&RANKS),
        run in selection(),
        step in selection(),
        choice in 0..8_usize,
        defers in any::<bool>(),
        query in proptest::sample::select(&["the tool that describes", "7", "weather"][..]),
    ) {
        let of_caller: Vec<_> =
            (0..tools.len()).filter(|index| !tools[*index].is_added_by_plan && tools[*index].rank > rank).collect();
        let hidden: Vec<_> = (0..tools.len())
            .filter(|index| of_caller.contains(index)
                || run.hides(*index, &tools[*index])
                || step.hides(*index, &tools[*index]))
            .collect();
        let called = hidden.first().copied();
        let model = ScriptedProvider::new()
            .turn([call("no_such", json!({})), call("tool_search", json!({ "query": query }))])
            .turn(called.map_or_else(|| text("Hi"), |index| call(name(index), json!({}))))
            .otherwise(|_| text("Hi"));
        let ran = Arc::new(AtomicUsize::new(0));
        let assistant = assistant(&model, &tools, run, step, choice, defers, &ran);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut run = assistant.try_run(RunRequest::prompt("Hi"), extensions(rank)).await.unwrap();
            let mut shown = String::new();
            while let Some(event) = run.next().await {
                shown.push_str(&format!("{event:?}\n"));
            }
            let payloads = model.payloads();
            for payload in payloads.iter().take(2) {
                assert_free(&format!("{payload:?}"), &hidden, "the provider's request")?;
            }
            for payload in &payloads {
                assert_free(&format!("{:?} {:?}", payload.tools, payload.tool_choice), &hidden, "the provider's tools")?;
            }
            // The model wrote the name of the tool that it called. All other traces must stay hidden.
            let said = called.map(name).unwrap_or_default();
            assert_free(&shown.replace(&said, ""), &hidden, "the client's stream")?;
            let (_, _, manifest) = send(&assistant, rank, "/manifest.json", None).await;
            let (_, _, types) = send(&assistant, rank, "/types.d.ts", None).await;
            assert_free(&manifest, &of_caller, "the manifest")?;
            assert_free(&types, &of_caller, "the types")?;
            let ran = ran.load(Ordering::SeqCst);
            prop_assert!(hidden.iter().all(|index| ran & (1 << index) == 0), "a hidden tool must not run");
            Ok(())
        })?;
    }
}
