//! A simulation of one database and of the servers that share it.
#![allow(clippy::indexing_slicing, reason = "the number of servers does not change")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::constants::{
    BATCH, BEGIN, COMMIT, FLUSH, LOG_OF_RUN, LOG_OF_SEGMENT, PATIENCE, SEGMENT, SETTLE, TICK, WRITERS,
};

/// The nanoseconds of a second.
const NANOS: f64 = 1e9;

/// The load of one database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// The posts in a second.
    pub(super) posts: f64,
    /// The mean time of an answer, in seconds.
    pub(super) answer: f64,
    pub(super) servers: usize,
    /// The cores of the database.
    pub(super) cores: usize,
}

/// The figures of a simulated load.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// The times from posts to the end of their first commit, in seconds and in their order.
    begins: Vec<f64>,
    /// The times of soft commits, the wait for the database included.
    commits: Vec<f64>,
    /// The part of the posts that are refused.
    pub(super) refused: f64,
    /// The largest number of live runs.
    pub(super) live: u32,
    /// The part of the time in which the cores of the database work.
    pub(super) busy: f64,
    /// The write-ahead log, in bytes a second.
    pub(super) log: f64,
}

impl Figures {
    /// Returns the time in which this many of 100 posts begin.
    pub(super) fn begin(&self, percent: usize) -> f64 {
        at(&self.begins, percent)
    }

    /// Returns the time in which this many of 100 soft commits end.
    pub(super) fn commit(&self, percent: usize) -> f64 {
        at(&self.commits, percent)
    }
}

fn at(values: &[f64], percent: usize) -> f64 {
    let last = values.len().saturating_sub(1);
    values.get(last * percent / 100).copied().unwrap_or_default()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A post reaches a server.
    Post,
    /// A transaction of a server ends, and its connection is free.
    Free { server: usize },
    /// A server writes the segments of its runs.
    Tick { server: usize },
    /// A run of the server ends.
    End { server: usize },
}

/// A transaction that waits for a connection.
struct Transaction {
    since: f64,
    is_begin: bool,
}

struct Server {
    /// The connections that are free.
    free: usize,
    waiting: VecDeque<Transaction>,
    live: u32,
}

struct Simulation {
    load: Load,
    /// The events to come, with their times in nanoseconds.
    events: BinaryHeap<Reverse<(u64, Event)>>,
    servers: Vec<Server>,
    /// The times at which the cores of the database are free.
    cores: Vec<f64>,
    work: f64,
    refused: f64,
    /// `true` after the time in which the runs begin.
    counts: bool,
    random: fastrand::Rng,
    figures: Figures,
}

/// Simulates a load for this many seconds, after a time in which its runs begin.
pub(super) fn simulate(load: Load, seconds: f64) -> Figures {
    let server = || Server { free: WRITERS, waiting: VecDeque::new(), live: 0 };
    let mut simulation = Simulation {
        load,
        events: BinaryHeap::new(),
        servers: (0..load.servers).map(|_| server()).collect(),
        cores: vec![0.0; load.cores],
        work: 0.0,
        refused: 0.0,
        counts: false,
        random: fastrand::Rng::with_seed(7),
        figures: Figures::default(),
    };
    simulation.run(3.0 * load.answer, seconds);
    simulation.figures
}

impl Simulation {
    fn run(&mut self, from: f64, seconds: f64) {
        self.at(0.0, Event::Post);
        for server in 0..self.load.servers {
            let first = self.random.f64() * TICK;
            self.at(first, Event::Tick { server });
        }
        while let Some(Reverse((nanos, event))) = self.events.pop() {
            let now = nanos as f64 / NANOS;
            if now >= from + seconds {
                break;
            }
            self.counts = now >= from;
            match event {
                Event::Post => {
                    let next = self.exponential(1.0 / self.load.posts);
                    self.at(now + next, Event::Post);
                    let server = self.random.usize(0..self.load.servers);
                    self.ask(server, Transaction { since: now, is_begin: true }, now);
                }
                Event::Free { server } => {
                    self.servers[server].free += 1;
                    self.start(server, now);
                }
                Event::Tick { server } => self.tick(server, now),
                Event::End { server } => {
                    self.servers[server].live -= 1;
                    self.ask(server, Transaction { since: now, is_begin: false }, now);
                }
            }
        }
        self.figures.begins.sort_by(f64::total_cmp);
        self.figures.commits.sort_by(f64::total_cmp);
        let begun = self.figures.begins.len() as f64;
        self.figures.refused = self.refused / f64::max(begun + self.refused, 1.0);
        self.figures.busy = self.work / (seconds * self.load.cores as f64);
        self.figures.log /= seconds;
    }

    fn at(&mut self, time: f64, event: Event) {
        self.events.push(Reverse(((time * NANOS) as u64, event)));
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.f64()).ln()
    }

    fn ask(&mut self, server: usize, transaction: Transaction, now: f64) {
        self.servers[server].waiting.push_back(transaction);
        self.start(server, now);
    }

    /// Starts the transactions for which the server has connections.
    fn start(&mut self, server: usize, now: f64) {
        while self.servers[server].free > 0
            && let Some(next) = self.servers[server].waiting.pop_front()
        {
            if next.is_begin && now - next.since > PATIENCE {
                self.refused += f64::from(u8::from(self.counts));
                continue;
            }
            self.servers[server].free -= 1;
            let ended = self.work(now, if next.is_begin { BEGIN } else { SETTLE }) + FLUSH;
            self.at(ended, Event::Free { server });
            if self.counts {
                self.figures.log += LOG_OF_RUN / 2.0;
            }
            if next.is_begin {
                self.begin(server, next.since, ended);
            }
        }
    }

    fn begin(&mut self, server: usize, since: f64, ended: f64) {
        if self.counts {
            self.figures.begins.push(ended - since);
        }
        self.servers[server].live += 1;
        self.figures.live = self.figures.live.max(self.servers.iter().map(|server| server.live).sum());
        let answer = self.exponential(self.load.answer);
        self.at(ended + answer, Event::End { server });
    }

    fn tick(&mut self, server: usize, now: f64) {
        let live = self.servers[server].live;
        let mut ended = now;
        if live > 0 {
            let work = COMMIT * f64::from(live.div_ceil(BATCH)) + SEGMENT * f64::from(live);
            ended = self.work(now, work);
            if self.counts {
                self.figures.commits.push(ended - now);
                self.figures.log += LOG_OF_SEGMENT * f64::from(live);
            }
        }
        self.at(f64::max(now + TICK, ended), Event::Tick { server });
    }

    /// Returns the end of work for a core of the database.
    fn work(&mut self, now: f64, seconds: f64) -> f64 {
        if self.counts {
            self.work += seconds;
        }
        let free = self.cores.iter_mut().min_by(|one, other| one.total_cmp(other));
        let Some(free) = free else { return f64::INFINITY };
        *free = f64::max(now, *free) + seconds;
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::{Load, simulate};

    /// A core begins and ends some 450 runs a second.
    #[test]
    fn only_more_posts_than_the_database_takes_are_refused() {
        let load = |posts| Load { posts, answer: 1.0, servers: 2, cores: 1 };
        let (calm, busy) = (simulate(load(100.0), 20.0), simulate(load(900.0), 20.0));
        assert_eq!(calm.refused, 0.0);
        assert!(calm.begin(99) < 0.05 && calm.busy < 0.6, "{} s, {}", calm.begin(99), calm.busy);
        assert!(busy.refused > 0.2 && busy.busy > 0.95, "{}, {}", busy.refused, busy.busy);
    }
}
