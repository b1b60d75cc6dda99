//! The signals of a world: sending, arriving, and what happens by default.
//!
//! 1. A signal that is sent is pending until its action is picked; only then is it looked at whether the
//!    process has registered. What the process would ignore by default is no longer there to arrive if it
//!    registers later.
//! 2. While a node stands still nothing arrives but SIGKILL.

use super::kind::{Default as DefaultAction, SignalKind};
use super::line::{Line, Site};
use super::send;
use crate::fabric::shown;
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{
    self, ActionSource, NodeState, Offer, Resource, ResourceKind, Shared, Source,
};
use cct_executor::words::ActionKind;
use cct_executor::words::fingerprint::{hash_of, mix2};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io;
use std::sync::Arc;

/// All signals of a world.
#[derive(Default)]
pub(crate) struct Signals {
    state: Shared<State>,
}

#[derive(Default)]
struct State {
    /// By node and number.
    lines: BTreeMap<(u16, c_int), Arc<Line>>,
    /// Which processes signals have ended, for a report.
    ended: Vec<String>,
}

/// What has become of a signal that was there at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Struck {
    /// It ends the process.
    Ended,
    /// It stops the process.
    Stopped,
    /// The process was told.
    Told,
    /// Nothing.
    Ignored,
}

/// The signals of the running world.
///
/// # Errors
/// Outside a world.
pub(crate) fn signals() -> io::Result<Source<Signals>> {
    shim::source(Signals::default).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "signals exist inside a scenario only, as in a test with #[cct_executor::test]",
        )
    })
}

impl Signals {
    /// The line of a kind of signals to a node.
    pub(super) fn line(
        signals: &Source<Signals>,
        node: NodeId,
        kind: SignalKind,
        site: Site,
    ) -> Arc<Line> {
        let key = (node.0, kind.as_raw_value());
        let known = signals.state.with(|state| state.lines.get(&key).cloned());
        known.unwrap_or_else(|| {
            let resource = Resource::at(ResourceKind::Signal, site);
            let action = signals.action(Offer {
                kind: ActionKind::Deliver,
                what: u64::from(node.0) << 32 | u64::from(kind.as_raw_value().unsigned_abs()),
                identity: mix2(hash_of("signal"), u64::from(key.0) << 32 | key.1 as u64),
                node,
                resource: &resource,
                site,
            });
            let line = Arc::new(Line::new((node, kind), resource, action));
            let kept = line.clone();
            signals.state.with(|state| state.lines.insert(key, kept));
            line
        })
    }

    fn lines_of(&self, node: NodeId) -> Vec<Arc<Line>> {
        self.state.with(|state| {
            let lines = state.lines.values();
            lines.filter(|line| line.node == node).cloned().collect()
        })
    }

    /// A signal is on its way to a node, unless it means nothing there.
    pub(super) fn send(&self, line: &Line, site: Site) {
        if shim::node_state(line.node) == NodeState::Down {
            return;
        }
        self.cancel_opposites(line);
        if line.kind == SignalKind::CONTINUE {
            shim::pause_node(line.node, false);
        }
        let means_nothing = matches!(
            line.kind.default_action(),
            DefaultAction::Ignore | DefaultAction::Continue
        );
        if line.is_caught() || !means_nothing {
            line.sent(site);
            self.offer(line);
        }
    }

    /// A signal that stops takes back one that has a process go on, and the reverse.
    fn cancel_opposites(&self, line: &Line) {
        let stops = |kind: SignalKind| SignalKind::STOPS.contains(&kind);
        let opposite = |kind: SignalKind| match line.kind {
            SignalKind::CONTINUE => stops(kind),
            sent => stops(sent) && kind == SignalKind::CONTINUE,
        };
        for other in self.lines_of(line.node) {
            if opposite(other.kind) && other.is_pending() {
                other.take_pending();
                other.action.offer(false);
            }
        }
    }

    fn offer(&self, line: &Line) {
        let stands = shim::node_state(line.node) == NodeState::Paused;
        let gets_through = !stands || line.kind == SignalKind::KILL;
        line.action.offer(line.is_pending() && gets_through);
    }

    /// A signal arrives, and does what it does.
    pub(super) fn strike(&self, line: &Line, site: Site) -> Struck {
        line.take_pending();
        line.action.offer(false);
        if line.is_caught() {
            line.tell();
            return Struck::Told;
        }
        match line.kind.default_action() {
            DefaultAction::Stop if line.node.0 != 0 => {
                shim::pause_node(line.node, true);
                Struck::Stopped
            }
            DefaultAction::End | DefaultAction::Stop => {
                self.end(line, site);
                Struck::Ended
            }
            DefaultAction::Ignore | DefaultAction::Continue => Struck::Ignored,
        }
    }

    /// A signal ends a process. The test itself fails: if it stopped, nothing would have it go on.
    fn end(&self, line: &Line, site: Site) {
        let name = line.kind.text();
        if line.node.0 == 0 {
            let message =
                format!("{name} arrived at the test itself, which does not listen for it");
            return shim::broken(message, site);
        }
        let millis = shim::world_time_ns() as f64 / 1e6;
        let text = format!(
            "at {millis} ms: {name} ended the process of {}",
            shown(line.node)
        );
        self.state.with(|state| state.ended.push(text));
        shim::kill_process(line.node);
    }

    /// Whether a signal of this kind would do anything to a node now.
    pub(super) fn would_act(&self, node: NodeId, kind: SignalKind) -> bool {
        self.is_caught(node, kind)
            || matches!(
                kind.default_action(),
                DefaultAction::End | DefaultAction::Stop
            )
    }

    /// Whether a node's process has registered for this kind.
    fn is_caught(&self, node: NodeId, kind: SignalKind) -> bool {
        let key = (node.0, kind.as_raw_value());
        let line = self.state.with(|state| state.lines.get(&key).cloned());
        line.is_some_and(|line| line.is_caught())
    }

    fn line_at(&self, what: u64) -> Option<Arc<Line>> {
        let key = ((what >> 32) as u16, what as u32 as c_int);
        self.state.with(|state| state.lines.get(&key).cloned())
    }
}

impl ActionSource for Signals {
    /// A signal arrives.
    fn apply(&self, what: u64) {
        let arrives = |line: Arc<Line>| Some((line.take_pending()?, line));
        if let Some((site, line)) = self.line_at(what).and_then(arrives) {
            self.strike(&line, site);
        }
    }

    fn node_down(&self, node: NodeId) {
        for line in self.lines_of(node) {
            line.action.offer(false);
            line.forget_process();
        }
    }

    fn node_paused(&self, node: NodeId, _: bool) {
        self.lines_of(node).iter().for_each(|line| self.offer(line));
    }

    fn raised(&self, number: i32, handled: bool, site: Site) -> bool {
        let (node, kind) = (current(), SignalKind::from_raw(number));
        let ours = kind.exists() && (!handled || self.is_caught(node, kind));
        if ours {
            send::send(node, kind, site);
        }
        ours
    }

    fn describe(&self, what: u64) -> Option<String> {
        let line = self.line_at(what)?;
        let text = format!("{} arrives at {}", line.kind.text(), shown(line.node));
        let what = match (line.is_caught(), line.kind.default_action()) {
            (true, _) => "",
            (false, DefaultAction::End) => ", which does not listen: its process ends",
            (false, DefaultAction::Stop) => ", which stops",
            (false, _) => ", which ignores it",
        };
        Some(text + what)
    }

    fn snapshot(&self) -> Vec<String> {
        let mut lines = self.state.with(|state| state.ended.clone());
        let all = self
            .state
            .with(|state| state.lines.values().cloned().collect::<Vec<_>>());
        let pending = all.iter().filter(|line| line.is_pending());
        lines.extend(pending.map(|line| {
            let name = line.kind.text();
            format!(
                "{name} has been sent to {} and has not arrived",
                shown(line.node)
            )
        }));
        lines
    }
}
