//! A server of the chain.

use super::{Bug, Monitor, Msg, Spec, Update};
use crate::subjects::machine::{Address, Machine, Me};
use cct_executor::always;
use cct_executor::words::fingerprint::hash_of;

/// Invariant: `acknowledged <= history.len()`, and both are equal in a tail between handlers.
pub(super) struct Server {
    index: usize,
    bug: Bug,
    servers: Vec<Address<Msg>>,
    clients: Vec<Address<Msg>>,
    /// None for the head.
    predecessor: Option<usize>,
    /// None for the tail.
    successor: Option<usize>,
    history: Vec<Update>,
    /// How much of the history the tail has.
    acknowledged: usize,
    /// How much of the history was there when it last had a new successor.
    resent: usize,
    spec: Monitor<Spec>,
}

impl Server {
    pub(super) fn new(index: usize, size: usize, bug: Bug, spec: Monitor<Spec>) -> Server {
        Server {
            index,
            bug,
            servers: Vec::new(),
            clients: Vec::new(),
            predecessor: index.checked_sub(1),
            successor: Some(index + 1).filter(|&next| next < size),
            history: Vec::new(),
            acknowledged: 0,
            resent: 0,
            spec,
        }
    }

    fn append(&mut self, me: &Me<Msg>, update: Update) {
        self.history.push(update);
        self.spec.with(|spec| spec.grew(self.index, update));
        match self.successor {
            Some(_) => self.pass_on(me, self.history.len() - 1),
            None => self.settle(me),
        }
    }

    /// Sends the history from there on to the successor.
    fn pass_on(&self, me: &Me<Msg>, from: usize) {
        let Some(next) = self.successor else { return };
        for (at, &update) in self.history.iter().enumerate().skip(from) {
            me.send(&self.servers[next], Msg::Forward(at, update));
        }
    }

    /// As the tail: answers and acknowledges all.
    fn settle(&mut self, me: &Me<Msg>) {
        for &update in &self.history[self.acknowledged..] {
            self.answer(me, update);
        }
        self.acknowledge(me, self.history.len());
    }

    fn answer(&self, me: &Me<Msg>, update: Update) {
        me.send(&self.clients[update.0 as usize], Msg::Done(update));
    }

    fn acknowledge(&mut self, me: &Me<Msg>, len: usize) {
        if len <= self.acknowledged {
            return;
        }
        self.acknowledged = len;
        self.spec.with(|spec| spec.acknowledged[self.index] = len);
        if let Some(before) = self.predecessor {
            me.send(&self.servers[before], Msg::Ack(len));
        }
    }

    fn update(&mut self, me: &Me<Msg>, update: Update) {
        if self.predecessor.is_some() {
            return;
        }
        match self.history.iter().position(|&known| known == update) {
            None => self.append(me, update),
            Some(at) if at < self.acknowledged => self.answer(me, update),
            Some(_) => {}
        }
    }
}

impl Machine for Server {
    type Message = Msg;
    const NAME: &'static str = "server";

    fn start(&mut self, _: &mut Me<Msg>) {}

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Members(servers, clients, master) => {
                self.servers = servers;
                self.clients = clients;
                me.send(&master, Msg::Ready(self.index));
            }
            Msg::Update(update) => self.update(me, update),
            Msg::Forward(at, _) if at < self.history.len() => {}
            Msg::Forward(_, update) => self.append(me, update),
            Msg::Ack(len) => self.acknowledge(me, len),
            Msg::Fail(master) => {
                self.spec.with(|spec| spec.histories[self.index] = None);
                me.halt();
                me.send(&master, Msg::Failed(self.index));
            }
            Msg::BecomeHead => self.predecessor = None,
            Msg::BecomeTail => {
                self.successor = None;
                self.settle(me);
            }
            Msg::NewPredecessor(before, master) => {
                self.predecessor = Some(before);
                let lens = [self.history.len(), self.acknowledged];
                me.send(&master, Msg::Linked(self.index, before, lens));
            }
            Msg::NewSuccessor(next, [len, acknowledged]) => {
                self.successor = Some(next);
                self.acknowledge(me, acknowledged);
                let known = if self.bug == Bug::ResentOnce {
                    self.resent
                } else {
                    0
                };
                self.pass_on(me, len.max(known));
                self.resent = self.history.len();
            }
            _ => always!(false, "a server was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        let links = (self.predecessor, self.successor);
        Some(hash_of(&(links, &self.history, self.acknowledged)))
    }
}
