//! Two-phase commit over a lossy network: a coordinator, two to four replicas that vote, a timer,
//! and two clients.
//!
//! Source: the P samples of the FSE'15 paper's authors (p-org/P at ea19e2a, `BuggyModels/4_.p`), and
//! their form in psharp-ql `Samples/Framework/TwoPhaseCommit`, as a stand-in for `2pc_1` to `2pc_4`.
//! The bug of `2pc-1` is that of the second, that of `2pc-4` is possible in the first; the others are
//! ours.
//!
//! The coordinator takes one write at a time and puts all else off. It asks every replica for a
//! vote on a new number, starts the timer and counts down; at zero it commits, on a no or a timeout
//! it aborts. Then it stops the timer, which may answer that it is too late, and waits for the
//! timeout that follows in that case. Clients write and read in turn. As in the source, a message
//! between nodes may be lost and is not sent again, a timer may fire when it is started, or be too
//! late to stop, and a replica may refuse; each is a fair coin.
//!
//! 1. No replica that voted no on a number is told to commit it.
//! 2. No replica sees both a commit and an abort of one number.
//! 3. A read sees whatever a write or a read that ended before it began has seen.
//!
//! Departures: a replica's coin is true if it refuses, in the samples if it agrees, which makes no
//! difference to random, but there every yes takes a delay; the only value is the number of the last
//! write; invariant 1 is ours, as the assertions of the samples cannot see the first bug.

use super::monitor::Monitor;
use super::network::{Link, Port};
use super::{NEVER, model, row};
use crate::subjects::machine::{Address, Machine, Me, Message, run_as_p};
use crate::subjects::{Scenario, Subject};
use cct_executor::always;
use cct_executor::words::fingerprint::hash_of;

const CLIENTS: u32 = 2;
const WRITES: u32 = 2;

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
    17,
    [
        |_| scenario(2, Bug::KeptCount),
        |_| scenario(2, Bug::Nothing),
    ],
    &row([
        9842.0, 1891.0, 1983.0, 781.0, 331.0, 816.0, 793_221.0, 8851.0, 6571.0, 6512.0,
    ]),
);

/// `2pc-2`.
pub(crate) const TWO_PC_2: Subject = model(
    "2pc-2",
    "two-phase commit that counts votes on earlier writes",
    23,
    [
        |_| scenario(4, Bug::StaleVote),
        |_| scenario(4, Bug::Nothing),
    ],
    &row([
        NEVER, NEVER, NEVER, 10943.0, 6378.0, 6300.0, NEVER, NEVER, 17690.0, 9090.0,
    ]),
);

/// `2pc-3`.
pub(crate) const TWO_PC_3: Subject = model(
    "2pc-3",
    "two-phase commit that aborts what it committed when a timeout comes late",
    17,
    [
        |_| scenario(2, Bug::LateTimeout),
        |_| scenario(2, Bug::Nothing),
    ],
    &row([
        NEVER, 2966.0, 9835.0, 1823.0, 1018.0, 4109.0, 48321.0, 1898.0, 1123.0, 2189.0,
    ]),
);

/// `2pc-4`.
pub(crate) const TWO_PC_4: Subject = model(
    "2pc-4",
    "two-phase commit whose replicas answer reads",
    20,
    [
        |_| scenario(3, Bug::ReplicaReads),
        |_| scenario(3, Bug::Nothing),
    ],
    &row([
        NEVER, 7629.0, NEVER, NEVER, 3321.0, NEVER, NEVER, NEVER, 5101.0, 77212.0,
    ]),
);

fn scenario(replicas: u32, bug: Bug) -> Scenario {
    Box::pin(run_as_p(Root { replicas, bug }))
}

#[derive(Clone, Hash)]
enum Msg {
    Write(Port<Msg>),
    Read(Port<Msg>),
    /// Asks for a vote on this number.
    Prepare(u32, Port<Msg>),
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

struct Root {
    replicas: u32,
    bug: Bug,
}

impl Machine for Root {
    type Message = Msg;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Msg>) {
        let latest = Seen::default();
        let mut replicas = Vec::new();
        for _ in 0..self.replicas {
            let link = Link::new(me);
            replicas.push(link.port());
            let replica = me.create(Replica {
                link: link.clone(),
                committed: 0,
                refused: 0,
            });
            link.attach(me, &replica);
        }
        let timer = me.create(Timer { runs: false });
        let link = Link::new(me);
        let readable = match self.bug {
            Bug::ReplicaReads => [replicas[1].clone(), replicas[0].clone()],
            _ => [link.port(), link.port()],
        };
        let port = link.port();
        let coordinator = me.create(Coordinator {
            link: link.clone(),
            phase: Phase::Idle,
            client: None,
            number: 0,
            missing: self.replicas,
            committed: 0,
            replicas,
            timer,
            bug: self.bug,
        });
        link.attach(me, &coordinator);
        for _ in 0..CLIENTS {
            let link = Link::new(me);
            let client = me.create(Client {
                link: link.clone(),
                coordinator: port.clone(),
                readable: readable.clone(),
                writes: 0,
                seen: 0,
                latest: latest.clone(),
            });
            link.attach(me, &client);
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
    link: Link<Msg>,
    phase: Phase,
    client: Option<Port<Msg>>,
    /// The last write.
    number: u32,
    /// Votes that are missing.
    missing: u32,
    committed: u32,
    replicas: Vec<Port<Msg>>,
    timer: Address<Msg>,
    bug: Bug,
}

impl Coordinator {
    fn tell_replicas(&self, me: &mut Me<Msg>, message: &Msg) {
        for replica in &self.replicas {
            self.link.send(me, replica, message.clone());
        }
    }

    fn prepare(&mut self, me: &mut Me<Msg>, client: Port<Msg>) {
        self.phase = Phase::Counting;
        self.client = Some(client);
        self.number += 1;
        self.tell_replicas(me, &Msg::Prepare(self.number, self.link.port()));
        me.send(&self.timer, Msg::Start(me.address()));
    }

    fn commit(&mut self, me: &mut Me<Msg>) {
        let number = self.number;
        self.missing = self.replicas.len() as u32;
        self.committed = number;
        self.tell_replicas(me, &Msg::Commit(number));
        self.answer(me, Some(number));
        self.stop_timer(me);
    }

    fn abort(&mut self, me: &mut Me<Msg>) {
        if self.bug != Bug::KeptCount {
            self.missing = self.replicas.len() as u32;
        }
        self.tell_replicas(me, &Msg::Abort(self.number));
        self.answer(me, None);
    }

    fn answer(&mut self, me: &mut Me<Msg>, number: Option<u32>) {
        if let Some(client) = self.client.take() {
            self.link.send(me, &client, Msg::Written(number));
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
            Msg::Read(client) => self.link.send(me, &client, Msg::Seen(self.committed)),
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
            1 << WRITE | 1 << READ
        }
    }

    fn digest(&self) -> Option<u64> {
        let state = (self.phase, &self.client, self.number);
        Some(hash_of(&(state, self.missing, self.committed)))
    }
}

struct Replica {
    link: Link<Msg>,
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
                let yes = !me.coin();
                if !yes {
                    self.refused = number;
                }
                self.link.send(me, &coordinator, Msg::Vote(number, yes));
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
            Msg::Read(client) => self.link.send(me, &client, Msg::Seen(self.committed)),
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
                self.runs = !me.coin();
                if !self.runs {
                    me.send(&coordinator, Msg::Timeout);
                }
            }
            Msg::Stop(coordinator) => {
                let too_late = self.runs && me.coin();
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

/// Writes, then reads, and once more.
struct Client {
    link: Link<Msg>,
    coordinator: Port<Msg>,
    /// Where it may read.
    readable: [Port<Msg>; 2],
    writes: u32,
    /// What had been seen when its read began.
    seen: u32,
    latest: Seen,
}

impl Client {
    fn write(&mut self, me: &Me<Msg>) {
        if self.writes < WRITES {
            self.writes += 1;
            let write = Msg::Write(self.link.port());
            self.link.send(me, &self.coordinator, write);
        }
    }

    fn read(&mut self, me: &Me<Msg>) {
        self.seen = self.latest.with(|latest| *latest);
        let [last, first] = &self.readable;
        let from = if me.coin() { first } else { last };
        self.link.send(me, from, Msg::Read(self.link.port()));
    }
}

impl Machine for Client {
    type Message = Msg;
    const NAME: &'static str = "client";

    fn start(&mut self, me: &mut Me<Msg>) {
        self.write(me);
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
                self.write(me);
            }
            _ => always!(false, "a client was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.writes, self.seen)))
    }
}
