//! What a thread has taken of the processor: beside other work on a busy machine that is less than went by.
//!
//! Only Linux tells. Nothing inside of an iteration is decided by it.

use std::time::Duration;

/// The system's clock ticks in a second, as it counts them for processes.
pub(super) const TICKS: u64 = 100;

/// A thread, by where the system tells of it. That it has ended does no harm.
#[derive(Clone, Debug, Default)]
pub(super) struct Processor {
    stat: Option<String>,
}

impl Processor {
    pub(super) fn of_this_thread() -> Processor {
        let path = std::fs::read_link("/proc/thread-self").ok();
        Processor {
            stat: path.map(|path| format!("/proc/{}/stat", path.display())),
        }
    }

    /// All threads together.
    pub(super) fn of_this_process() -> Processor {
        Processor {
            stat: Some("/proc/self/stat".to_owned()),
        }
    }

    /// Clock ticks that the thread took so far.
    pub(super) fn ticks(&self) -> Option<u64> {
        ticks(&std::fs::read_to_string(self.stat.as_ref()?).ok()?)
    }

    /// The same as a time.
    pub(super) fn taken(&self) -> Option<Duration> {
        let ticks = self.ticks()?;
        Some(Duration::from_millis(ticks * 1_000 / TICKS))
    }
}

/// The time that a thread took, of its line in `/proc`: the 14th and 15th field. The second one, in brackets, may
/// have spaces.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let (user, system) = (fields.next()?, fields.next()?);
    Some(user.parse::<u64>().ok()? + system.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_found_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 90 0 0 0 12 30 0 0 20 0 1 0 5 0 0";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(ticks("7 (a) S 1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn who_works_takes_time() {
        let own = Processor::of_this_thread();
        let before = own.taken().expect("Linux tells");
        let mut sum = 0_u64;
        while own.taken() == Some(before) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(own.taken() > Some(before));
    }
}
