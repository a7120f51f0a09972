//! Cases: children on one file, until the run has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use omniassist_sqlite::SqliteStore;

use crate::killed::{Case, Ended, Kill, child};
use crate::ledger::Ledger;
use crate::lost::{self, Lost};
use crate::moments::Moments;
use crate::port::CUT;
use crate::shape::Shape;
use crate::store::encrypted;
use crate::{ledger, verdict};

/// The cases that run at the same time. They mostly wait.
const LANES: usize = 4;

/// The limit of deaths of one case.
const MOST_DEATHS: u32 = 4;

/// One case of this many has an encrypted database.
const ENCRYPTED: usize = 4;

/// The failpoints that a run of each shape passes, and how often.
type Points = BTreeMap<(Shape, String), u32>;

struct Torment {
    ledger: String,
    seed: u64,
    wanted: u32,
    points: Points,
    names: Vec<String>,
    kills: AtomicU32,
    cases: AtomicUsize,
    killed_at: Mutex<BTreeSet<(Shape, String)>>,
    lost: Mutex<Vec<Lost>>,
    /// The connections that a death cut.
    cut: AtomicUsize,
    found: Mutex<Vec<String>>,
}

pub(crate) fn run(shapes: &[Shape], wanted: u32, seed: u64) -> ExitCode {
    let began = Instant::now();
    let process = Ledger::start();
    let ledger = process.address().to_owned();
    let points = passed(shapes, &ledger);
    let names: BTreeSet<String> = points.keys().map(|(_, name)| name.clone()).collect();
    println!("{} failpoints, {} with their shapes; seed {seed}", names.len(), points.len());
    let torment = Torment {
        ledger,
        seed,
        wanted,
        points,
        names: names.into_iter().collect(),
        kills: AtomicU32::new(0),
        cases: AtomicUsize::new(0),
        killed_at: Mutex::default(),
        lost: Mutex::default(),
        cut: AtomicUsize::new(0),
        found: Mutex::default(),
    };
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| torment.lane());
        }
    });
    torment.report(began.elapsed())
}

/// Runs each shape without a kill, and returns the failpoints that it passes.
fn passed(shapes: &[Shape], ledger: &str) -> Points {
    let mut points = Points::new();
    for &shape in shapes {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let case = Case { path: &path, ledger, name: "trace", shape, is_encrypted: false };
        // A run that waits goes on in another process.
        for part in 0..2 {
            let ended = child(case, &Kill::None, true);
            assert!(ended.fault.is_none(), "{shape:?}: {:?}", ended.fault);
            if part == 0 || shape.is_approved() {
                for name in ended.points {
                    *points.entry((shape, name)).or_default() += 1;
                }
            }
        }
        ledger::take(ledger, "trace");
    }
    points
}

impl Torment {
    fn lane(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        while self.kills.load(Ordering::Relaxed) < self.wanted && self.found.lock().unwrap().len() < 20 {
            let number = self.cases.fetch_add(1, Ordering::Relaxed);
            self.case(number, &runtime);
        }
    }

    /// Returns the first death of a case: each failpoint of each shape in turn.
    fn first(&self, number: usize, rng: &mut Rng) -> (Shape, Kill) {
        let step = self.seed as usize % self.points.len();
        let (place, count) = self.points.iter().nth((number * 97 + step) % self.points.len()).unwrap();
        let (shape, name) = place.clone();
        // Text is lost at any time, and a failpoint passes at few.
        let share = if matches!(shape, Shape::Text | Shape::Port) { 128 } else { 32 };
        if rng.u8(..) < share {
            return (shape, Kill::After(Duration::from_millis(rng.u64(0..300))));
        }
        (shape, Kill::At(name, rng.u32(1..=*count)))
    }

    fn case(&self, number: usize, runtime: &tokio::runtime::Runtime) {
        let mut rng = Rng::with_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let name = format!("case-{number}");
        let (shape, mut kill) = self.first(number, &mut rng);
        let (mut lines, mut kills, mut deaths, mut rounds) = (Vec::new(), Vec::new(), 0, 0);
        let is_encrypted = number % ENCRYPTED == ENCRYPTED - 1;
        let case = Case { path: &path, ledger: &self.ledger, name: &name, shape, is_encrypted };
        let mut found = Vec::new();
        loop {
            rounds += 1;
            let ended = child(case, &kill, false);
            if ended.was_killed && ended.fault.is_none() {
                self.kills.fetch_add(1, Ordering::Relaxed);
                deaths += 1;
                if let Kill::At(name, _) = &kill {
                    self.killed_at.lock().unwrap().insert((shape, name.clone()));
                }
                kills.push(kill.clone());
            }
            let has_ended = ended.lines.iter().any(|line| line.starts_with("@state"));
            if let Some(lost) = lost(case, &ended, runtime) {
                self.lost.lock().unwrap().push(lost);
                if lost.age > lost.bound() {
                    found.push(format!("text is lost: {lost:?}"));
                }
            }
            let cut = ended.lines.iter().filter(|line| *line == CUT).count();
            if ended.was_killed {
                self.cut.fetch_add(cut, Ordering::Relaxed);
            } else if cut > 0 {
                found.push("an answer of a server that lives was cut".to_owned());
            }
            lines.extend(ended.lines);
            if let Some(fault) = ended.fault {
                found.push(fault);
                break;
            }
            if has_ended && !ended.was_killed {
                break;
            }
            if rounds > 12 {
                found.push("the run does not end".to_owned());
                break;
            }
            kill = if deaths < MOST_DEATHS && rng.bool() {
                Kill::At(self.names[rng.usize(..self.names.len())].clone(), rng.u32(1..4))
            } else {
                Kill::None
            };
        }
        let effects = ledger::take(&self.ledger, &name);
        if found.is_empty() {
            found = runtime.block_on(async {
                if is_encrypted {
                    verdict::violations(&encrypted(&path), case, &lines, &effects, deaths).await
                } else {
                    let store = SqliteStore::open(&path).unwrap();
                    verdict::violations(&store, case, &lines, &effects, deaths).await
                }
            });
        }
        if !found.is_empty() {
            let content = if is_encrypted { ", encrypted" } else { "" };
            let told = format!("case {number}, {shape:?}{content}, {kills:?}:\n    {}", found.join("\n    "));
            println!("{told}");
            self.found.lock().unwrap().push(told);
        }
    }

    fn report(&self, took: Duration) -> ExitCode {
        let lost = self.lost.lock().unwrap();
        let killed_at = self.killed_at.lock().unwrap();
        let names: BTreeSet<&String> = killed_at.iter().map(|(_, name)| name).collect();
        let found = self.found.lock().unwrap();
        println!(
            "{} kills in {} cases, at {} failpoints ({} with their shapes), in {:.1} s",
            self.kills.load(Ordering::Relaxed),
            self.cases.load(Ordering::Relaxed),
            names.len(),
            killed_at.len(),
            took.as_secs_f32()
        );
        println!("{} connections were cut by a kill", self.cut.load(Ordering::Relaxed));
        println!("lost text of {} killed answers:", lost.len());
        show("age of the oldest", lost.iter().map(|lost| lost.age));
        show("longest commit", lost.iter().map(|lost| lost.commit));
        show("latest timer", lost.iter().map(|lost| lost.late));
        show("left of the bound", lost.iter().map(|lost| lost.bound().saturating_sub(lost.age)));
        println!("{} cases with violations", found.len());
        if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Returns the text that a death has lost, if the child wrote any.
fn lost(case: Case<'_>, ended: &Ended, runtime: &tokio::runtime::Runtime) -> Option<Lost> {
    let death = ended.death?;
    let moments = Moments::read(ended.lines.iter().map(String::as_str), death);
    if moments.deltas.is_empty() {
        return None;
    }
    let copy = tempfile::tempdir().unwrap();
    lost::copy(case.path.parent().unwrap(), copy.path());
    let path = copy.path().join(case.path.file_name().unwrap());
    runtime.block_on(async {
        if case.is_encrypted {
            lost::lost(&encrypted(&path), case.shape, &moments, death).await
        } else {
            lost::lost(&SqliteStore::open(&path).unwrap(), case.shape, &moments, death).await
        }
    })
}

fn show(what: &str, times: impl Iterator<Item = Duration>) {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    let Some(last) = times.len().checked_sub(1) else { return };
    let at = |percent: usize| times[last * percent / 100];
    println!("  {what}: least {:.1?}, p50 {:.1?}, p99 {:.1?}, most {:.1?}", at(0), at(50), at(99), at(100));
}
