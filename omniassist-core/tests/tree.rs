//! Tests of the budget of a tree of agents.

use fastrand::Rng;
use omniassist_core::tree::{AgentBudget, Ledger, Limit, NodeId, Reservation, TreeLimits};

/// The tokens by which a model may exceed its maximum before its answer is cut.
const OVERSHOOT: u64 = 64;

/// The output for which a model is called at least.
const LEAST: u64 = 256;

#[test]
fn a_call_is_reserved_along_all_agents_above_it() {
    let mut ledger = Ledger::new(TreeLimits::new().tokens(100_000));
    let child = ledger.open(Ledger::ROOT, AgentBudget::new().tokens(20_000)).unwrap();
    let grandchild = ledger.open(child, AgentBudget::new().tokens(90_000)).unwrap();
    let call = ledger.reserve(grandchild, 1_000, Some(2_000)).unwrap();
    for node in [Ledger::ROOT, child, grandchild] {
        assert_eq!(ledger.reserved(node), 3_000);
    }
    ledger.settle(call, 1_100);
    for node in [Ledger::ROOT, child, grandchild] {
        assert_eq!((ledger.reserved(node), ledger.spent(node)), (0, 1_100));
    }
    // Its own budget is larger than that of the agent above.
    assert_eq!(ledger.reserve(grandchild, 20_000, None), Err(Limit::Tokens));
}

#[test]
fn tokens_are_exact_at_the_last_output_that_a_model_is_called_for() {
    let reserve = |tokens| Ledger::new(TreeLimits::new().tokens(tokens)).reserve(Ledger::ROOT, 1_000, None);
    let call = reserve(1_000 + LEAST).unwrap();
    assert_eq!((call.max_output(), call.last()), (Some(LEAST), Some(Limit::Tokens)));
    assert_eq!(reserve(1_000 + LEAST - 1), Err(Limit::Tokens));
    // Another call has the same input, both outputs, and 1,024 tokens for its answer.
    let call = reserve(2_000 + 2 * LEAST + 1_024).unwrap();
    assert_eq!((call.max_output(), call.last()), (Some(LEAST), None));
    assert!(reserve(2_000 + 2 * LEAST + 1_023).unwrap().last().is_some());
}

#[test]
fn without_a_budget_nothing_limits_the_output() {
    let mut ledger = Ledger::new(TreeLimits::new());
    assert_eq!(ledger.reserve(Ledger::ROOT, u64::MAX, None).unwrap().max_output(), None);
    assert_eq!(ledger.reserve(Ledger::ROOT, 5, Some(7)).unwrap().max_output(), Some(7));
    assert_eq!(ledger.room(Ledger::ROOT), None);
}

#[test]
fn depth_children_agents_and_calls_are_exact() {
    let mut ledger = Ledger::new(TreeLimits::new().depth(2).children(2).agents(3).model_calls(4));
    let open = |ledger: &mut Ledger, parent| ledger.open(parent, AgentBudget::new().model_calls(2));
    let first = open(&mut ledger, Ledger::ROOT).unwrap();
    let second = open(&mut ledger, Ledger::ROOT).unwrap();
    assert_eq!(open(&mut ledger, Ledger::ROOT), Err(Limit::Children));
    assert!(ledger.may_ask(first));
    let third = open(&mut ledger, first).unwrap();
    assert!(!ledger.may_ask(third));
    assert_eq!(open(&mut ledger, third), Err(Limit::Depth));
    assert_eq!(open(&mut ledger, first), Err(Limit::Agents));
    assert_eq!(ledger.agents(), 4);

    // Two of the four calls are kept for the answers of the two agents above.
    let _one = ledger.reserve(third, 0, None).unwrap();
    assert!(ledger.reserve(third, 0, None).unwrap().last().is_some());
    assert_eq!(ledger.reserve(third, 0, None), Err(Limit::ModelCalls), "two of its own");
    assert!(ledger.reserve(second, 0, None).unwrap().last().is_some());
    assert_eq!(ledger.reserve(first, 0, None), Err(Limit::ModelCalls));
    assert!(ledger.reserve(Ledger::ROOT, 0, None).unwrap().last().is_some());
    assert_eq!(ledger.reserve(Ledger::ROOT, 0, None), Err(Limit::ModelCalls));
}

#[test]
fn a_closed_agent_asks_nobody_and_keeps_nothing() {
    let mut ledger = Ledger::new(TreeLimits::new().tokens(10_000));
    let child = ledger.open(Ledger::ROOT, AgentBudget::new()).unwrap();
    let grandchild = ledger.open(child, AgentBudget::new()).unwrap();
    let call = ledger.reserve(child, 3_000, Some(300)).unwrap();
    ledger.settle(call, 3_000);
    // The child and the root keep 4,024 and 1,024 of 7,000.
    assert_eq!(ledger.reserve(grandchild, 2_000, None), Err(Limit::Tokens));
    ledger.close(child);
    assert_eq!(ledger.open(child, AgentBudget::new()), Err(Limit::Agents));
    let _ = ledger.reserve(grandchild, 2_000, None).unwrap();
}

#[test]
fn a_report_leaves_room_for_the_answer_that_follows() {
    let mut ledger = Ledger::new(TreeLimits::new().tokens(10_000));
    let call = ledger.reserve(Ledger::ROOT, 1_000, Some(300)).unwrap();
    ledger.settle(call, 1_300);
    let room = ledger.room(Ledger::ROOT).unwrap();
    assert_eq!(room, 10_000 - 1_300 - 1_000 - 1_024);
    let _ = ledger.reserve(Ledger::ROOT, 1_000 + room, None).unwrap();
}

#[test]
fn limits_of_zero_are_named() {
    assert_eq!(TreeLimits::new().zero(), None);
    assert_eq!(TreeLimits::new().tokens(0).zero(), Some("tokens"));
    assert_eq!(TreeLimits::new().parallel(0).zero(), Some("parallel"));
    assert_eq!(AgentBudget::new().zero(), None);
    assert_eq!(AgentBudget::new().time(std::time::Duration::ZERO).zero(), Some("time"));
}

/// An agent of a random tree.
struct Agent {
    node: NodeId,
    parent: Option<usize>,
    cap: Option<u64>,
    call: Option<(Reservation, u64)>,
    has_answered: bool,
    is_open: bool,
}

/// No order of calls, ends and cancellations exceeds a budget by more than what a model may write beyond its maximum, or
/// leaves a reservation behind. An agent that was called once can answer.
#[test]
fn ten_thousand_random_trees_stay_within_their_budgets() {
    for seed in 0..10_000 {
        grow(seed);
    }
}

fn grow(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let cap = rng.bool().then(|| rng.u64(2_000..200_000));
    let mut limits =
        TreeLimits::new().depth(rng.u32(1..4)).children(rng.u32(1..6)).model_calls(rng.u32(2..80));
    limits = limits.agents(rng.u32(1..20));
    if let Some(cap) = cap {
        limits = limits.tokens(cap);
    }
    let mut ledger = Ledger::new(limits);
    let root =
        Agent { node: Ledger::ROOT, parent: None, cap, call: None, has_answered: false, is_open: true };
    let mut agents = vec![root];
    let mut most_live = 1;
    for _ in 0..rng.usize(10..120) {
        let at = rng.usize(..agents.len());
        match rng.u8(0..10) {
            0..3 if agents[at].is_open => {
                let cap = rng.bool().then(|| rng.u64(1_000..50_000));
                let mut budget = AgentBudget::new().model_calls(rng.u32(1..8));
                if let Some(cap) = cap {
                    budget = budget.tokens(cap);
                }
                if let Ok(node) = ledger.open(agents[at].node, budget) {
                    let parent = Some(at);
                    agents.push(Agent { node, parent, cap, call: None, has_answered: false, is_open: true });
                }
            }
            3..6 if agents[at].is_open && agents[at].call.is_none() && !agents[at].has_answered => {
                let input = rng.u64(0..4_000);
                let wanted = rng.bool().then(|| rng.u64(1..8_000));
                if let Ok(call) = ledger.reserve(agents[at].node, input, wanted) {
                    assert!(call.max_output() <= wanted.or(call.max_output()), "seed {seed}");
                    let beyond = call.max_output().unwrap_or(5_000) + OVERSHOOT;
                    let used = input + rng.u64(0..=beyond);
                    agents[at].has_answered = call.last().is_some();
                    agents[at].call = Some((call, used));
                }
            }
            6..9 => settle(&mut ledger, &mut agents[at]),
            // An agent is cancelled with all below it.
            _ if at > 0 => {
                for below in at..agents.len() {
                    if is_below(&agents, below, at) {
                        settle(&mut ledger, &mut agents[below]);
                        ledger.close(agents[below].node);
                        agents[below].is_open = false;
                    }
                }
            }
            _ => {}
        }
        most_live = most_live.max(agents.iter().filter(|agent| agent.is_open).count() as u64);
        for agent in &agents {
            let total = ledger.spent(agent.node) + ledger.reserved(agent.node);
            let cap = agent.cap.unwrap_or(u64::MAX / 2);
            assert!(total <= cap + OVERSHOOT * most_live, "seed {seed}: {total} of {cap}");
        }
    }
    for agent in &mut agents {
        settle(&mut ledger, agent);
    }
    for agent in &agents {
        assert_eq!(ledger.reserved(agent.node), 0, "seed {seed}: a reservation is left");
    }
}

fn is_below(agents: &[Agent], mut at: usize, above: usize) -> bool {
    loop {
        if at == above {
            return true;
        }
        match agents[at].parent {
            Some(parent) => at = parent,
            None => return false,
        }
    }
}

fn settle(ledger: &mut Ledger, agent: &mut Agent) {
    if let Some((call, used)) = agent.call.take() {
        ledger.settle(call, used);
    }
}
