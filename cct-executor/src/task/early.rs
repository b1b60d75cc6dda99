//! Tasks that are spawned onto a [`LocalSet`](super::LocalSet) where there is no runtime yet: they begin once the set is
//! where there is one.

use super::body::JoinCell;
use super::error::JoinError;
use super::handle::JoinHandle;
use super::id::Id;
use super::spawn::{Options, local, spawn_local_with};
use crate::execution::core::NONE;
use crate::execution::waker::TaskWaker;
use crate::raw::shared::Home;
use crate::raw::task::Share;
use std::cell::Cell;
use std::fmt;
use std::future::pending;

/// The serial of the world that they are in, which there is none.
pub(super) const SERIAL: u64 = u64::MAX;

/// A task that is to begin in a group.
pub(super) struct Early(Box<dyn FnOnce(u32)>);

impl Early {
    /// A task that runs this future, and its handle, which says nothing of the task but how it ends.
    pub(super) fn new<F>(future: F, options: Options) -> (Early, JoinHandle<F::Output>)
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let (home, serial, key, id) = (Home::nobodys(), SERIAL, NONE, another_id());
        let cell = JoinCell::new(TaskWaker { home, serial, key }, id);
        let (nothing, cell) = local(pending(), cell);
        drop(nothing);
        let end = End {
            cell: cell.clone(),
            id,
            told: false,
        };
        let begin = move |group| {
            drop(spawn_local_with(
                end.told_by(future),
                Options { group, ..options },
            ));
        };
        (Early(Box::new(begin)), JoinHandle::new(cell))
    }

    pub(super) fn begin(self, group: u32) {
        (self.0)(group);
    }
}

impl fmt::Debug for Early {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Early").finish_non_exhaustive()
    }
}

/// An id that no task of a world has.
fn another_id() -> Id {
    thread_local! {
        static LAST: Cell<u32> = const { Cell::new(u32::MAX) };
    }
    let id = LAST.get();
    LAST.set(id - 1);
    Id(u64::from(id))
}

/// Tells the handle how the task ends.
struct End<T> {
    cell: Share<JoinCell<T>>,
    id: Id,
    told: bool,
}

impl<T> End<T> {
    async fn told_by(mut self, future: impl Future<Output = T>) {
        let output = future.await;
        self.told = true;
        self.cell.complete(Ok(output));
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        if !self.told {
            self.cell.complete(Err(JoinError::cancelled(self.id)));
        }
    }
}
