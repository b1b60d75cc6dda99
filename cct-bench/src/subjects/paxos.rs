//! Single-decree Paxos: the program of the `QL` paper (Mukherjee, Deligiannis, Biswas, Lal,
//! Learning-based controlled concurrency testing, OOPSLA 2020).
//!
//! Bug: a proposer that hears of values accepted before takes up the one of the *lowest* proposal.
//! Fixed form: the highest, as Lamport has it.
//!
//! As in its source, machines are created in the order proposers, acceptors, learner, and the root
//! flips a coin for each acceptor also when two were halted already.

use super::machine::{Address, Machine, Me, Message, run};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::words::fingerprint::hash_of;
use cct_executor::{Clock, Granularity, nondet};
use std::collections::BTreeMap;

const PROPOSERS: usize = 3;
const ACCEPTORS: usize = 5;
const HALTED_MAX: usize = 2;

/// The published program.
pub(crate) const PAXOS: Subject = Subject {
    name: "paxos",
    about: "Paxos whose proposers take up the lowest accepted proposal",
    standing: Standing::Reproduction,
    workers: 10,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| scenario(true),
    fixed: Some(|_| scenario(false)),
    targets: &[],
    published: &[
        Published::new("ql2", "QLb", 16.0),
        Published::new("ql2", "QLd", 66.0),
        Published::new("ql2", "Rand", 8.0),
        Published::new("ql2", "Greedy", 20.0),
        Published::new("ql2", "PCT3", 19.0),
        Published::new("ql2", "PCT10", 91.0),
        Published::new("ql2", "PCT30", 92.0),
        Published::new("ql2", "IDB", 33.0),
        Published::new("ndn", "NDN", 19.0),
        Published::new("ndn", "QLd", 66.0),
        Published::new("ql4", "QLi", 30.0),
        Published::new("ql4", "QLd", 66.0),
        Published::new("ql4", "QLc", 33.0),
    ],
};

fn scenario(take_lowest: bool) -> Scenario {
    Box::pin(run(Root { take_lowest }))
}

/// A proposal's rank: counter first, then proposer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Proposal {
    counter: u32,
    proposer: usize,
}

/// A value and the proposal with which it was accepted.
type Accepted = Option<(Proposal, u32)>;

#[derive(Clone)]
enum Never {}

impl Message for Never {
    fn kind(&self) -> u32 {
        match *self {}
    }
}

struct Root {
    take_lowest: bool,
}

impl Machine for Root {
    type Message = Never;
    const NAME: &'static str = "root";

    fn start(&mut self, me: &mut Me<Never>) {
        let proposers: Vec<_> = (0..PROPOSERS).map(|_| me.name()).collect();
        let acceptors: Vec<_> = (0..ACCEPTORS).map(|_| me.name()).collect();
        let learner = me.name();
        for (index, proposer) in proposers.iter().enumerate() {
            let machine = Proposer {
                index,
                take_lowest: self.take_lowest,
                acceptors: acceptors.clone(),
                counter: 0,
                value: 0,
                promises: Vec::new(),
                has_final_value: false,
            };
            me.create_named(proposer, machine);
        }
        for (index, acceptor) in acceptors.iter().enumerate() {
            let machine = Acceptor {
                index,
                learner: learner.clone(),
                promised: None,
                accepted: None,
            };
            me.create_named(acceptor, machine);
        }
        me.create_named(&learner, Learner::default());
        for (index, proposer) in proposers.iter().enumerate() {
            me.send(proposer, ToProposer::Propose(index as u32 + 1));
        }
        let mut halted = 0;
        for acceptor in &acceptors {
            if nondet::boolean() && halted < HALTED_MAX {
                me.send(acceptor, ToAcceptor::Halt);
                halted += 1;
            }
        }
    }

    fn handle(&mut self, _: &mut Me<Never>, message: Never) {
        match message {}
    }
}

#[derive(Clone)]
enum ToProposer {
    Propose(u32),
    Promise {
        proposal: Proposal,
        acceptor: usize,
        accepted: Accepted,
    },
}

impl Message for ToProposer {
    fn kind(&self) -> u32 {
        match self {
            ToProposer::Propose(_) => 0,
            ToProposer::Promise { .. } => 1,
        }
    }
}

struct Proposer {
    index: usize,
    take_lowest: bool,
    acceptors: Vec<Address<ToAcceptor>>,
    counter: u32,
    value: u32,
    /// Who promised, and what it had accepted before.
    promises: Vec<(usize, Accepted)>,
    has_final_value: bool,
}

impl Proposer {
    fn proposal(&self) -> Proposal {
        Proposal {
            counter: self.counter,
            proposer: self.index,
        }
    }

    /// Takes up a value that was accepted before, if there is one.
    fn settle(&mut self) {
        let accepted = self.promises.iter().filter_map(|(_, accepted)| *accepted);
        let taken_up = if self.take_lowest {
            accepted.min()
        } else {
            accepted.max()
        };
        if let Some((_, value)) = taken_up {
            self.value = value;
        }
        self.has_final_value = true;
    }

    fn ask_to_accept(&self, me: &Me<ToProposer>, acceptor: usize) {
        let accept = ToAcceptor::Accept(self.proposal(), self.value);
        me.send(&self.acceptors[acceptor], accept);
    }
}

impl Machine for Proposer {
    type Message = ToProposer;
    const NAME: &'static str = "proposer";

    fn start(&mut self, me: &mut Me<ToProposer>) {
        me.enter(0);
    }

    fn handle(&mut self, me: &mut Me<ToProposer>, message: ToProposer) {
        match message {
            ToProposer::Propose(value) => {
                self.value = value;
                self.counter += 1;
                for acceptor in &self.acceptors {
                    me.send(acceptor, ToAcceptor::Prepare(self.proposal(), me.address()));
                }
                me.enter(1);
            }
            ToProposer::Promise {
                proposal,
                acceptor,
                accepted,
            } => {
                if proposal != self.proposal() {
                    return;
                }
                self.promises.push((acceptor, accepted));
                if self.has_final_value {
                    self.ask_to_accept(me, acceptor);
                } else if self.promises.len() > ACCEPTORS / 2 {
                    self.settle();
                    for &(acceptor, _) in &self.promises {
                        self.ask_to_accept(me, acceptor);
                    }
                }
            }
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.has_final_value, self.counter, self.value)))
    }
}

#[derive(Clone)]
enum ToAcceptor {
    Prepare(Proposal, Address<ToProposer>),
    Accept(Proposal, u32),
    Halt,
}

impl Message for ToAcceptor {
    fn kind(&self) -> u32 {
        match self {
            ToAcceptor::Prepare(..) => 0,
            ToAcceptor::Accept(..) => 1,
            ToAcceptor::Halt => 2,
        }
    }
}

struct Acceptor {
    index: usize,
    learner: Address<ToLearner>,
    promised: Option<Proposal>,
    accepted: Accepted,
}

impl Machine for Acceptor {
    type Message = ToAcceptor;
    const NAME: &'static str = "acceptor";

    fn start(&mut self, _: &mut Me<ToAcceptor>) {}

    fn handle(&mut self, me: &mut Me<ToAcceptor>, message: ToAcceptor) {
        match message {
            ToAcceptor::Prepare(proposal, proposer) => {
                if self.promised < Some(proposal) {
                    self.promised = Some(proposal);
                    let promise = ToProposer::Promise {
                        proposal,
                        acceptor: self.index,
                        accepted: self.accepted,
                    };
                    me.send(&proposer, promise);
                }
            }
            ToAcceptor::Accept(proposal, value) => {
                if self.promised == Some(proposal) {
                    self.accepted = Some((proposal, value));
                    let accepted = ToLearner {
                        acceptor: self.index,
                        proposal,
                        value,
                    };
                    me.send(&self.learner, accepted);
                }
            }
            ToAcceptor::Halt => me.halt(),
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(self.promised, self.accepted)))
    }
}

/// An acceptor accepted a value.
#[derive(Clone)]
struct ToLearner {
    acceptor: usize,
    proposal: Proposal,
    value: u32,
}

impl Message for ToLearner {
    fn kind(&self) -> u32 {
        0
    }
}

#[derive(Default)]
struct Learner {
    /// The latest proposal that each acceptor is known to have accepted.
    latest: BTreeMap<usize, Proposal>,
    learnt: Option<u32>,
}

impl Machine for Learner {
    type Message = ToLearner;
    const NAME: &'static str = "learner";

    fn start(&mut self, _: &mut Me<ToLearner>) {}

    fn handle(&mut self, _: &mut Me<ToLearner>, message: ToLearner) {
        self.latest.insert(message.acceptor, message.proposal);
        let all = self.latest.values();
        if all.filter(|p| **p == message.proposal).count() > ACCEPTORS / 2 {
            let value = *self.learnt.get_or_insert(message.value);
            assert!(
                value == message.value,
                "learnt both value {value} and value {}",
                message.value
            );
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&self.learnt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hunting::{expect_silence, hunt};
    use super::PAXOS;

    #[test]
    fn pct_finds_a_second_value() {
        let report = hunt(&PAXOS, "pct:d=11", 1, 200_000);
        let failure = report.failure().expect("a second value");
        assert!(failure.kind.to_string().contains("learnt both"));
    }

    #[test]
    fn the_highest_accepted_proposal_keeps_to_one_value() {
        expect_silence(&PAXOS, 1_500);
    }
}
