//! Who holds wakers of tasks: how many there are, and where the last one was taken.
//!
//! Only while recording, for reports. Of a task that waits for what cct does not know, such as the channel of
//! another crate, the stack of the call that took its waker says where it waits.

use super::paths::short;
use super::record::Detail;
use super::waker::TaskWaker;
use super::world::{WORLD, World};
use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::Waker;

/// Stacks noted in an iteration: one of a million steps is to be told in seconds.
const STACKS_MAX: u32 = 20_000;
/// Places shown of a stack, at its two ends.
const INNERMOST: usize = 2;
const OUTERMOST: usize = 3;
/// Where what is polled begins, and what is below belongs to the engine.
const BOTTOM: &str = "cct_executor::raw::task::";
const BOTTOM_FILE: &str = "src/raw/task.rs:";

/// The wakers of one task that others hold.
#[derive(Default)]
struct Held {
    count: u32,
    /// There may be more, which are not counted.
    more: bool,
    /// Where the last one was taken.
    stack: Option<Backtrace>,
}

/// The wakers of all tasks.
#[derive(Default)]
pub(crate) struct Wakers {
    of: BTreeMap<u32, Held>,
    /// How many stacks may still be noted.
    stacks_left: u32,
}

impl Wakers {
    pub(crate) const NONE: Wakers = Wakers {
        of: BTreeMap::new(),
        stacks_left: 0,
    };

    /// For an iteration of which so much is recorded.
    pub(crate) fn noting(detail: Detail) -> Wakers {
        let stacks = detail == Detail::Stacks;
        Wakers {
            stacks_left: if stacks { STACKS_MAX } else { 0 },
            ..Wakers::NONE
        }
    }

    /// Whether nobody holds one, so that nothing can wake the task.
    pub(crate) fn none_of(&self, key: u32) -> bool {
        self.of
            .get(&key)
            .is_none_or(|held| held.count == 0 && !held.more)
    }

    /// Whether somebody has ever taken one, as far as that is known.
    pub(crate) fn ever_taken(&self, key: u32) -> bool {
        self.of.contains_key(&key)
    }

    /// Where the last one was taken, the innermost place first; nothing where that is not known.
    pub(crate) fn taken_at(&self, key: u32) -> Vec<String> {
        let stack = self.of.get(&key).and_then(|held| held.stack.as_ref());
        stack.map_or_else(Vec::new, |stack| places(&stack.to_string()))
    }
}

impl World {
    /// The stack of the caller, if there may be one more. Capturing it may have to wait for another thread.
    pub(super) fn stack(&self) -> Option<Backtrace> {
        let noted = self.wakers.borrow().stacks_left > 0;
        let stack = noted.then(Backtrace::force_capture);
        self.wakers.borrow_mut().stacks_left -= u32::from(noted);
        stack
    }

    /// There is one more waker of this task in the hands of others, or one less.
    #[cold]
    pub(crate) fn count_waker(&self, key: u32, more: bool) {
        let stack = if more { self.stack() } else { None };
        // The table is never borrowed for longer than this.
        let mut wakers = self.wakers.borrow_mut();
        let held = wakers.of.entry(key).or_default();
        if more {
            held.count += 1;
            // Not that of an earlier one, if there is none: it would tell of another place.
            held.stack = stack;
        } else {
            held.count = held.count.saturating_sub(1);
        }
    }
}

impl TaskWaker {
    /// A waker for the task that is not the task itself. Nobody counts who holds it.
    pub(crate) fn apart(self) -> Waker {
        WORLD.with(|world| {
            if world.recording.get() && world.serial.get() == self.serial {
                world
                    .wakers
                    .borrow_mut()
                    .of
                    .entry(self.key)
                    .or_default()
                    .more = true;
            }
        });
        Waker::from(Arc::new(self))
    }
}

/// The innermost place of a stack in code that is neither cct's nor the standard library's; where there is one,
/// in code that is no lock either: of what is done under a lock, who takes it says more.
pub(super) fn innermost(stack: &Backtrace) -> Option<String> {
    const LOCKS: [&str; 3] = ["lock_api-", "parking_lot-", "parking_lot_core-"];
    let places = places(&stack.to_string());
    let outside = |place: &&String| !LOCKS.iter().any(|lock| place.starts_with(lock));
    let found = places.iter().find(outside).or(places.first());
    found.cloned()
}

/// The places of a stack, as the standard library prints it, in code that is neither its own nor cct's.
fn places(stack: &str) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    let mut ours = false;
    for line in stack.lines().map(str::trim_start) {
        let Some(place) = line.strip_prefix("at ") else {
            let name = line.split_once(": ").map_or(line, |(number, name)| {
                let numbered = number.bytes().all(|digit| digit.is_ascii_digit());
                if numbered { name } else { line }
            });
            let name = name.trim_start_matches('<');
            if name.starts_with(BOTTOM) && !places.is_empty() {
                break;
            }
            ours = ["cct_", "corosensei::", "__tsan_"]
                .iter()
                .any(|own| name.starts_with(own));
            continue;
        };
        // Without the column.
        let place = place.rsplit_once(':').map_or(place, |(place, _)| place);
        let of_std = place.contains("/rustlib/src/rust/") || place.starts_with("/rustc/");
        let ours = ours || is_ours(place);
        if ours && place.contains(BOTTOM_FILE) && !places.is_empty() {
            break;
        }
        // Below a thread's first function is the C library.
        let is_rust = place
            .rsplit_once(':')
            .is_some_and(|(file, _)| file.ends_with(".rs"));
        let place = short(place.strip_prefix("./").unwrap_or(place));
        if is_rust && !ours && !of_std && places.last().is_none_or(|last| last != place) {
            places.push(place.to_owned());
        }
    }
    shortened(&places)
}

/// The two ends of a deep stack, and between them the innermost place in each further crate: what waits is as often
/// that as what drives it.
fn shortened(places: &[String]) -> Vec<String> {
    if places.len() <= INNERMOST + OUTERMOST + 1 {
        return places.to_vec();
    }
    let folder = |place: &String| place.split_once('/').map(|(folder, _)| folder.to_owned());
    let outermost = places.len() - OUTERMOST;
    let ends = places[..INNERMOST].iter().chain(&places[outermost..]);
    let mut told: Vec<_> = ends.map(folder).collect();
    let mut short = places[..INNERMOST].to_vec();
    let mut left_out = false;
    for (at, place) in places.iter().enumerate().skip(INNERMOST) {
        let its = folder(place);
        if at >= outermost || !told.contains(&its) {
            if std::mem::take(&mut left_out) {
                short.push("...".to_owned());
            }
            short.push(place.clone());
            told.push(its);
        } else {
            left_out = true;
        }
    }
    short
}

/// Whether a place is in cct's sources: with the least of debug information names have no paths. The
/// standard library prints what lies in the current folder with a dot.
fn is_ours(place: &str) -> bool {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = match place.strip_prefix("./") {
        Some(rest) => std::env::current_dir().unwrap_or_default().join(rest),
        None => PathBuf::from(place),
    };
    let beside = here.parent().and_then(|all| whole.strip_prefix(all).ok());
    let mut parts = beside.into_iter().flatten().filter_map(OsStr::to_str);
    let is_crate = parts.next().is_some_and(|name| name.starts_with("cct-"));
    // A crate may lie in another one's folder.
    (is_crate && parts.any(|part| part == "src")) || place.contains("/corosensei-")
}

#[cfg(test)]
mod tests {
    use super::{places, shortened};

    const STACK: &str = "   0: cct_executor::execution::wakers::count_waker
             at /work/cct/cct-executor/src/execution/wakers.rs:70:5
   1: <cct_executor::task::body::JoinCell<T> as cct_executor::raw::task::WakeTask>::wakers_changed
   2: core::task::wake::Waker::clone
             at /rustc/59807616e1fa/library/core/src/task/wake.rs:500:5
   3: channel::Receiver<T>::poll_recv
             at /root/.cargo/registry/src/index.crates.io-1949/channel-1.0.0/src/lib.rs:10:9
      <channel::Recv<T> as core::future::future::Future>::poll
             at /root/.cargo/registry/src/index.crates.io-1949/channel-1.0.0/src/lib.rs:20:9
   4: it::serve::{{closure}}
             at ./tests/it.rs:7:30
   5: <cct_executor::raw::task::Task<F,E,W> as cct_executor::raw::task::Runs>::poll
             at /work/cct/cct-executor/src/raw/task.rs:120:22
   6: it::a_test
             at ./tests/it.rs:2:1
";

    #[test]
    fn a_stack_is_told_from_who_takes_the_waker_to_the_task() {
        assert_eq!(
            places(STACK),
            [
                "channel-1.0.0/src/lib.rs:10",
                "channel-1.0.0/src/lib.rs:20",
                "tests/it.rs:7"
            ]
        );
    }

    #[test]
    fn of_a_deep_stack_the_two_ends_are_told() {
        let frames = (1..=9).map(|n| format!("  {n}: a::f{n}\n    at ./tests/a.rs:{n}:1\n"));
        let deep: Vec<String> = places(&frames.collect::<String>());
        let line = |n: u32| format!("tests/a.rs:{n}");
        let told = [
            line(1),
            line(2),
            "...".to_owned(),
            line(7),
            line(8),
            line(9),
        ];
        assert_eq!(deep, told);
    }

    #[test]
    fn between_the_ends_of_a_deep_stack_each_crate_is_told_once() {
        let places = [
            "a/1", "a/2", "a/3", "b/1", "b/2", "c/1", "a/4", "a/5", "t/1",
        ];
        let short = shortened(&places.map(str::to_owned));
        assert_eq!(
            short,
            [
                "a/1", "a/2", "...", "b/1", "...", "c/1", "a/4", "a/5", "t/1"
            ]
        );
    }
}
