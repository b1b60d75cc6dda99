//! Chord, a ring of nodes that share keys: the program of the `QL` paper (Mukherjee, Deligiannis,
//! Biswas, Lal, Learning-based controlled concurrency testing, OOPSLA 2020), and a variant.
//!
//! `chord-artifact` is what was measured. Nobody ever joins or leaves there. The client draws a
//! key by a coin for each of a list, and the last key, which no node has, makes a node fail to
//! find a successor. With fair coins that is drawn once in 2^37 runs, whatever the schedule, so
//! the program only tests whether a strategy learns about data.
//! Fixed form: a node that points to itself is taken for the successor.
//!
//! `chord-terminate` is after what the paper's text says: a node that coins choose leaves the ring
//! while the client looks for a key. It tells all others and halts; a lookup that they have sent it
//! before they knew is never answered.
//! Fixed form: a node that leaves goes on answering until the end.

mod node;

use super::machine::{Address, Machine, Me, Message, run};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::{Clock, Granularity, nondet};
use node::{Node, ToNode};
use std::sync::Arc;

/// The nodes' ids, in order. They point at each other's places in this list.
const IDS: [u32; 5] = [0, 1, 3, 5, 7];
/// Ids and the starts of fingers lie below this.
const SPACE: u32 = 32;
/// The key that no node has.
const ABSENT: u32 = 17;
const KEYS: [u32; 36] = [
    1, 2, 4, 6, 9, 11, 13, 22, 27, 29, 33, 38, 45, 53, 67, 72, 81, 95, 101, 102, 104, 106, 109,
    111, 113, 122, 127, 129, 133, 138, 145, 153, 167, 172, 181, 195,
];

/// The published program.
pub(crate) const ARTIFACT: Subject = Subject {
    name: "chord-artifact",
    about: "Chord whose client may ask for a key that no node has, once in 2^37 draws",
    standing: Standing::Reproduction,
    workers: 7,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| scenario(Form::ARTIFACT),
    fixed: Some(|_| {
        scenario(Form {
            finds_itself: true,
            ..Form::ARTIFACT
        })
    }),
    targets: &[],
    published: &[
        Published::new("ql2", "QLb", 0.0),
        Published::new("ql2", "QLd", 34.0),
        Published::new("ql2", "Rand", 0.0),
        Published::new("ql2", "Greedy", 0.0),
        Published::new("ql2", "PCT3", 0.0),
        Published::new("ql2", "PCT10", 0.0),
        Published::new("ql2", "PCT30", 0.0),
        Published::new("ql2", "IDB", 0.0),
        Published::new("ndn", "NDN", 0.0),
        Published::new("ndn", "QLd", 34.0),
        Published::new("ql4", "QLi", 0.0),
        Published::new("ql4", "QLd", 34.0),
        Published::new("ql4", "QLc", 2.0),
    ],
};

/// A node leaves while the client looks for a key.
pub(crate) const TERMINATE: Subject = Subject {
    name: "chord-terminate",
    about: "Chord in which a node leaves and lookups that lead to it are lost",
    standing: Standing::Variant,
    scenario: |_| scenario(Form::TERMINATE),
    fixed: Some(|_| {
        scenario(Form {
            answers_after_leaving: true,
            ..Form::TERMINATE
        })
    }),
    published: &[],
    ..ARTIFACT
};

/// What tells the programs apart.
#[derive(Clone, Copy)]
struct Form {
    /// The client's list ends with a key that no node has.
    absent_key: bool,
    /// Coins choose a node that leaves.
    terminates: bool,
    finds_itself: bool,
    answers_after_leaving: bool,
}

impl Form {
    const ARTIFACT: Form = Form {
        absent_key: true,
        terminates: false,
        finds_itself: false,
        answers_after_leaving: false,
    };
    const TERMINATE: Form = Form {
        absent_key: false,
        terminates: true,
        finds_itself: false,
        answers_after_leaving: false,
    };
}

fn scenario(form: Form) -> Scenario {
    Box::pin(async move {
        let answered = Arc::new(Shared::new(false));
        run(Manager {
            form,
            nodes: Vec::new(),
            answered: answered.clone(),
        })
        .await;
        assert!(
            answered.with(|answered| *answered),
            "the client's query is never answered"
        );
    })
}

/// Walks the items with a coin for each and takes the first that shows heads.
fn toss<T: Copy>(items: &[T]) -> Option<T> {
    items.iter().copied().find(|_| nondet::boolean())
}

#[derive(Clone)]
struct ToManager(Find);

/// Who has this key?
#[derive(Clone)]
struct Find {
    client: Address<ToClient>,
    key: u32,
}

impl Message for ToManager {
    fn kind(&self) -> u32 {
        0
    }
}

/// Starts everything, and passes the client's query to the first node.
struct Manager {
    form: Form,
    nodes: Vec<Address<ToNode>>,
    answered: Arc<Shared<bool>>,
}

impl Machine for Manager {
    type Message = ToManager;
    const NAME: &'static str = "manager";

    fn start(&mut self, me: &mut Me<ToManager>) {
        me.enter(0);
        for index in 0..IDS.len() {
            self.nodes.push(me.create(Node::new(index, self.form)));
        }
        for node in &self.nodes {
            me.send(node, ToNode::Configure(self.nodes.clone()));
        }
        me.create(Client {
            form: self.form,
            manager: me.address(),
            answered: self.answered.clone(),
        });
        me.enter(1);
        if self.form.terminates {
            // The first node is where every lookup begins; it stays.
            if let Some(node) = toss(&[1, 2, 3, 4]) {
                me.send(&self.nodes[node], ToNode::Terminate);
            }
        }
    }

    fn handle(&mut self, me: &mut Me<ToManager>, ToManager(find): ToManager) {
        me.send(&self.nodes[0], ToNode::Find(find));
    }
}

#[derive(Clone)]
enum ToClient {
    Found(Address<ToNode>),
    Id,
}

impl Message for ToClient {
    fn kind(&self) -> u32 {
        match self {
            ToClient::Found(_) => 0,
            ToClient::Id => 1,
        }
    }
}

/// Looks for one key, and asks the node that has it for its id.
struct Client {
    form: Form,
    manager: Address<ToManager>,
    answered: Arc<Shared<bool>>,
}

impl Machine for Client {
    type Message = ToClient;
    const NAME: &'static str = "client";

    fn start(&mut self, me: &mut Me<ToClient>) {
        me.enter(0);
        let mut keys = KEYS.to_vec();
        if self.form.absent_key {
            keys.push(ABSENT);
        }
        let key = loop {
            if let Some(key) = toss(&keys) {
                break key;
            }
        };
        let client = me.address();
        me.send(&self.manager, ToManager(Find { client, key }));
        me.enter(1);
    }

    fn handle(&mut self, me: &mut Me<ToClient>, message: ToClient) {
        match message {
            ToClient::Found(node) => me.send(&node, ToNode::AskId(me.address())),
            ToClient::Id => {
                self.answered.with(|answered| *answered = true);
                me.halt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hunting::{expect_silence, hunt};
    use super::node::{Ring, Step, place};
    use super::{ABSENT, ARTIFACT, KEYS, TERMINATE};

    #[test]
    fn the_absent_key_is_out_of_reach_of_chance() {
        // Found with odds of 5000 * 2^-37.
        let report = hunt(&ARTIFACT, "random", 1, 5_000);
        assert!(report.failure().is_none());
        expect_silence(&ARTIFACT, 1_000);
    }

    #[test]
    fn every_key_but_the_absent_one_is_found() {
        for key in KEYS.into_iter().chain([ABSENT]) {
            let mut at = 0;
            let end = loop {
                match place(at, key, Ring::FULL) {
                    Step::Ask(next) => at = next,
                    end => break end,
                }
            };
            assert_eq!(end == Step::Astray, key == ABSENT, "key {key}: {end:?}");
        }
    }

    #[test]
    fn a_query_is_lost_when_a_node_leaves() {
        let report = hunt(&TERMINATE, "random", 1, 2_000);
        let failure = report.failure().expect("a lost query");
        assert!(failure.kind.to_string().contains("never answered"));
    }

    #[test]
    fn a_node_that_stays_reachable_loses_no_query() {
        expect_silence(&TERMINATE, 1_500);
    }
}
