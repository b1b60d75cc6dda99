//! Timers that fire when coins say so.

use super::super::machine::{Address, Machine, Me, Message};
use super::messages::ToServer;
use cct_executor::nondet;

#[derive(Clone)]
pub(super) enum ToTimer {
    Configure(Address<ToServer>),
    Start,
    Tick,
    Halt,
}

impl Message for ToTimer {
    fn kind(&self) -> u32 {
        match self {
            ToTimer::Configure(_) => 0,
            ToTimer::Start => START,
            ToTimer::Tick => 2,
            ToTimer::Halt => 3,
        }
    }
}

const START: u32 = 1;

/// Which timer.
pub(super) enum Which {
    /// Fires after so many heads, and stops ticking with each tail.
    Election { heads_needed: u32 },
    /// Fires with each head, and ticks for ever.
    Periodic,
}

pub(super) struct Timer {
    which: Which,
    server: Option<Address<ToServer>>,
    active: bool,
    /// Heads so far; stopping does not forget them.
    heads: u32,
}

impl Timer {
    pub(super) fn new(which: Which) -> Timer {
        Timer {
            which,
            server: None,
            active: false,
            heads: 0,
        }
    }

    fn tick(&mut self, me: &mut Me<ToTimer>, server: &Address<ToServer>) {
        let again = match self.which {
            Which::Election { heads_needed } => {
                self.heads += u32::from(nondet::boolean());
                if self.heads == heads_needed {
                    me.send(server, ToServer::ElectionTimeout);
                    self.heads = 0;
                }
                nondet::boolean()
            }
            Which::Periodic => {
                if nondet::boolean() {
                    me.send(server, ToServer::PeriodicTimeout);
                }
                true
            }
        };
        if again {
            me.send(&me.address(), ToTimer::Tick);
        } else {
            self.active = false;
            me.enter(1);
        }
    }
}

impl Machine for Timer {
    type Message = ToTimer;
    const NAME: &'static str = "timer";

    fn start(&mut self, me: &mut Me<ToTimer>) {
        me.enter(0);
    }

    fn ignored(&self) -> u64 {
        if self.active { 1 << START } else { 0 }
    }

    fn handle(&mut self, me: &mut Me<ToTimer>, message: ToTimer) {
        match message {
            ToTimer::Configure(server) => {
                self.server = Some(server);
                me.enter(1);
            }
            ToTimer::Start => {
                self.active = true;
                me.enter(2);
                me.send(&me.address(), ToTimer::Tick);
            }
            ToTimer::Tick => {
                if let Some(server) = self.server.clone() {
                    self.tick(me, &server);
                }
            }
            ToTimer::Halt => me.halt(),
        }
    }
}
