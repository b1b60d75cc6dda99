//! Against brute force: which schedules there are, how many delays each needs, which states are
//! reachable.

use super::*;
use crate::strategy::Exhaustive;
use crate::strategy::StrategySpec;
use crate::strategy::delaying::{
    ProbabilisticRoundRobinExplorer, RoundRobinExplorer, RunToCompletionExplorer,
};
use crate::strategy::model::{Do, Toy};
use crate::words::Fingerprint;
use std::collections::{BTreeMap, BTreeSet};

/// Who ran in each step, and what was drawn.
type Schedule = (Vec<u32>, Vec<u32>);

fn explorers() -> [Box<dyn DelayingExplorer>; 3] {
    [
        Box::new(RunToCompletionExplorer::new()),
        Box::new(RoundRobinExplorer::new()),
        Box::new(ProbabilisticRoundRobinExplorer::new()),
    ]
}

/// Programs of which each state looks different: all operations of a task differ.
fn programs() -> Vec<Vec<Vec<Do>>> {
    let section = |cell| {
        vec![
            Do::Read(cell),
            Do::Lock(0),
            Do::Write(0),
            Do::Unlock(0),
            Do::Yield,
        ]
    };
    vec![
        vec![section(1), section(2)],
        vec![
            vec![Do::Spawn(1), Do::Write(0), Do::Spawn(2), Do::Join(1)],
            vec![Do::Write(1), Do::Yield, Do::Write(2)],
            vec![Do::Read(0), Do::Write(1)],
        ],
        vec![
            vec![Do::Choose(3), Do::Write(0), Do::Yield, Do::Choose(2)],
            vec![Do::Write(1), Do::Weighted(&[1, 9]), Do::Write(2)],
        ],
        vec![
            vec![Do::Lock(0), Do::Lock(1), Do::Unlock(1), Do::Unlock(0)],
            vec![Do::Lock(1), Do::Lock(0), Do::Unlock(0), Do::Unlock(1)],
            vec![Do::Read(2), Do::Write(3)],
        ],
        vec![
            vec![Do::Write(0)],
            vec![Do::Write(1)],
            vec![Do::Write(2)],
            vec![Do::Write(3)],
        ],
    ]
}

/// Runs another strategy, and writes down in which states decisions were taken and iterations
/// ended, and how many delays an explorer needs for what was picked.
struct Watched<'a> {
    inner: &'a mut dyn Strategy,
    guide: Guide<Box<dyn DelayingExplorer>>,
    seed: Option<Seed>,
    delays: u32,
    states: BTreeSet<Fingerprint>,
}

impl<'a> Watched<'a> {
    fn new(inner: &'a mut dyn Strategy, explorer: Box<dyn DelayingExplorer>) -> Self {
        Watched {
            inner,
            guide: Guide::new(explorer),
            seed: None,
            delays: 0,
            states: BTreeSet::new(),
        }
    }
}

impl Strategy for Watched<'_> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn interests(&self) -> Interests {
        Guide::<Box<dyn DelayingExplorer>>::INTERESTS
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.guide.begin(*self.seed.get_or_insert(iteration.seed));
        self.delays = 0;
        self.inner.begin(iteration)
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        self.states.insert(point.fingerprint);
        let pick = self.inner.pick(point, enabled);
        let mut delays = 0;
        while self.guide.choose(enabled, u32::from(delays > 0)) != pick {
            // For values the number of delays is the value; else each call delays once more.
            delays += 1;
            if enabled.actions().is_none() {
                delays = pick.0;
                break;
            }
            assert!(
                (delays as usize) < enabled.len(),
                "a choice that no delay leads to"
            );
        }
        self.delays += delays;
        pick
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        self.guide.observe(event);
        self.inner.observe(event);
    }

    fn end(&mut self, end: &IterationEnd) {
        self.states.insert(end.fingerprint);
        self.inner.end(end);
    }
}

struct Explored {
    /// All schedules, in the order in which they were run, with the delays that each needs.
    runs: Vec<(Schedule, u32)>,
    states: BTreeSet<Fingerprint>,
}

impl Explored {
    fn schedules(&self) -> BTreeMap<Schedule, u32> {
        let schedules: BTreeMap<_, _> = self.runs.iter().cloned().collect();
        assert_eq!(schedules.len(), self.runs.len(), "a schedule was repeated");
        schedules
    }
}

fn explore(
    strategy: &mut dyn Strategy,
    explorer: Box<dyn DelayingExplorer>,
    program: &[Vec<Do>],
) -> Explored {
    let mut toy = Toy::new(program.to_vec());
    let mut watched = Watched::new(strategy, explorer);
    let mut runs = Vec::new();
    while let Some(run) = toy.try_run(&mut watched, Seed(9), runs.len() as u64) {
        runs.push(((run.order, run.values), watched.delays));
    }
    Explored {
        runs,
        states: watched.states,
    }
}

/// Runs `check` with each program and explorer (twice, as it is needed twice), and what brute force
/// finds.
fn for_all(
    check: impl Fn(&[Vec<Do>], Box<dyn DelayingExplorer>, Box<dyn DelayingExplorer>, &Explored),
) {
    for program in programs() {
        for i in 0..3 {
            let explorer = || explorers().into_iter().nth(i).unwrap();
            let all = explore(&mut Exhaustive::new(), explorer(), &program);
            assert!(all.runs.len() > 20);
            check(&program, explorer(), explorer(), &all);
        }
    }
}

#[test]
fn every_explorer_runs_every_schedule_once() {
    for_all(|program, one, two, all| {
        for delta in [1, 2, 100] {
            let one = explorers()
                .into_iter()
                .find(|e| e.name() == one.name())
                .unwrap();
            let two = explorers()
                .into_iter()
                .find(|e| e.name() == two.name())
                .unwrap();
            let mut ses = Ses::new(one).delta(delta);
            let found = explore(&mut ses, two, program);
            assert_eq!(found.schedules(), all.schedules());
            assert_eq!(ses.explored_all(), Some(all.runs.len() as u64));
        }
    });
}

/// Stratum by stratum, and in each exactly the schedules that need so many delays.
#[test]
fn strata_are_the_paper_s_tree() {
    for_all(|program, one, two, all| {
        let mut ses = Ses::new(one);
        let found = explore(&mut ses, two, program);
        assert!(found.runs.is_sorted_by_key(|(_, delays)| *delays));
        for (delays, &count) in ses.totals.strata.iter().enumerate() {
            let right = all.runs.iter().filter(|(_, d)| *d as usize == delays);
            assert_eq!(count, right.count() as u64);
        }
    });
}

#[test]
fn a_bound_on_delays_is_kept_and_told() {
    for_all(|program, one, two, all| {
        let mut ses = Ses::new(one).max_delays(2);
        let found = explore(&mut ses, two, program);
        let mut right = all.schedules();
        right.retain(|_, delays| *delays <= 2);
        assert_eq!(found.schedules(), right);
        assert_eq!(ses.explored_all(), None);
        let strata: Vec<String> = (0..=2)
            .map(|d| {
                right
                    .values()
                    .filter(|delays| **delays == d)
                    .count()
                    .to_string()
            })
            .collect();
        let expected = [
            format!("complete up to 2 delays: {} schedules", strata.join(" + ")),
            "more schedules have over 2 delays".to_owned(),
        ];
        assert_eq!(ses.remarks(), expected);
    });
}

#[test]
fn with_a_cache_every_state_is_visited() {
    for_all(|program, one, two, all| {
        let mut ses = Ses::new(one).cache(true);
        let found = explore(&mut ses, two, program);
        assert_eq!(found.states, all.states);
        assert!(found.runs.len() <= all.runs.len());
        assert!(ses.totals.pruned > 0);
        assert_eq!(ses.explored_all(), None);
        let remarks = ses.remarks().join("\n");
        assert!(
            remarks.contains("variables of tasks are not seen"),
            "{remarks}"
        );
    });
}

/// Memory for twelve states.
#[test]
fn with_a_small_cache_every_state_is_visited() {
    for_all(|program, one, two, all| {
        let mut ses = Ses::new(one);
        ses.cache = Some(StateCache::new(16 * 8));
        let found = explore(&mut ses, two, program);
        assert_eq!(found.states, all.states);
        let cache = ses.cache.as_ref().unwrap();
        assert!(!cache.is_full() || cache.len() == 12);
    });
}

/// A grid of steps of two tasks: as many states as cells, while schedules are binomially many.
#[test]
fn a_cache_makes_the_number_of_schedules_that_of_states() {
    let task = |cells: std::ops::Range<usize>| cells.map(Do::Read).collect::<Vec<_>>();
    let program = [task(0..7), task(1..8)];
    let [one, two, _] = explorers();
    let mut ses = Ses::new(one).cache(true);
    let found = explore(&mut ses, two, &program);
    // 14 over 7 schedules; 7 x 7 states in which both can go on, each with one delay to make.
    assert_eq!(found.runs.len(), 7 * 7 + 1);
    assert_eq!(ses.cache.as_ref().unwrap().len(), 7 * 7);
}

#[test]
fn what_does_not_fit_is_told() {
    let program = vec![(0..8).map(Do::Read).collect::<Vec<_>>(); 2];
    let mut ses = Ses::new(RoundRobinExplorer::new());
    ses.memory_mib = 0;
    let found = explore(&mut ses, Box::new(RoundRobinExplorer::new()), &program);
    assert_eq!(found.runs.len(), 1);
    assert_eq!(ses.explored_all(), None);
    let expected = [
        "begun at 0 delays: 1 schedules",
        "memory is full: the extensions of 1 schedules were dropped",
    ];
    assert_eq!(ses.remarks(), expected);
}

#[test]
fn a_program_that_changes_is_told() {
    let mut ses = Ses::new(RoundRobinExplorer::new());
    let mut run =
        |tasks: Vec<Vec<Do>>, index| Toy::new(tasks).try_run(&mut ses, Seed(1), index).is_some();
    assert!(run(vec![vec![Do::Step; 3]; 3], 0));
    assert!(run(vec![vec![Do::Step]], 1));
    assert!(
        ses.remarks()
            .iter()
            .any(|r| r.starts_with("1 schedules did not repeat"))
    );
}

#[test]
fn runs_that_are_cut_are_not_all() {
    let mut toy = Toy::new(vec![vec![Do::Step; 3]; 2]);
    toy.limit = 4;
    let mut ses = Ses::new(RunToCompletionExplorer::new());
    let mut runs = 0;
    while toy.try_run(&mut ses, Seed(1), runs).is_some() {
        runs += 1;
    }
    assert!(runs > 5);
    assert_eq!(ses.explored_all(), None);
}

/// A task that spins does not hold up stratum 0.
#[test]
fn spinning_ends_without_delays() {
    for explorer in explorers() {
        let mut toy = Toy::new(vec![vec![Do::SpinUntil(0)], vec![Do::Step, Do::Raise(0)]]);
        let run = toy.run(&mut Ses::new(explorer), Seed(1), 0);
        assert!(run.order.len() < 8 && !run.cut);
    }
}

/// What is default is left out, and the text names the same strategy again.
#[test]
fn descriptions() {
    for (text, canonical) in [
        ("ses", "ses"),
        ("ses:explorer=rtc,cache=off,memory=256,delta=1", "ses"),
        (
            "ses:max=3,explorer=prr,cache=on",
            "ses:explorer=prr,cache=on,max=3",
        ),
        (
            "ses:memory=7,explorer=rr,delta=2",
            "ses:explorer=rr,memory=7,delta=2",
        ),
    ] {
        let built = StrategySpec::parse(text).unwrap().build();
        assert_eq!(built.describe(), canonical);
    }
}
