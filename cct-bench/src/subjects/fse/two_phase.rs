//! Two-phase commit: a coordinator, three replicas that vote, a timer, and two clients.
//!
//! Source: psharp-ql `Samples/Framework/TwoPhaseCommit`, as a stand-in for `2pc_1` to `2pc_4` of
//! the FSE'15 paper. The bug of `2pc-1` is that of the sample; the others are ours.
//!
//! The coordinator takes one write at a time and puts the others off. It starts the timer, asks every
//! replica for a vote on a new number and counts down; at zero it commits, on a no or a timeout
//! it aborts. Then it stops the timer, which may answer that it is too late, and waits for the
//! timeout that follows in that case.
//!
//! 1. No replica that voted no on a number is told to commit it.
//! 2. No replica sees both a commit and an abort of one number.
//! 3. A read sees whatever a write or a read that ended before it began has seen.
//!
//! Departures: three replicas instead of two; the coins are not fair: a replica says no, a timer
//! fires and is too late to stop in one of 32 cases each, so that most writes go through; the
//! only value is the number of the last write; invariant 1 is ours, as the assertions of the sample cannot see its bug.

use super::monitor::Monitor;
use super::{NEVER, model, row};
use crate::subjects::machine::{Address, Machine, Me, Message, run};
use crate::subjects::{Probe, Scenario, Subject};
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{always, nondet};

const REPLICAS: u32 = 3;
const CLIENTS: u32 = 2;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    Nothing,
    /// The countdown goes on where an aborted write left it.
    KeptCount,
    /// A vote counts whatever its number.
    StaleVote,
    /// A timeout that comes while the timer is being stopped aborts the write, although that was
    /// committed.
    LateTimeout,
    /// Replicas answer reads.
    ReplicaReads,
}

/// `2pc-1`.
pub(crate) const TWO_PC_1: Subject = model(
    "2pc-1",
    "two-phase commit whose countdown of votes is not restored after an abort",
    8,
    [|_| scenario(Bug::KeptCount), fixed],
    &row([
        9842.0, 1891.0, 1983.0, 781.0, 331.0, 816.0, 793_221.0, 8851.0, 6571.0, 6512.0,
    ]),
);

/// `2pc-2`.
pub(crate) const TWO_PC_2: Subject = model(
    "2pc-2",
    "two-phase commit that counts votes on earlier writes",
    8,
    [|_| scenario(Bug::StaleVote), fixed],
    &row([
        NEVER, NEVER, NEVER, 10943.0, 6378.0, 6300.0, NEVER, NEVER, 17690.0, 9090.0,
    ]),
);

/// `2pc-3`.
pub(crate) const TWO_PC_3: Subject = model(
    "2pc-3",
    "two-phase commit that aborts what it committed when a timeout comes late",
    8,
    [|_| scenario(Bug::LateTimeout), fixed],
    &row([
        NEVER, 2966.0, 9835.0, 1823.0, 1018.0, 4109.0, 48321.0, 1898.0, 1123.0, 2189.0,
    ]),
);

/// `2pc-4`.
pub(crate) const TWO_PC_4: Subject = model(
    "2pc-4",
    "two-phase commit whose replicas answer reads",
    8,
    [|_| scenario(Bug::ReplicaReads), fixed],
    &row([
        NEVER, 7629.0, NEVER, NEVER, 3321.0, NEVER, NEVER, NEVER, 5101.0, 77212.0,
    ]),
);

fn fixed(_: Probe) -> Scenario {
    scenario(Bug::Nothing)
}

fn scenario(bug: Bug) -> Scenario {
    Box::pin(run(Root(bug)))
}

#[derive(Clone, Hash)]
enum Msg {
    Write(Address<Msg>),
    Read(Address<Msg>),
    /// Asks for a vote on this number.
    Prepare(u32, Address<Msg>),
    /// A replica's yes or no on this number.
    Vote(u32, bool),
    Commit(u32),
    Abort(u32),
    Start(Address<Msg>),
    Stop(Address<Msg>),
    Stopped,
    /// A timeout is on its way.
    TooLate,
    Timeout,
    /// The number of the write, if it was committed.
    Written(Option<u32>),
    /// The number of the last write that was seen.
    Seen(u32),
}

const WRITE: u32 = 0;
const READ: u32 = 1;
const VOTE: u32 = 3;

impl Message for Msg {
    fn kind(&self) -> u32 {
        match self {
            Msg::Write(_) => WRITE,
            Msg::Read(_) => READ,
            Msg::Prepare(..) => 2,
            Msg::Vote(..) => VOTE,
            Msg::Commit(_) => 4,
            Msg::Abort(_) => 5,
            Msg::Start(_) => 6,
            Msg::Stop(_) => 7,
            Msg::Stopped => 8,
            Msg::TooLate => 9,
            Msg::Timeout => 10,
            Msg::Written(_) => 11,
            Msg::Seen(_) => 12,
        }
    }

    fn digest(&self) -> u64 {
        hash_of(self)
    }
}

/// The highest number that an operation which ended has seen.
type Seen = Monitor<u32>;

/// True in one of 32 cases.
fn rarely() -> bool {
    nondet::weighted(&[31, 1]) == 1
}

struct Root(Bug);

impl Machine for Root {
    type Message = Msg;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Msg>) {
        let latest = Seen::default();
        let mut replicas = Vec::new();
        for _ in 0..REPLICAS {
            replicas.push(me.create(Replica {
                committed: 0,
                refused: 0,
            }));
        }
        let timer = me.create(Timer { runs: false });
        let coordinator = me.create(Coordinator {
            phase: Phase::Idle,
            client: None,
            number: 0,
            missing: REPLICAS,
            committed: 0,
            replicas: replicas.clone(),
            timer,
            bug: self.0,
        });
        let readable = if self.0 == Bug::ReplicaReads {
            replicas
        } else {
            vec![coordinator.clone()]
        };
        for _ in 0..CLIENTS {
            me.create(Client {
                coordinator: coordinator.clone(),
                readable: readable.clone(),
                reads: 0,
                seen: 0,
                latest: latest.clone(),
            });
        }
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    /// Votes come in.
    Counting,
    /// The timer was asked to stop; whether its timeout has come already.
    Stopping(bool),
    /// The timer was too late to stop.
    Expecting,
}

struct Coordinator {
    phase: Phase,
    client: Option<Address<Msg>>,
    /// The last write.
    number: u32,
    /// Votes that are missing.
    missing: u32,
    committed: u32,
    replicas: Vec<Address<Msg>>,
    timer: Address<Msg>,
    bug: Bug,
}

impl Coordinator {
    fn tell_replicas(&self, me: &mut Me<Msg>, message: &Msg) {
        for replica in &self.replicas {
            me.send(replica, message.clone());
        }
    }

    fn prepare(&mut self, me: &mut Me<Msg>, client: Address<Msg>) {
        self.phase = Phase::Counting;
        self.client = Some(client);
        self.number += 1;
        me.send(&self.timer, Msg::Start(me.address()));
        self.tell_replicas(me, &Msg::Prepare(self.number, me.address()));
    }

    fn commit(&mut self, me: &mut Me<Msg>) {
        let number = self.number;
        self.missing = REPLICAS;
        self.committed = number;
        self.tell_replicas(me, &Msg::Commit(number));
        self.answer(me, Some(number));
        self.stop_timer(me);
    }

    fn abort(&mut self, me: &mut Me<Msg>) {
        if self.bug != Bug::KeptCount {
            self.missing = REPLICAS;
        }
        self.tell_replicas(me, &Msg::Abort(self.number));
        self.answer(me, None);
    }

    fn answer(&mut self, me: &mut Me<Msg>, number: Option<u32>) {
        if let Some(client) = self.client.take() {
            me.send(&client, Msg::Written(number));
        }
    }

    fn stop_timer(&mut self, me: &mut Me<Msg>) {
        self.phase = Phase::Stopping(false);
        me.send(&self.timer, Msg::Stop(me.address()));
    }

    fn vote(&mut self, me: &mut Me<Msg>, number: u32, yes: bool) {
        let counts = number == self.number || self.bug == Bug::StaleVote;
        if self.phase != Phase::Counting || !counts {
            return;
        }
        if !yes {
            self.abort(me);
            return self.stop_timer(me);
        }
        self.missing -= 1;
        if self.missing == 0 {
            self.commit(me);
        }
    }

    fn timeout(&mut self, me: &mut Me<Msg>) {
        match self.phase {
            Phase::Counting => {
                self.phase = Phase::Idle;
                self.abort(me);
            }
            Phase::Stopping(_) => {
                self.phase = Phase::Stopping(true);
                if self.bug == Bug::LateTimeout {
                    self.abort(me);
                }
            }
            Phase::Idle | Phase::Expecting => self.phase = Phase::Idle,
        }
    }
}

impl Machine for Coordinator {
    type Message = Msg;
    const NAME: &'static str = "coordinator";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Write(client) => self.prepare(me, client),
            Msg::Read(client) => me.send(&client, Msg::Seen(self.committed)),
            Msg::Vote(number, yes) => self.vote(me, number, yes),
            Msg::Timeout => self.timeout(me),
            Msg::Stopped => self.phase = Phase::Idle,
            Msg::TooLate => self.phase = Phase::Expecting,
            _ => always!(false, "the coordinator was sent what it does not take"),
        }
    }

    fn deferred(&self) -> u64 {
        if self.phase == Phase::Idle {
            0
        } else {
            1 << WRITE
        }
    }

    fn digest(&self) -> Option<u64> {
        let state = (self.phase, &self.client, self.number);
        Some(hash_of(&(state, self.missing, self.committed)))
    }
}

struct Replica {
    committed: u32,
    /// The number on which it voted no last.
    refused: u32,
}

impl Machine for Replica {
    type Message = Msg;
    const NAME: &'static str = "replica";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Prepare(number, coordinator) => {
                let yes = !rarely();
                if !yes {
                    self.refused = number;
                }
                me.send(&coordinator, Msg::Vote(number, yes));
            }
            Msg::Commit(number) => {
                always!(self.refused != number, "{number} is committed against a no");
                self.committed = number;
            }
            Msg::Abort(number) => {
                always!(
                    self.committed != number,
                    "{number} is aborted and committed"
                );
            }
            Msg::Read(client) => me.send(&client, Msg::Seen(self.committed)),
            _ => always!(false, "a replica was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.committed, self.refused)))
    }
}

struct Timer {
    runs: bool,
}

impl Machine for Timer {
    type Message = Msg;
    const NAME: &'static str = "timer";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Start(coordinator) => {
                self.runs = !rarely();
                if !self.runs {
                    me.send(&coordinator, Msg::Timeout);
                }
            }
            Msg::Stop(coordinator) => {
                let too_late = self.runs && rarely();
                self.runs = false;
                if too_late {
                    me.send(&coordinator, Msg::TooLate);
                    me.send(&coordinator, Msg::Timeout);
                } else {
                    me.send(&coordinator, Msg::Stopped);
                }
            }
            _ => always!(false, "the timer was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(u64::from(self.runs))
    }
}

/// Writes once, then reads twice.
struct Client {
    coordinator: Address<Msg>,
    /// Where it reads, in turn.
    readable: Vec<Address<Msg>>,
    reads: usize,
    /// What had been seen when its read began.
    seen: u32,
    latest: Seen,
}

impl Client {
    fn read(&mut self, me: &mut Me<Msg>) {
        self.seen = self.latest.with(|latest| *latest);
        let from = &self.readable[self.reads % self.readable.len()];
        self.reads += 1;
        me.send(from, Msg::Read(me.address()));
    }
}

impl Machine for Client {
    type Message = Msg;
    const NAME: &'static str = "client";

    fn start(&mut self, me: &mut Me<Msg>) {
        me.send(&self.coordinator, Msg::Write(me.address()));
    }

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Written(number) => {
                let number = number.unwrap_or(0);
                self.latest.with(|latest| *latest = number.max(*latest));
                self.read(me);
            }
            Msg::Seen(number) => {
                let seen = self.seen;
                always!(number >= seen, "a read sees {number} after {seen} was seen");
                self.latest.with(|latest| *latest = number.max(*latest));
                if self.reads < 2 {
                    self.read(me);
                }
            }
            _ => always!(false, "a client was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.reads, self.seen)))
    }
}
