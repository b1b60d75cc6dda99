//! What a choice is, in terms that reports have words for.

use crate::execution::paths::place;
use crate::words::{ActionKind, EnabledSet, OpKind, Pick};
use std::panic::Location;
use std::sync::Arc;

/// What a choice is.
#[derive(Clone, Debug)]
pub(in crate::explore) enum What {
    /// A task does this, or something else happens that is no task's.
    Action {
        task: Option<u32>,
        op: OpKind,
        site: &'static Location<'static>,
    },
    Value {
        label: &'static str,
        value: u32,
    },
    /// In another process, whose places are not this one's.
    #[cfg(unix)]
    Told(Arc<Words>),
}

/// What a choice is, in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::explore) struct Words {
    /// Its number, if it is a task's.
    pub(in crate::explore) task: Option<u32>,
    /// Whether it is a value, not an action.
    pub(in crate::explore) is_value: bool,
    /// Whether the task has done nothing yet.
    pub(in crate::explore) starts: bool,
    /// The operation, or what the value is for.
    pub(in crate::explore) what: String,
    /// The place, or the value.
    pub(in crate::explore) at: String,
}

impl What {
    pub(super) fn of(pick: Pick, enabled: &EnabledSet<'_>) -> What {
        match enabled {
            EnabledSet::Actions(actions) => {
                let action = actions.action(pick);
                let is_task = action.kind() == ActionKind::Run;
                What::Action {
                    task: is_task.then_some(action.subject),
                    op: action.op().kind,
                    site: action.op().site,
                }
            }
            EnabledSet::Values(values) => What::Value {
                label: values.label(),
                value: pick.0,
            },
        }
    }

    pub(in crate::explore) fn words(&self) -> Arc<Words> {
        let words = match self {
            #[cfg(unix)]
            What::Told(words) => return words.clone(),
            &What::Action { task, op, site } => Words {
                task,
                is_value: false,
                starts: op == OpKind::Start,
                what: op.to_string(),
                at: place(site),
            },
            What::Value { label, value } => Words {
                is_value: true,
                what: label.trim_start_matches('~').to_owned(),
                at: value.to_string(),
                ..Words::default()
            },
        };
        Arc::new(words)
    }
}
