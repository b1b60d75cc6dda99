use super::{Address, Machine, Me, Message, run, run_as_p};
use cct_executor::shim::Shared;
use cct_executor::{Checker, Report, Seed, nondet};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

#[derive(Clone)]
enum Note {
    Hello(u32),
    Later,
    Noise,
}

impl Message for Note {
    fn kind(&self) -> u32 {
        match self {
            Note::Hello(_) => 0,
            Note::Later => 1,
            Note::Noise => 2,
        }
    }
}

type Seen = Arc<Shared<Vec<u32>>>;

/// Defers `Later` until it has seen two greetings, and never hears noise.
struct Listener {
    seen: Seen,
}

impl Machine for Listener {
    type Message = Note;
    const NAME: &'static str = "listener";

    fn start(&mut self, me: &mut Me<Note>) {
        me.enter(0);
    }

    fn deferred(&self) -> u64 {
        if self.seen.with(|seen| seen.len() < 2) {
            1 << 1
        } else {
            0
        }
    }

    fn ignored(&self) -> u64 {
        1 << 2
    }

    fn handle(&mut self, me: &mut Me<Note>, note: Note) {
        match note {
            Note::Hello(from) => self.seen.with(|seen| seen.push(from)),
            Note::Later => {
                self.seen.with(|seen| seen.push(9));
                me.enter(1);
                me.halt();
            }
            Note::Noise => panic!("noise was to be ignored"),
        }
    }
}

struct Speaker {
    to: Address<Note>,
    says: u32,
}

impl Machine for Speaker {
    type Message = Note;
    const NAME: &'static str = "speaker";

    fn start(&mut self, me: &mut Me<Note>) {
        me.send(&self.to, Note::Noise);
        me.send(&self.to, Note::Hello(self.says));
        me.halt();
    }

    fn handle(&mut self, _: &mut Me<Note>, _: Note) {}
}

struct Root(Seen);

impl Machine for Root {
    type Message = Note;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Note>) {
        let to = me.create(Listener {
            seen: self.0.clone(),
        });
        me.send(&to, Note::Later);
        for says in 0..2 {
            me.create(Speaker {
                to: to.clone(),
                says,
            });
        }
    }

    fn handle(&mut self, _: &mut Me<Note>, _: Note) {}
}

fn explore(
    strategy: &str,
    iterations: u64,
    seen: impl Fn(Vec<u32>) + Clone + Send + Sync + 'static,
) -> Report {
    Checker::new()
        .use_environment(false)
        .strategy_text(strategy)
        .seed(Seed(7))
        .iterations(iterations)
        .run(move || {
            let seen = seen.clone();
            async move {
                let all = Seen::new(Shared::new(Vec::new()));
                run(Root(all.clone())).await;
                seen(all.with(|all| all.clone()));
            }
        })
}

#[test]
fn deferred_messages_wait_and_ignored_ones_vanish_whatever_the_order() {
    for strategy in ["random", "pct:d=3", "round-robin"] {
        let orders = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = orders.clone();
        let report = explore(strategy, 300, move |all| {
            assert_eq!(all.len(), 3, "{all:?}");
            assert_eq!(all[2], 9, "{all:?}");
            seen.lock().unwrap().insert(all);
        });
        report.assert_passed();
        // The chance that 300 random runs miss one of two equally likely orders is 2^-299.
        let both = strategy != "round-robin";
        assert_eq!(orders.lock().unwrap().len() == 2, both, "{strategy}");
    }
}

/// Counts decisions by having one machine do one thing, beside another.
struct Pair {
    left: u32,
}

impl Machine for Pair {
    type Message = Note;
    const NAME: &'static str = "pair";

    fn start(&mut self, me: &mut Me<Note>) {
        let me_too = me.address();
        me.send(&me_too, Note::Hello(0));
    }

    fn handle(&mut self, me: &mut Me<Note>, _: Note) {
        if self.left > 0 {
            self.left -= 1;
            if nondet::boolean() {
                let me_too = me.address();
                me.send(&me_too, Note::Hello(0));
            }
        }
    }
}

#[test]
fn a_machine_passes_a_point_for_each_message_sent_and_each_taken() {
    // The start, a send and a receive, then per round a coin, and for heads a send and a receive:
    // with always heads 3 + 3 * left steps. The last receive finds `left` at 0.
    for left in [0, 1, 5] {
        let steps = 3 + 3 * u64::from(left);
        for (limit, cut) in [(steps, false), (steps - 1, true)] {
            let report = Checker::new()
                .use_environment(false)
                .strategy_text("exhaustive")
                .max_steps(limit)
                .fail_on_limit(true)
                .iterations(10_000)
                .run(move || async move { run(Pair { left }).await });
            assert_eq!(report.failure().is_some(), cut, "{left} {limit}");
        }
    }
}

#[test]
fn as_in_p_taking_a_message_is_no_point() {
    // The start and a send, then per round a coin and a send.
    for left in [0, 1, 5] {
        let steps = 2 + 2 * u64::from(left);
        for (limit, cut) in [(steps, false), (steps - 1, true)] {
            let report = Checker::new()
                .use_environment(false)
                .strategy_text("exhaustive")
                .max_steps(limit)
                .fail_on_limit(true)
                .iterations(10_000)
                .run(move || async move { run_as_p(Pair { left }).await });
            assert_eq!(report.failure().is_some(), cut, "{left} {limit}");
        }
    }
}

/// Draws in the middle of a handler; what it drew shows only in what it sends next.
struct Drawer;

impl Machine for Drawer {
    type Message = Note;
    const NAME: &'static str = "drawer";

    fn start(&mut self, me: &mut Me<Note>) {
        let speaker = Speaker {
            to: me.address(),
            says: 0,
        };
        me.create(speaker);
        let drawn = me.coin();
        me.send(&me.address(), Note::Noise);
        cct_executor::always!(!drawn, "drawn");
    }

    fn handle(&mut self, _: &mut Me<Note>, _: Note) {}

    fn digest(&self) -> Option<u64> {
        Some(1)
    }
}

/// Both values lead to pending sends that look alike but for the machine's progress.
#[test]
fn as_in_p_values_drawn_in_a_handler_are_part_of_the_state() {
    for strategy in ["ses", "ses:cache=on"] {
        let report = Checker::new()
            .use_environment(false)
            .strategy_text(strategy)
            .iterations(1_000)
            .run(|| async { run_as_p(Drawer).await });
        assert!(!report.passed(), "{strategy}");
    }
}
