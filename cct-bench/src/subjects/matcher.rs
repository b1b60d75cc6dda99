//! The string matcher of figure 1 and table 1 of the QL paper (Mukherjee, Deligiannis, Biswas, Lal,
//! "Learning-based controlled concurrency testing", OOPSLA 2020).
//!
//! Workers A and B send 0 and 1 for ever, and in `matcher-eta4` to `-eta6` worker D sends one 2.
//! The receiver matches what it gets against a string. Bug, if it is one: the messages from the
//! first on are the string. `matcher-coin` has one worker that tosses a coin for each message.
//!
//! Differences: a message is matched by the step that sends it, so the receiver has no step of its
//! own; it would not change the order of messages. The paper does not say how runs end: ours end
//! after 100 messages. Longer than any string, so that a mismatch is followed by a long stretch in
//! one and the same state, which learners are to learn to avoid, and so that a change point of PCT
//! falls where it is needed about as often as published.
//!
//! A uniform random walk matches a string over A and B with probability 2^-10, 0.098 % (published:
//! 0.08); `matcher-eta4` with 2^-10 / 3, `-eta5` with 3^-11.
//!
//! For custom abstractions it observes how many characters have matched, and nothing else.
//! There is no fixed form: the program is nothing but its bug.

use super::threads::{Crew, Lock};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::{Shared, Waiter};
use cct_executor::{Clock, Granularity, nondet, observe};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// Messages in one iteration.
const MESSAGES: u32 = 100;

struct Receiver {
    text: &'static [u8],
    /// How many characters have matched; `None` for good after a mismatch.
    matched: Shared<Option<usize>>,
    left: Shared<u32>,
    /// Workers that have not come yet, and those that wait for them.
    gate: Shared<(u32, Vec<Waiter>)>,
    /// Only used for its points.
    points: Lock,
}

impl Receiver {
    fn new(text: &'static str, workers: u32) -> Arc<Receiver> {
        observe("matched", Some(0_usize));
        Arc::new(Receiver {
            text: text.as_bytes(),
            matched: Shared::new(Some(0)),
            left: Shared::new(MESSAGES),
            gate: Shared::new((workers, Vec::new())),
            points: Lock::new(),
        })
    }

    /// Waits until all workers are here: from then on every step of a worker sends a message.
    async fn assemble(&self) {
        let waiters = self.gate.with(|(missing, waiters)| {
            *missing -= 1;
            (*missing == 0).then(|| std::mem::take(waiters))
        });
        if let Some(waiters) = waiters {
            waiters.into_iter().for_each(Waiter::wake);
            self.points.switch().await;
        } else {
            poll_fn(|cx| {
                self.gate.with(|(missing, waiters)| {
                    if *missing == 0 {
                        return Poll::Ready(());
                    }
                    waiters.push(Waiter::from_context(cx));
                    Poll::Pending
                })
            })
            .await;
        }
    }

    /// Whether there is a message left to send.
    fn is_open(&self) -> bool {
        self.left.with(|left| {
            let is_open = *left > 0;
            *left = left.saturating_sub(1);
            is_open
        })
    }

    fn receive(&self, message: u8) {
        let matched = self.matched.with(|matched| {
            *matched = matched.filter(|&m| self.text.get(m) == Some(&message));
            *matched = matched.map(|m| m + 1);
            *matched
        });
        observe("matched", matched);
        assert!(matched != Some(self.text.len()), "the whole string matched");
    }
}

/// A worker that sends one character again and again.
async fn repeat(receiver: Arc<Receiver>, message: u8) {
    receiver.assemble().await;
    while receiver.is_open() {
        receiver.receive(message);
        receiver.points.switch().await;
    }
}

fn two_workers(text: &'static str) -> Scenario {
    Box::pin(async move {
        let (crew, receiver) = (Crew::new(), Receiver::new(text, 2));
        for message in [b'0', b'1'] {
            crew.start(repeat(receiver.clone(), message)).await;
        }
        crew.join().await;
    })
}

fn three_workers(text: &'static str) -> Scenario {
    Box::pin(async move {
        let (crew, receiver) = (Crew::new(), Receiver::new(text, 3));
        for message in [b'0', b'1'] {
            crew.start(repeat(receiver.clone(), message)).await;
        }
        let once = async move {
            receiver.assemble().await;
            if receiver.is_open() {
                receiver.receive(b'2');
            }
        };
        crew.start(once).await;
        crew.join().await;
    })
}

fn coin(text: &'static str) -> Scenario {
    Box::pin(async move {
        let receiver = Receiver::new(text, 1);
        while receiver.is_open() {
            receiver.receive(if nondet::boolean() { b'1' } else { b'0' });
        }
    })
}

pub(crate) const ETA1: Subject = Subject {
    name: "matcher-eta1",
    about: "two workers send 0 and 1; they should never spell 0000000001",
    standing: Standing::Reproduction,
    workers: 3,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| two_workers("0000000001"),
    fixed: None,
    targets: &[],
    published: &Published::ql1([0.08, 0.97, 7.34]),
};

pub(crate) const ETA2: Subject = Subject {
    name: "matcher-eta2",
    about: "two workers send 0 and 1; they should never spell 0101010101",
    scenario: |_| two_workers("0101010101"),
    published: &Published::ql1([0.08, 0.0, 7.82]),
    ..ETA1
};

pub(crate) const ETA3: Subject = Subject {
    name: "matcher-eta3",
    about: "two workers send 0 and 1; they should never spell 0101010001",
    scenario: |_| two_workers("0101010001"),
    published: &Published::ql1([0.08, 0.0, 7.07]),
    ..ETA1
};

pub(crate) const ETA4: Subject = Subject {
    name: "matcher-eta4",
    about: "as eta1, and a third worker sends one 2: they should never spell 20000000001",
    workers: 4,
    scenario: |_| three_workers("20000000001"),
    published: &[Published::one("ql1", "Random", 0.05)],
    ..ETA1
};

pub(crate) const ETA5: Subject = Subject {
    name: "matcher-eta5",
    about: "as eta1, and a third worker sends one 2: they should never spell 00000000012",
    scenario: |_| three_workers("00000000012"),
    published: &[
        Published::one("ql1", "Random", 0.003),
        Published::one("ql1", "PCT", 0.02),
    ],
    ..ETA4
};

pub(crate) const ETA6: Subject = Subject {
    name: "matcher-eta6",
    about: "as eta2, and a third worker sends one 2: they should never spell 01010101012",
    scenario: |_| three_workers("01010101012"),
    published: &[
        Published::one("ql1", "Random", 0.0),
        Published::one("ql1", "PCT", 0.0),
    ],
    ..ETA4
};

pub(crate) const COIN: Subject = Subject {
    name: "matcher-coin",
    about: "one worker sends 0 or 1 as a coin falls; it should never spell 0000000001",
    standing: Standing::Variant,
    workers: 1,
    scenario: |_| coin("0000000001"),
    published: &[],
    ..ETA1
};
