//! Tests of the budget of a tree of agents.

use fastrand::Rng;
use omniassist_core::tree::{AgentBudget, Ledger, Limit, NodeId, Reservation, TokenPrice, TreeLimits};

/// The tokens by which a model may exceed its maximum before its answer is cut.
const OVERSHOOT: u64 = 64;

/// The output for which a model is called at least.
const LEAST: u64 = 256;

#[test]
fn a_call_is_reserved_along_all_agents_above_it() {
    let mut ledger = Ledger::new(TreeLimits::new().tokens(100_000));
    let child = ledger.open(Ledger::ROOT, AgentBudget::new().tokens(20_000)).unwrap();
    let grandchild = ledger.open(child, AgentBudget::new().tokens(90_000)).unwrap();
    let call = ledger.reserve(grandchild, 1_000, Some(2_000), None).unwrap();
    for node in [Ledger::ROOT, child, grandchild] {
        assert_eq!(ledger.reserved(node), 3_000);
    }
    ledger.settle(call, 1_100, 0);
    for node in [Ledger::ROOT, child, grandchild] {
        assert_eq!((ledger.reserved(node), ledger.spent(node)), (0, 1_100));
    }
    // Its own budget is larger than that of the agent above.
    assert_eq!(ledger.reserve(grandchild, 20_000, None, None), Err(Limit::Tokens));
}

#[test]
fn tokens_are_exact_at_the_last_output_that_a_model_is_called_for() {
    let reserve =
        |tokens| Ledger::new(TreeLimits::new().tokens(tokens)).reserve(Ledger::ROOT, 1_000, None, None);
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
    assert_eq!(ledger.reserve(Ledger::ROOT, u64::MAX, None, None).unwrap().max_output(), None);
    assert_eq!(ledger.reserve(Ledger::ROOT, 5, Some(7), None).unwrap().max_output(), Some(7));
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
    let _one = ledger.reserve(third, 0, None, None).unwrap();
    assert!(ledger.reserve(third, 0, None, None).unwrap().last().is_some());
    assert_eq!(ledger.reserve(third, 0, None, None), Err(Limit::ModelCalls), "two of its own");
    assert!(ledger.reserve(second, 0, None, None).unwrap().last().is_some());
    assert_eq!(ledger.reserve(first, 0, None, None), Err(Limit::ModelCalls));
    assert!(ledger.reserve(Ledger::ROOT, 0, None, None).unwrap().last().is_some());
    assert_eq!(ledger.reserve(Ledger::ROOT, 0, None, None), Err(Limit::ModelCalls));
}

#[test]
fn a_closed_agent_asks_nobody_and_keeps_nothing() {
    let mut ledger = Ledger::new(TreeLimits::new().tokens(10_000));
    let child = ledger.open(Ledger::ROOT, AgentBudget::new()).unwrap();
    let grandchild = ledger.open(child, AgentBudget::new()).unwrap();
    let call = ledger.reserve(child, 3_000, Some(300), None).unwrap();
    ledger.settle(call, 3_000, 0);
    // The child and the root keep 4,024 and 1,024 of 7,000.
    assert_eq!(ledger.reserve(grandchild, 2_000, None, None), Err(Limit::Tokens));
    ledger.close(child);
    assert_eq!(ledger.open(child, AgentBudget::new()), Err(Limit::Agents));
    let _ = ledger.reserve(grandchild, 2_000, None, None).unwrap();
}

#[test]
fn a_report_leaves_room_for_the_answer_that_follows() {
    let mut ledger = Ledger::new(TreeLimits::new().tokens(10_000));
    let call = ledger.reserve(Ledger::ROOT, 1_000, Some(300), None).unwrap();
    ledger.settle(call, 1_300, 0);
    let room = ledger.room(Ledger::ROOT).unwrap();
    assert_eq!(room, 10_000 - 1_300 - 1_000 - 1_024);
    let _ = ledger.reserve(Ledger::ROOT, 1_000 + room, None, None).unwrap();
}

/// One million tokens cost 1 for input and 10 for output, so a token costs a millionth and ten.
const PRICE: TokenPrice = TokenPrice { input: 1_000_000, output: 10_000_000 };

/// The units of a ledger in a millionth of the currency.
const MICRO: u128 = 1_000_000;

#[test]
fn the_cost_of_a_call_is_reserved_along_all_agents_above_it() {
    let mut ledger = Ledger::new(TreeLimits::new().cost_micro_usd(100_000));
    let child = ledger.open(Ledger::ROOT, AgentBudget::new().cost_micro_usd(60_000)).unwrap();
    assert!(ledger.counts_tokens(child));
    let call = ledger.reserve(child, 1_000, Some(300), Some(PRICE)).unwrap();
    for node in [Ledger::ROOT, child] {
        assert_eq!((ledger.reserved_cost(node), ledger.reserved(node)), (4_000 * MICRO, 1_300));
    }
    ledger.settle(call, 1_100, PRICE.cost(1_000, 100));
    for node in [Ledger::ROOT, child] {
        assert_eq!((ledger.reserved_cost(node), ledger.spent_cost(node)), (0, 2_000 * MICRO));
    }
    // The price of the called model counts: this one is dearer.
    let dear = TokenPrice { input: 100 * PRICE.input, output: PRICE.output };
    assert_eq!(ledger.reserve(child, 1_000, None, Some(dear)), Err(Limit::Cost));
    let _ = ledger.reserve(child, 1_000, None, Some(PRICE)).unwrap();
}

#[test]
fn cost_is_exact_at_the_last_output_that_a_model_is_called_for() {
    let reserve = |micros| {
        let mut ledger = Ledger::new(TreeLimits::new().cost_micro_usd(micros));
        ledger.reserve(Ledger::ROOT, 1_000, None, Some(PRICE))
    };
    let call = reserve(1_000 + 10 * LEAST).unwrap();
    assert_eq!((call.max_output(), call.last(), call.bound()), (Some(LEAST), Some(Limit::Cost), Limit::Cost));
    assert_eq!(reserve(1_000 + 10 * LEAST - 1), Err(Limit::Cost));
    // Another call reads the same input and this output, writes as much, and then 1,024 tokens as its answer.
    let two = 2 * 1_000 + 11 * LEAST + 10 * 1_024;
    let call = reserve(two).unwrap();
    assert_eq!((call.max_output(), call.last()), (Some(LEAST), None));
    assert_eq!(reserve(two - 1).unwrap().last(), Some(Limit::Cost));
    // The tighter of two budgets bounds the output.
    let limits = TreeLimits::new().cost_micro_usd(1_000_000).tokens(10_000);
    let call = Ledger::new(limits).reserve(Ledger::ROOT, 1_000, None, Some(PRICE)).unwrap();
    assert_eq!((call.max_output(), call.bound()), (Some((10_000 - 2_000 - 1_024) / 2), Limit::Tokens));
}

#[test]
fn a_model_without_a_price_is_not_called_and_one_that_is_free_is_not_limited() {
    let mut ledger = Ledger::new(TreeLimits::new().cost_micro_usd(1));
    assert_eq!(ledger.reserve(Ledger::ROOT, 0, None, None), Err(Limit::Cost));
    let free = Some(TokenPrice::default());
    assert_eq!(ledger.reserve(Ledger::ROOT, 1_000_000, None, free).unwrap().max_output(), None);
    // Free input does not make the output free.
    let output_only = Some(TokenPrice { input: 0, output: 1_000_000 });
    assert_eq!(ledger.reserve(Ledger::ROOT, 0, None, output_only), Err(Limit::Cost));
}

#[test]
fn agents_leave_the_cost_of_the_answers_above_them() {
    let mut ledger = Ledger::new(TreeLimits::new().cost_micro_usd(30_000));
    let child = ledger.open(Ledger::ROOT, AgentBudget::new()).unwrap();
    let call = ledger.reserve(Ledger::ROOT, 2_000, Some(300), Some(PRICE)).unwrap();
    ledger.settle(call, 2_300, PRICE.cost(2_000, 300));
    // The root has spent 5,000 and keeps 12,240 for its answer.
    assert_eq!(ledger.room(Ledger::ROOT), Some(25_000 - 12_240));
    let left = 25_000 - 12_240;
    let input = left - 10 * LEAST;
    assert_eq!(ledger.reserve(child, input + 1, None, Some(PRICE)), Err(Limit::Cost));
    let call = ledger.reserve(child, input, None, Some(PRICE)).unwrap();
    ledger.settle(call, input + LEAST, PRICE.cost(input, LEAST));
    let call = ledger.reserve(Ledger::ROOT, 2_000, None, Some(PRICE)).unwrap();
    assert_eq!((call.max_output(), call.last()), (Some(1_024), Some(Limit::Cost)));
}

#[test]
fn limits_of_zero_are_named() {
    assert_eq!(TreeLimits::new().zero_limit(), None);
    assert_eq!(TreeLimits::new().tokens(0).zero_limit(), Some("tokens"));
    assert_eq!(TreeLimits::new().cost_micro_usd(0).zero_limit(), Some("cost"));
    assert_eq!(AgentBudget::new().cost_micro_usd(0).zero_limit(), Some("cost"));
    assert_eq!(TreeLimits::new().parallel(0).zero_limit(), Some("parallel"));
    assert_eq!(AgentBudget::new().zero_limit(), None);
    assert_eq!(AgentBudget::new().time(std::time::Duration::ZERO).zero_limit(), Some("time"));
}

/// An agent of a random tree.
struct Agent {
    node: NodeId,
    parent: Option<usize>,
    cap: Option<u64>,
    micros: Option<u64>,
    price: Option<TokenPrice>,
    call: Option<(Reservation, u64, u128)>,
    has_answered: bool,
    is_open: bool,
}

impl Agent {
    fn new(node: NodeId, parent: Option<usize>, caps: Caps, price: Option<TokenPrice>) -> Self {
        let Caps { tokens: cap, micros } = caps;
        Self { node, parent, cap, micros, price, call: None, has_answered: false, is_open: true }
    }
}

/// The budget of an agent.
struct Caps {
    tokens: Option<u64>,
    micros: Option<u64>,
}

impl Caps {
    fn random(rng: &mut Rng, least: u64, most: u64) -> Self {
        let tokens = rng.bool().then(|| rng.u64(least..most));
        // At the highest price, as many tokens as above.
        Self { tokens, micros: rng.bool().then(|| rng.u64(least..most) * DEAREST / 1_000_000) }
    }
}

/// The highest price of a million tokens.
const DEAREST: u64 = 15_000_000;

/// Returns the price of a model, which few models lack.
fn price(rng: &mut Rng) -> Option<TokenPrice> {
    let amount = |rng: &mut Rng| if rng.u8(0..8) == 0 { 0 } else { rng.u64(1..=DEAREST) };
    (rng.u8(0..10) > 0).then(|| TokenPrice { input: amount(rng), output: amount(rng) })
}

/// No order of calls, ends and cancellations exceeds a budget of tokens or money by more than what a model may write beyond its
/// maximum, or leaves a reservation behind. A model without a price is not called where money is limited.
#[test]
fn ten_thousand_random_trees_stay_within_their_budgets() {
    for seed in 0..10_000 {
        grow(seed);
    }
}

fn grow(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let caps = Caps::random(&mut rng, 2_000, 200_000);
    let mut limits =
        TreeLimits::new().depth(rng.u32(1..4)).children(rng.u32(1..6)).model_calls(rng.u32(2..80));
    limits = limits.agents(rng.u32(1..20));
    if let Some(tokens) = caps.tokens {
        limits = limits.tokens(tokens);
    }
    if let Some(micros) = caps.micros {
        limits = limits.cost_micro_usd(micros);
    }
    let mut ledger = Ledger::new(limits);
    let mut agents = vec![Agent::new(Ledger::ROOT, None, caps, price(&mut rng))];
    let mut most_live = 1;
    for _ in 0..rng.usize(10..120) {
        let at = rng.usize(..agents.len());
        match rng.u8(0..10) {
            0..3 if agents[at].is_open => {
                let caps = Caps::random(&mut rng, 1_000, 50_000);
                let mut budget = AgentBudget::new().model_calls(rng.u32(1..8));
                if let Some(tokens) = caps.tokens {
                    budget = budget.tokens(tokens);
                }
                if let Some(micros) = caps.micros {
                    budget = budget.cost_micro_usd(micros);
                }
                if let Ok(node) = ledger.open(agents[at].node, budget) {
                    agents.push(Agent::new(node, Some(at), caps, price(&mut rng)));
                }
            }
            3..6 if agents[at].is_open && agents[at].call.is_none() && !agents[at].has_answered => {
                let input = rng.u64(0..4_000);
                let wanted = rng.bool().then(|| rng.u64(1..8_000));
                let price = agents[at].price;
                if let Ok(call) = ledger.reserve(agents[at].node, input, wanted, price) {
                    assert!(price.is_some() || !costs(&agents, at), "seed {seed}: called without a price");
                    assert!(call.max_output() <= wanted.or(call.max_output()), "seed {seed}");
                    let beyond = call.max_output().unwrap_or(5_000) + OVERSHOOT;
                    let output = rng.u64(0..=beyond);
                    let cost = price.map_or(0, |price| price.cost(input, output));
                    agents[at].has_answered = call.last().is_some();
                    agents[at].call = Some((call, input + output, cost));
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
            let cost = ledger.spent_cost(agent.node) + ledger.reserved_cost(agent.node);
            let most = agent.micros.map_or(u128::MAX / 2, |micros| u128::from(micros) * MICRO);
            let beyond = u128::from(OVERSHOOT * most_live * DEAREST);
            assert!(cost <= most + beyond, "seed {seed}: a cost of {cost} of {most}");
        }
    }
    for agent in &mut agents {
        settle(&mut ledger, agent);
    }
    for agent in &agents {
        assert_eq!(ledger.reserved(agent.node), 0, "seed {seed}: a reservation is left");
        assert_eq!(ledger.reserved_cost(agent.node), 0, "seed {seed}: a reserved cost is left");
    }
}

/// Returns `true` if the money of an agent is limited.
fn costs(agents: &[Agent], at: usize) -> bool {
    agents[at].micros.is_some() || agents[at].parent.is_some_and(|parent| costs(agents, parent))
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
    if let Some((call, tokens, cost)) = agent.call.take() {
        ledger.settle(call, tokens, cost);
    }
}
