//! Points in user code at which something unlikely happens.

use super::run::Run;
use super::source::running;
use cct_executor::{node, shim};

/// A point that can say yes says so one time in this many.
const RARITY: u32 = 8;

/// Whether something unlikely but legal happens here: a slow path, a short batch, a retry.
///
/// Always false, unless a fault plan whose window is open allows it on this node (see
/// [`FaultPlan::buggify`](super::FaultPlan::buggify)). The strategy chooses, once an iteration, for
/// each label whether it can say yes at all; then each call is a choice that is seldom yes.
pub fn buggify(label: &'static str) -> bool {
    let here = node::current();
    let active = |run: &Run| {
        let nodes = &run.plan.nodes;
        run.is_open()
            && run.state.with(|state| state.bugs > 0)
            && (nodes.is_empty() || nodes.iter().any(|node| node.id() == here))
    };
    running()
        .iter()
        .filter(|run| active(run))
        .any(|run| run.buggify(label))
}

impl Run {
    fn buggify(&self, label: &'static str) -> bool {
        let known = self.state.with(|state| state.live.get(label).copied());
        let live = known.unwrap_or_else(|| {
            let live = shim::choose(2, label) == 1;
            self.state.with(|state| state.live.insert(label, live));
            live
        });
        let yes = live && shim::choose_weighted(&[RARITY - 1, 1], label) == 1;
        if yes {
            self.state.with(|state| {
                state.bugs -= 1;
                state.note(label.to_owned());
            });
        }
        yes
    }
}
