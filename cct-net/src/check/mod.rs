//! Checking what a system did: histories against sequential models, and liveness.
//!
//! ```
//! use cct_net::check::{History, models::Register};
//!
//! let history = History::new();
//! let write = history.invoke("a", Register::write(1));
//! let read = history.invoke("b", Register::read()); // overlaps the write
//! read.returned(Some(1));
//! write.returned(None);
//! history.check(&Register::new(0)).unwrap();
//!
//! let late = history.invoke("b", Register::read());
//! late.returned(Some(0)); // but the write was over
//! let error = history.check(&Register::new(0)).unwrap_err();
//! assert!(error.to_string().contains("b: Read"));
//! ```

mod counterexample;
mod history;
mod linear;
pub mod models;
pub mod monitor;

pub use counterexample::NotLinearizable;
pub use history::{Call, History};

use std::fmt::Debug;
use std::hash::Hash;

/// What a system should do, one operation after the other.
pub trait Model {
    /// The state between operations.
    type State: Clone + PartialEq + Hash + Debug;
    /// An operation with its arguments. Equal ones do the same.
    type Op: Clone + PartialEq + Debug;
    /// What an operation returns.
    type Output: Clone + Debug;

    /// The state at the beginning.
    fn initial(&self) -> Self::State;

    /// The state after an operation, if it may return this output there. `None` for the output
    /// stands for an operation that never returned: it may have happened or not.
    fn apply(
        &self,
        state: &Self::State,
        op: &Self::Op,
        output: Option<&Self::Output>,
    ) -> Option<Self::State>;

    /// Operations with different parts (keys, say) do not influence each other, and are checked
    /// apart from each other, which is much faster.
    fn part(&self, op: &Self::Op) -> u64 {
        let _ = op;
        0
    }
}
