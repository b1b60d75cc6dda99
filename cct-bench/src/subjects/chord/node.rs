//! The nodes of the ring.

use super::super::machine::{Address, Machine, Me, Message};
use super::{Find, Form, IDS, KEYS, SPACE, ToClient};
use cct_executor::words::fingerprint::{hash_of, mix};

#[derive(Clone)]
pub(super) enum ToNode {
    Configure(Vec<Address<ToNode>>),
    Find(Find),
    AskId(Address<ToClient>),
    Terminate,
    /// The node with this index leaves; its keys are with the next one.
    Left(usize),
}

impl Message for ToNode {
    fn kind(&self) -> u32 {
        match self {
            ToNode::Configure(_) => 0,
            ToNode::Find(_) => 1,
            ToNode::AskId(_) => 2,
            ToNode::Terminate => 3,
            ToNode::Left(_) => 4,
        }
    }
}

/// Where a lookup goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The node with this index has the key.
    Found(usize),
    /// The node with this index knows more.
    Ask(usize),
    /// The lookup leads back to the node itself.
    Astray,
}

/// A shortcut through the ring: keys from `start` up to `end` are looked for at `node`.
struct Finger {
    start: u32,
    end: u32,
    node: usize,
}

impl Finger {
    /// Finger `k`, counted from 0, of the node with this id.
    fn new(id: u32, k: u32, ring: Ring) -> Finger {
        let start = (id + (1 << k)) % SPACE;
        Finger {
            start,
            end: (id + (2 << k)) % SPACE,
            node: ring.holder(start),
        }
    }

    fn holds(&self, key: u32) -> bool {
        if self.start < self.end {
            (self.start..self.end).contains(&key)
        } else {
            key >= self.start || key < self.end
        }
    }
}

/// Which nodes are in the ring, as one node knows it.
#[derive(Clone, Copy)]
pub(super) struct Ring([bool; IDS.len()]);

impl Ring {
    pub(super) const FULL: Ring = Ring([true; IDS.len()]);

    /// The first node whose id is not below the key; the first of all where there is none.
    fn holder(self, key: u32) -> usize {
        let holds = |index: &usize| self.0[*index] && key <= IDS[*index];
        (0..IDS.len()).find(holds).unwrap_or(0)
    }
}

/// What a node does about a lookup.
pub(super) fn place(index: usize, key: u32, ring: Ring) -> Step {
    let id = IDS[index];
    let fingers: Vec<Finger> = (0..SPACE.ilog2())
        .map(|k| Finger::new(id, k, ring))
        .collect();
    if KEYS.contains(&key) && ring.holder(key) == index {
        return Step::Found(index);
    }
    if let Some(finger) = fingers.iter().find(|finger| finger.start == key) {
        return Step::Found(finger.node);
    }
    if key == id {
        return Step::Found(fingers[0].node);
    }
    let towards = |finger: &Finger| match finger.node {
        node if node == index => None,
        node => Some(node),
    };
    let around = fingers.iter().find(|finger| finger.holds(key));
    let around = around.unwrap_or(&fingers[0]);
    let before = || fingers.iter().find(|finger| finger.end == around.start);
    match towards(around).or_else(|| before().and_then(towards)) {
        Some(node) => Step::Ask(node),
        None => Step::Astray,
    }
}

pub(super) struct Node {
    index: usize,
    form: Form,
    nodes: Vec<Address<ToNode>>,
    ring: Ring,
}

impl Node {
    pub(super) fn new(index: usize, form: Form) -> Node {
        Node {
            index,
            form,
            nodes: Vec::new(),
            ring: Ring::FULL,
        }
    }

    fn find(&self, me: &Me<ToNode>, find: Find) {
        let found = |index: usize| ToClient::Found(self.nodes[index].clone());
        match place(self.index, find.key, self.ring) {
            Step::Found(index) => me.send(&find.client, found(index)),
            Step::Ask(index) => me.send(&self.nodes[index], ToNode::Find(find)),
            Step::Astray => {
                assert!(
                    self.form.finds_itself,
                    "node {} cannot locate the successor of {}",
                    IDS[self.index], find.key
                );
                me.send(&find.client, found(self.index));
            }
        }
    }
}

impl Machine for Node {
    type Message = ToNode;
    const NAME: &'static str = "node";

    fn start(&mut self, me: &mut Me<ToNode>) {
        me.enter(0);
    }

    fn handle(&mut self, me: &mut Me<ToNode>, message: ToNode) {
        match message {
            ToNode::Configure(nodes) => {
                self.nodes = nodes;
                me.enter(1);
            }
            ToNode::Find(find) => self.find(me, find),
            ToNode::AskId(client) => me.send(&client, ToClient::Id),
            ToNode::Terminate => {
                for (index, node) in self.nodes.iter().enumerate() {
                    if index != self.index {
                        me.send(node, ToNode::Left(self.index));
                    }
                }
                if !self.form.answers_after_leaving {
                    me.halt();
                }
            }
            ToNode::Left(index) => self.ring.0[index] = false,
        }
    }

    fn digest(&self) -> Option<u64> {
        let own = KEYS
            .iter()
            .filter(|key| self.ring.holder(**key) == self.index);
        let product = own.fold(1, |product: u64, key| {
            product.wrapping_mul(mix(u64::from(*key)) | 1)
        });
        Some(hash_of(&product))
    }
}
