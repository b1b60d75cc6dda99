//! Chain replication: four or six servers, a master that mends the chain, a saboteur, and two clients.
//!
//! Source: van Renesse and Schneider, "Chain replication for supporting high throughput and
//! availability", OSDI 2004, in the shape of psharp-ql `Samples/Framework/ChainReplication`; a
//! stand-in for `ChainRep_5`, `_6` and `_8` of the FSE'15 paper. The bug of `chain-5` is that of
//! the sample, that of `chain-6` is after the paper's section 6.3, that of `chain-8` is ours.
//!
//! First the master tells the servers who is who; when all have answered, or failed, it tells the
//! clients of the head. An update enters at the head and goes down the chain; the tail answers the
//! client, and an acknowledgement goes up. When a server has failed, the master drops it: the next
//! one becomes head, or the one before it tail, or the two are linked: the successor learns its new
//! predecessor and says how far it is, and the predecessor learns its new successor and sends what
//! that lacks. The master goes on until the chain is whole, whatever else fails meanwhile. Clients
//! repeat an update that has not been answered when the head changes.
//!
//! The saboteur goes round and round, from the beginning, and a fair coin says of each server
//! whether it fails now, until one is left.
//!
//! 1. Of two live servers the later one's history is a prefix of the earlier one's.
//! 2. When nothing can go on, every update was answered, live servers have the same history, and
//!    everything in it is acknowledged.
//!
//! Departures: the saboteur gives up after 25 servers (100 in the sample); failures are detected
//! without error; there are no queries. Invariant 2 takes the place of the sample's assertions about
//! what is sent and not acknowledged, which hold only between handlers.

mod master;
mod server;

use super::monitor::Monitor;
use super::{NEVER, model, row};
use crate::subjects::machine::{Address, Machine, Me, Message, run_as_p};
use crate::subjects::{Scenario, Subject};
use cct_executor::always;
use cct_executor::words::fingerprint::hash_of;
use master::Master;
use server::Server;

const CLIENTS: u32 = 2;
const UPDATES: u32 = 2;
/// Chances for a server to fail.
const ROUNDS: u32 = 25;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    Nothing,
    /// When the successor has said how far it is, the clients are told of the head instead of the
    /// predecessor of its successor.
    CrossedWires,
    /// When the successor fails too, its place is taken by the one behind it, but what the two had
    /// not passed on is not sent again.
    Neighbours,
    /// A server sends nothing again more than once.
    ResentOnce,
}

/// `chain-5`.
pub(crate) const CHAIN_5: Subject = model(
    "chain-5",
    "chain replication that never links the neighbours of a failed server",
    11,
    [
        |_| scenario(6, Bug::CrossedWires),
        |_| scenario(6, Bug::Nothing),
    ],
    &row([
        196.0, 77.0, 55.0, 53.0, 110.0, 101.0, NEVER, 3973.0, 521.0, 6652.0,
    ]),
);

/// `chain-6`.
pub(crate) const CHAIN_6: Subject = model(
    "chain-6",
    "chain replication that loses updates when two neighbours fail at once",
    9,
    [
        |_| scenario(4, Bug::Neighbours),
        |_| scenario(4, Bug::Nothing),
    ],
    &row([
        NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, 78443.0, 44331.0, 54981.0,
    ]),
);

/// `chain-8`.
pub(crate) const CHAIN_8: Subject = model(
    "chain-8",
    "chain replication that repeats updates after one failure, but not after the next",
    9,
    [
        |_| scenario(4, Bug::ResentOnce),
        |_| scenario(4, Bug::Nothing),
    ],
    &row([
        NEVER, 4561.0, NEVER, 5513.0, NEVER, 2201.0, 8342.0, 9791.0, NEVER, 8218.0,
    ]),
);

fn scenario(size: usize, bug: Bug) -> Scenario {
    Box::pin(async move {
        let spec = Monitor::default();
        run_as_p(Root {
            size,
            bug,
            spec: spec.clone(),
        })
        .await;
        spec.with(|spec: &mut Spec| spec.at_rest());
    })
}

/// A client, and the number of its update.
type Update = (u32, u32);

#[derive(Clone, Hash)]
enum Msg {
    /// Who is who: the chain, the clients and the master.
    Members(Vec<Address<Msg>>, Vec<Address<Msg>>, Address<Msg>),
    /// A server knows who is who.
    Ready(usize),
    Update(Update),
    /// An update with its place in the history.
    Forward(usize, Update),
    /// The length of history that the tail has.
    Ack(usize),
    Fail(Address<Msg>),
    Round,
    Failed(usize),
    BecomeHead,
    BecomeTail,
    NewPredecessor(usize, Address<Msg>),
    /// Who is linked to which predecessor, with its length of history, all and acknowledged.
    Linked(usize, usize, [usize; 2]),
    NewSuccessor(usize, [usize; 2]),
    Done(Update),
    Head(Address<Msg>),
}

impl Message for Msg {
    fn kind(&self) -> u32 {
        match self {
            Msg::Members(..) => 0,
            Msg::Update(_) => 1,
            Msg::Forward(..) => 2,
            Msg::Ack(_) => 3,
            Msg::Fail(_) => 4,
            Msg::Failed(_) => 5,
            Msg::BecomeHead => 6,
            Msg::BecomeTail => 7,
            Msg::NewPredecessor(..) => 8,
            Msg::Linked(..) => 9,
            Msg::NewSuccessor(..) => 10,
            Msg::Done(_) => 11,
            Msg::Head(_) => 12,
            Msg::Ready(_) => 13,
            Msg::Round => 14,
        }
    }

    fn digest(&self) -> u64 {
        hash_of(self)
    }
}

/// What the invariants speak of.
#[derive(Default, Hash)]
struct Spec {
    /// Of the servers along the chain, as far as they live.
    histories: Vec<Option<Vec<Update>>>,
    acknowledged: Vec<usize>,
    answered: u32,
}

impl Spec {
    fn live(&self) -> impl Iterator<Item = &Vec<Update>> {
        self.histories.iter().flatten()
    }

    fn grew(&mut self, server: usize, update: Update) {
        self.histories[server].get_or_insert_default().push(update);
        let mut live = self.live().peekable();
        while let Some(history) = live.next() {
            let prefix = live.peek().is_none_or(|next| history.starts_with(next));
            always!(
                prefix,
                "a successor has an update that its predecessor lacks"
            );
        }
    }

    fn at_rest(&self) {
        let answered = self.answered;
        always!(
            answered == CLIENTS * UPDATES,
            "only {answered} updates were answered"
        );
        let longest = self.live().map(Vec::len).max();
        for server in 0..self.histories.len() {
            if let Some(history) = &self.histories[server] {
                let len = Some(history.len());
                let known = Some(self.acknowledged[server]);
                always!(
                    len == longest && known == longest,
                    "server {server} stays behind"
                );
            }
        }
    }
}

struct Root {
    size: usize,
    bug: Bug,
    spec: Monitor<Spec>,
}

impl Machine for Root {
    type Message = Msg;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Msg>) {
        let Root { size, bug, spec } = self;
        spec.with(|spec| {
            spec.histories = vec![Some(Vec::new()); *size];
            spec.acknowledged = vec![0; *size];
        });
        let mut servers = Vec::new();
        for index in 0..*size {
            servers.push(me.create(Server::new(index, *size, *bug, spec.clone())));
        }
        let mut clients = Vec::new();
        for number in 0..CLIENTS {
            clients.push(me.create(Client {
                number,
                done: 0,
                head: servers[0].clone(),
                spec: spec.clone(),
            }));
        }
        let master = me.create(Master::new(*bug, servers.clone(), clients));
        me.create(Saboteur {
            servers,
            master,
            next: 0,
            rounds: ROUNDS,
        });
    }

    fn handle(&mut self, _: &mut Me<Msg>, _: Msg) {}
}

struct Saboteur {
    /// That may fail; the last one never does.
    servers: Vec<Address<Msg>>,
    master: Address<Msg>,
    next: usize,
    rounds: u32,
}

impl Machine for Saboteur {
    type Message = Msg;
    const NAME: &'static str = "saboteur";

    fn start(&mut self, me: &mut Me<Msg>) {
        me.send(&me.address(), Msg::Round);
    }

    fn handle(&mut self, me: &mut Me<Msg>, _: Msg) {
        if self.rounds == 0 || self.servers.len() == 1 {
            return;
        }
        self.rounds -= 1;
        if me.coin() {
            let victim = self.servers.remove(self.next);
            me.send(&victim, Msg::Fail(self.master.clone()));
        } else {
            self.next += 1;
        }
        self.next %= self.servers.len();
        me.send(&me.address(), Msg::Round);
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(&self.servers, self.next, self.rounds)))
    }
}

struct Client {
    number: u32,
    done: u32,
    head: Address<Msg>,
    spec: Monitor<Spec>,
}

impl Client {
    fn update(&self, me: &Me<Msg>) {
        if self.done < UPDATES {
            me.send(&self.head, Msg::Update((self.number, self.done)));
        }
    }
}

impl Machine for Client {
    type Message = Msg;
    const NAME: &'static str = "client";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Head(head) => self.head = head,
            Msg::Done((_, number)) if number == self.done => {
                self.done += 1;
                self.spec.with(|spec| spec.answered += 1);
            }
            _ => return,
        }
        self.update(me);
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.done, &self.head)))
    }
}
