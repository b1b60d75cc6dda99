//! The runtime's first look at the end of a connection that came back from the standard library.

use super::conn::Conn;
use super::ops::End;
use super::state::SideId;
use cct_executor::shim;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

/// Between two polls the runtime looks what the end is ready for.
struct Anew(Weak<Conn>, SideId);

impl End {
    /// The runtime learns of the end only now, however long it was there.
    pub(crate) fn look_anew(&self) {
        self.conn.run(|state, _| state.forget(self.id));
        let anew = Anew(Arc::downgrade(&self.conn), self.id);
        shim::after_poll(&Waker::from(Arc::new(anew)));
    }
}

impl Wake for Anew {
    fn wake(self: Arc<Self>) {
        if let Some(conn) = self.0.upgrade() {
            conn.run(|state, fx| state.event(self.1, fx));
        }
    }
}
