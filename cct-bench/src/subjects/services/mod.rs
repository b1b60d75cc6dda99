//! Models of the three proprietary services of the QL paper. They are ours, after the paper's
//! descriptions of the services and of their bugs (sections 2 and 6); the programs were never
//! public, so nothing here reproduces them. Published figures stand beside ours for the trend only.

pub(super) mod cache_provider;
pub(super) mod pool_manager;
pub(super) mod resource_provider;

use super::machine::{Machine, Me, Message};

/// The messages of machines that get none.
#[derive(Clone)]
enum Nothing {}

impl Message for Nothing {
    fn kind(&self) -> u32 {
        match *self {}
    }
}

/// A machine that does one thing and halts.
struct Once<F>(Option<F>);

impl<F: FnOnce(&Me<Nothing>) + Send + 'static> Machine for Once<F> {
    type Message = Nothing;
    const NAME: &'static str = "once";

    fn start(&mut self, me: &mut Me<Nothing>) {
        if let Some(act) = self.0.take() {
            act(me);
        }
        me.halt();
    }

    fn handle(&mut self, _: &mut Me<Nothing>, message: Nothing) {
        match message {}
    }
}

fn once<F: FnOnce(&Me<Nothing>) + Send + 'static>(act: F) -> Once<F> {
    Once(Some(act))
}
