//! Plain data that all rooms share: ids, seeds, actions, the enabled set, decisions, traces,
//! fingerprints, outcomes, tokens.
//!
//! No I/O, no clock, no environment, no engine. Everything here is a value.
//!
//! Read next: [`action`], then [`enabled`], then [`trace`].

pub mod action;
pub mod config;
pub(crate) mod draw;
pub mod enabled;
pub mod event;
pub mod explanation;
pub mod fingerprint;
pub mod observations;
pub mod outcome;
pub mod seed;
pub mod spelling;
pub mod token;
pub mod trace;
pub mod wait_graph;

pub use action::{
    Access, Action, ActionId, ActionKey, ActionKind, NodeId, Op, OpKind, ResourceKind,
};
pub use config::{Clock, Granularity, Limit, Limits, WorldConfig};
pub use enabled::{EnabledSet, Pick, SchedulingPoint, StateParts};
pub use event::{Interests, StepEvent};
pub use fingerprint::Fingerprint;
pub use observations::{Instance, Observations};
pub(crate) use outcome::NONDETERMINISM;
pub use outcome::{Failure, FailureKind, Iteration, IterationEnd, Outcome};
pub use seed::Seed;
pub use spelling::SettingError;
pub use token::{ReplayToken, TokenError};
pub use trace::{Decision, DecisionKind, Trace};
