//! Data choices: a value the program draws, decided like everything else.

use super::core::{Core, NONE};
use super::decider::Decider;
use super::world::{Phase, World};
use crate::words::enabled::Values;
use crate::words::{Decision, DecisionKind, EnabledSet, SchedulingPoint};
use std::panic::Location;

/// What a choice is about, and where user code asks for it.
type Label = (&'static str, Option<&'static Location<'static>>);

impl Core {
    pub(super) fn choose(
        &mut self,
        count: u32,
        weights: &[u32],
        (label, site): Label,
        current: u32,
        decider: &mut dyn Decider,
    ) -> u32 {
        if self.end.is_some() || !self.count_step() {
            return 0;
        }
        let values = Values {
            count,
            weights,
            label,
        };
        if self.fairness.is_on() {
            let index = self.fairness.draw(&values);
            self.note_value(current, (label, index), site);
            return index;
        }
        let point = SchedulingPoint {
            can_continue: current != NONE,
            yielded: false,
            ..self.point
        };
        let set = EnabledSet::Values(values);
        let mut pick = decider.pick(&point, &set);
        if pick.is_none() && self.goes_on(decider.stop()) {
            pick = decider.pick(&point, &set);
        }
        match pick {
            Some(pick) => {
                assert!(pick.0 < count, "cct bug: pick {} of {count} values", pick.0);
                let index = pick.0;
                self.record(Decision {
                    kind: DecisionKind::Value,
                    index,
                    arity: count,
                });
                self.fairness.decided += 1;
                self.note_value(current, (label, index), site);
                index
            }
            None => 0,
        }
    }

    /// For a report.
    fn note_value(
        &mut self,
        current: u32,
        value: (&'static str, u32),
        site: Option<&'static Location<'static>>,
    ) {
        if let Some(recorder) = &mut self.recorder {
            let (step, time_ns) = (self.point.step, self.point.time_ns);
            recorder.value(step, time_ns, current, value, site);
        }
    }
}

impl World {
    /// Draws a value below `count`. Without a running world, or with one value only, that is 0.
    pub(crate) fn choose(&self, count: u32, weights: &[u32], label: Label) -> u32 {
        if !self.is_running() || count < 2 {
            if self.phase.get() == Phase::Closing {
                self.count_inert();
            }
            return 0;
        }
        let key = self.running.get().key;
        let (value, over) = self.with(|core, decider| {
            let value = core.choose(count, weights, label, key, decider);
            (value, core.end.is_some())
        });
        if over {
            self.stop_here();
        }
        value
    }
}
