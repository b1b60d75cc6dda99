//! What the toy engine tells, in the engine's order: while a task runs who it spawned and woke,
//! then how it fared itself.

use super::world::World;
use crate::strategy::{StepEvent, Strategy};
use crate::words::Fingerprint;
use crate::words::action::{Action, ActionKey, NodeId};

impl World<'_> {
    pub(super) fn tell_spawned(&self, task: u32, parent: Option<u32>, strategy: &mut dyn Strategy) {
        if self.interests.lifecycle {
            strategy.observe(&StepEvent::Spawned {
                task: ActionKey(task),
                id: self.actions[task as usize].id,
                parent: parent.map(ActionKey),
                node: NodeId(0),
            });
        }
    }

    /// Tells who was enabled and who was blocked in the step of the running task, itself last.
    pub(super) fn tell_changed(&mut self, running: Option<u32>, strategy: &mut dyn Strategy) {
        self.changed.sort_by_key(|&(task, _)| Some(task) == running);
        for (task, enabled) in self.changed.drain(..) {
            let key = ActionKey(task);
            if !self.interests.readiness {
                continue;
            }
            if !enabled {
                strategy.observe(&StepEvent::Blocked(key));
                continue;
            }
            strategy.observe(&StepEvent::Enabled(key));
            if running.is_some_and(|running| running != task) {
                strategy.observe(&StepEvent::Sent { to: key });
            }
        }
    }

    pub(super) fn tell_forced(&self, task: u32, strategy: &mut dyn Strategy) {
        if self.interests.forced {
            strategy.observe(&StepEvent::Forced {
                id: self.actions[task as usize].id,
                fingerprint: Fingerprint(self.fingerprint),
                parts: self.parts(),
            });
        }
    }

    pub(super) fn tell_exited(&self, task: u32, strategy: &mut dyn Strategy) {
        if self.interests.lifecycle {
            strategy.observe(&StepEvent::Exited(ActionKey(task)));
        }
    }

    /// That a task was spawned says that it is enabled; what is left to tell is that it is not.
    pub(super) fn known_enabled(&mut self, task: u32) {
        self.changed.retain(|&(changed, _)| changed != task);
        if self.actions[task as usize].position == Action::NOWHERE {
            self.changed.push((task, false));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::strategy::model::{Do, Toy};
    use crate::strategy::{Flow, Interests, StepEvent, Strategy};
    use crate::words::{EnabledSet, Iteration, Pick, SchedulingPoint, Seed};

    /// Takes the first choice, and writes down what it is told.
    struct Listener(Vec<String>);

    impl Strategy for Listener {
        fn describe(&self) -> String {
            "listener".to_owned()
        }

        fn interests(&self) -> Interests {
            Interests {
                lifecycle: true,
                readiness: true,
                ..Interests::default()
            }
        }

        fn begin(&mut self, _: &Iteration) -> Flow {
            Flow::Continue
        }

        fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
            enabled.pick(0)
        }

        fn observe(&mut self, event: &StepEvent<'_>) {
            self.0.push(match event {
                StepEvent::Spawned { task, parent, .. } => {
                    format!("{:?} spawned {}", parent.map(|p| p.index()), task.index())
                }
                StepEvent::Enabled(task) => format!("enabled {}", task.index()),
                StepEvent::Blocked(task) => format!("blocked {}", task.index()),
                StepEvent::Exited(task) => format!("exited {}", task.index()),
                StepEvent::Sent { to } => format!("sent to {}", to.index()),
                other => format!("{other:?}"),
            });
        }
    }

    #[test]
    fn as_the_engine_tells() {
        let mut listener = Listener(Vec::new());
        let main = vec![Do::Spawn(1), Do::Join(1)];
        let run = Toy::new(vec![main, vec![Do::Yield, Do::Step]]).run(&mut listener, Seed(1), 0);
        assert_eq!(run.order, [0, 1, 1, 0]);
        let expected = [
            "None spawned 0",
            "Some(0) spawned 1",
            "blocked 0",
            "enabled 1",
            "enabled 0",
            "sent to 0",
            "exited 1",
            "exited 0",
        ];
        assert_eq!(listener.0, expected);
    }

    #[test]
    fn a_lock_that_is_taken_blocks() {
        let mut listener = Listener(Vec::new());
        let task = vec![Do::Lock(0), Do::Unlock(0)];
        Toy::new(vec![task; 2]).run(&mut listener, Seed(1), 0);
        let expected = [
            "None spawned 0",
            "None spawned 1",
            "blocked 1",
            "enabled 1",
            "sent to 1",
            "exited 0",
            "exited 1",
        ];
        assert_eq!(listener.0, expected);
    }
}
