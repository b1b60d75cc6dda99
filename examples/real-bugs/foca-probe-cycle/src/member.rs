//! One member: foca, which knows neither network nor clock, between a mailbox and timers.
//!
//! As in the example of an agent that comes with foca: what arrives goes through one channel, and what
//! foca wants done is collected and done after each step.

use crate::name;
use cct_executor::spawn;
use cct_executor::time::sleep;
use cct_net::mailbox::Mailbox;
use foca::{BincodeCodec, Config, Error, Foca, Identity, Notification, Runtime, Timer};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A member. Under a new `bump` it joins again when it was declared down.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Id {
    at: u8,
    bump: u16,
}

impl Identity for Id {
    fn renew(&self) -> Option<Self> {
        Some(Id {
            at: self.at,
            bump: self.bump + 1,
        })
    }

    fn has_same_prefix(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

/// What foca wants done.
#[derive(Default)]
struct Wishes {
    send: Vec<(Id, Vec<u8>)>,
    wait: Vec<(Duration, Timer<Id>)>,
}

impl Runtime<Id> for Wishes {
    fn notify(&mut self, _notification: Notification<Id>) {}

    fn send_to(&mut self, to: Id, data: &[u8]) {
        self.send.push((to, data.to_vec()));
    }

    fn submit_after(&mut self, event: Timer<Id>, after: Duration) {
        self.wait.push((after, event));
    }
}

enum Input {
    Data(Vec<u8>),
    Timer(Timer<Id>),
}

/// Runs a member until its node is gone.
pub(crate) async fn run(at: u8) {
    let (inputs, mut todo) = cct_sync::mpsc::channel(100);
    let mut mailbox = Mailbox::<Vec<u8>>::builder("foca")
        .unordered()
        .bind()
        .expect("the name is free");
    let wire = mailbox.sender();
    let arrived = inputs.clone();
    spawn(async move {
        loop {
            let (_, data) = mailbox.recv().await;
            if arrived.send(Input::Data(data)).await.is_err() {
                return;
            }
        }
    });

    let mut foca = Foca::new(
        Id { at, bump: 0 },
        Config::simple(),
        SmallRng::seed_from_u64(u64::from(at)),
        BincodeCodec(bincode::DefaultOptions::new()),
    );
    let mut wishes = Wishes::default();
    if at > 0 {
        let first = Id { at: 0, bump: 0 };
        foca.announce(first, &mut wishes).expect("it fits");
    }
    loop {
        for (to, data) in wishes.send.drain(..) {
            wire.send(name(to.at), data).expect("the node is known");
        }
        for (after, timer) in wishes.wait.drain(..) {
            let inputs = inputs.clone();
            spawn(async move {
                sleep(after).await;
                let _ = inputs.send(Input::Timer(timer)).await;
            });
        }
        let Some(input) = todo.recv().await else {
            return;
        };
        let result = match input {
            Input::Data(data) => foca.handle_data(&data, &mut wishes),
            Input::Timer(timer) => foca.handle_timer(timer, &mut wishes),
        };
        // Other errors tell of what a network may do.
        if let Err(error @ Error::IncompleteProbeCycle) = result {
            panic!("member {at}: {error}");
        }
    }
}
