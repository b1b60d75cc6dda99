//! The timer.

use super::super::machine::{Address, Machine, Me, Message};
use super::detector::ToDetector;
use cct_executor::nondet;

#[derive(Clone)]
pub(super) enum ToTimer {
    Start,
    Cancel,
}

const START: u32 = 0;

impl Message for ToTimer {
    fn kind(&self) -> u32 {
        match self {
            ToTimer::Start => START,
            ToTimer::Cancel => 1,
        }
    }
}

/// Once started it may time out whenever its inbox is empty.
pub(super) struct Timer {
    detector: Address<ToDetector>,
    active: bool,
}

impl Timer {
    pub(super) fn new(detector: Address<ToDetector>) -> Timer {
        Timer {
            detector,
            active: false,
        }
    }

    fn set(&mut self, me: &mut Me<ToTimer>, active: bool) {
        self.active = active;
        me.enter(usize::from(active));
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

    fn acts_unasked(&self) -> bool {
        self.active
    }

    fn act(&mut self, me: &mut Me<ToTimer>) {
        self.set(me, false);
        me.send(&self.detector, ToDetector::Timeout);
    }

    fn handle(&mut self, me: &mut Me<ToTimer>, message: ToTimer) {
        match message {
            ToTimer::Start => self.set(me, true),
            ToTimer::Cancel if !self.active => {
                me.send(&self.detector, ToDetector::CancelFailure);
            }
            ToTimer::Cancel => {
                if nondet::boolean() {
                    me.send(&self.detector, ToDetector::CancelSuccess);
                } else {
                    me.send(&self.detector, ToDetector::CancelFailure);
                    me.send(&self.detector, ToDetector::Timeout);
                }
                self.set(me, false);
            }
        }
    }
}
