//! Stacks of calls, made out for reports.
//!
//! The standard library prints the paths of what lies in the current folder, which is that of the package whose tests
//! run, without it. The compiler names files from the workspace's folder on.

use super::paths::short;
use std::backtrace::Backtrace;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Places shown of a stack, at its two ends.
const INNERMOST: usize = 2;
const OUTERMOST: usize = 3;
/// Where what is polled begins, and what is below belongs to the engine.
const BOTTOM: &str = "cct_executor::raw::task::";
const BOTTOM_FILE: &str = "src/raw/task.rs:";

/// What the compiler puts before the paths of what lies in the current folder, given a file's name by the compiler.
pub(super) fn folder(file: &str) -> String {
    folder_of(file, &std::env::current_dir().unwrap_or_default())
}

fn folder_of(file: &str, here: &Path) -> String {
    let folders = Path::new(file).ancestors().skip(1);
    let above = |folder: &&Path| folder.is_relative() && here.ends_with(folder);
    let found = folders.filter(|folder| !folder.as_os_str().is_empty());
    match found.into_iter().find(|folder| above(folder)) {
        Some(folder) => format!("{}/", folder.display()),
        None => String::new(),
    }
}

/// The innermost place of a stack in code that is neither cct's nor the standard library's; where there is one,
/// in code that is no lock either: of what is done under a lock, who takes it says more.
pub(super) fn innermost(stack: &Backtrace, folder: &str) -> Option<String> {
    const LOCKS: [&str; 5] = [
        "lock_api-",
        "parking_lot-",
        "parking_lot_core-",
        "portable-atomic-",
        "spin-",
    ];
    let places = places(stack, folder);
    let outside = |place: &&String| !LOCKS.iter().any(|lock| place.starts_with(lock));
    let found = places.iter().find(outside).or(places.first());
    found.cloned()
}

/// The innermost place of a stack in code that is under test, and comes from no registry; if there is none, as in a task
/// of a library's own, in a library that does not just hand on what is asked of it.
pub(super) fn nearest(stack: &Backtrace, folder: &str) -> Option<String> {
    nearest_of(&stack.to_string(), folder)
}

fn nearest_of(stack: &str, folder: &str) -> Option<String> {
    const FETCHED: [&str; 3] = ["/registry/src/", "/git/checkouts/", "/cct/patch/"];
    const HAND_ON: [&str; 6] = [
        "/cct/patch/",
        "/bytes-",
        "/futures-",
        "/tokio-",
        "/pin-project-",
        "/tracing-",
    ];
    let places = all_places(stack, folder);
    let of_none = |folders: &[&str], place: &String| !folders.iter().any(|it| place.contains(it));
    let own = places.iter().find(|place| of_none(&FETCHED, place));
    let found = own.or_else(|| places.iter().find(|place| of_none(&HAND_ON, place)));
    found.map(|place| short(place).to_owned())
}

/// The places of a stack, as reports have them.
pub(super) fn places(stack: &Backtrace, folder: &str) -> Vec<String> {
    places_of(&stack.to_string(), folder)
}

/// [`places`] in paths like that of this place, `file:line`.
pub(crate) fn places_as(stack: &Backtrace, place: &str) -> Vec<String> {
    let file = place.rsplit_once(':').map_or(place, |(file, _)| file);
    places(stack, &folder(file))
}

fn places_of(stack: &str, folder: &str) -> Vec<String> {
    let mut places: Vec<String> = all_places(stack, folder)
        .iter()
        .map(|place| short(place).to_owned())
        .collect();
    places.dedup();
    shortened(&places)
}

/// The places of a stack, as the standard library prints it, in code that is neither its own nor cct's.
fn all_places(stack: &str, folder: &str) -> Vec<String> {
    let mut places = Vec::new();
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
        if is_rust && !ours && !of_std {
            let here = place.strip_prefix("./");
            places.push(here.map_or_else(|| place.to_owned(), |here| format!("{folder}{here}")));
        }
    }
    places
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
pub(super) fn is_ours(place: &str) -> bool {
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
    use super::{folder_of, nearest_of, places_of, shortened};
    use std::path::Path;

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
            places_of(STACK, ""),
            [
                "channel-1.0.0/src/lib.rs:10",
                "channel-1.0.0/src/lib.rs:20",
                "tests/it.rs:7"
            ]
        );
    }

    #[test]
    fn what_is_done_is_done_by_the_test_or_else_by_a_library() {
        assert_eq!(nearest_of(STACK, "").unwrap(), "tests/it.rs:7");
        let of_a_library = STACK.replace("./tests/it.rs", "/rustc/59807616e1fa/library/core.rs");
        let place = "channel-1.0.0/src/lib.rs:10";
        assert_eq!(nearest_of(&of_a_library, "").unwrap(), place);
        let handed_on = of_a_library.replacen("channel-1.0.0", "futures-util-0.3.1", 1);
        let place = "channel-1.0.0/src/lib.rs:20";
        assert_eq!(nearest_of(&handed_on, "").unwrap(), place);
    }

    #[test]
    fn places_are_told_as_the_compiler_does() {
        let of = |file, here| folder_of(file, Path::new(here));
        assert_eq!(of("crates/it/tests/it.rs", "/work/crates/it"), "crates/it/");
        assert_eq!(of("tests/it.rs", "/work/it"), "");
        assert_eq!(of("/work/it/src/lib.rs", "/work/it"), "");
        let places = places_of(STACK, "crates/it/");
        assert_eq!(places.last().unwrap(), "crates/it/tests/it.rs:7");
    }

    #[test]
    fn of_a_deep_stack_the_two_ends_are_told() {
        let frames = (1..=9).map(|n| format!("  {n}: a::f{n}\n    at ./tests/a.rs:{n}:1\n"));
        let deep: Vec<String> = places_of(&frames.collect::<String>(), "");
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
