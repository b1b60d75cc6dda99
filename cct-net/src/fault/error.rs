//! Why a plan cannot begin.

use std::fmt;

/// A plan that contradicts itself, or has no world to run in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanError(String);

impl PlanError {
    pub(super) fn new(message: impl Into<String>) -> PlanError {
        PlanError(message.into())
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlanError {}
