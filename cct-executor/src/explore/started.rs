//! Programs of a package that its tests start, be it the test's own, started again for one of its tests.
//!
//! Such a program does for its test what it does for anybody: it is not explored, but run once, at the machine's time.
//!
//! Known by where it lies: cargo builds programs into a folder and tests into `deps` there. A doc test lies elsewhere.
//! A test's own program is also started by who explores or replays it; that one has left an answer to be given.

use super::env::{self, PlainTests, Settings};
use std::path::Path;
use std::sync::OnceLock;

/// So many of those who have started one another may stand between a program and the test, as shells do.
const BETWEEN_MAX: usize = 16;

/// Whether a test has started this program.
pub(crate) fn by_a_test() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| is_started_by_a_test().unwrap_or(false))
}

/// Whether a `main` that would be explored is not, where a project need not be changed.
pub(crate) fn is_to_be_run_once() -> bool {
    let refused = || Settings::from_env().is_ok_and(|all| all.plain_tests == PlainTests::Refuse);
    cct_interpose::CONTROLLED && by_a_test() && !refused()
}

fn is_started_by_a_test() -> Option<bool> {
    let program = std::env::current_exe().ok()?;
    // Examples have a folder of their own beside that of the tests.
    let folders = program.ancestors().skip(1).take(2);
    let tests: Vec<_> = folders.map(|folder| folder.join("deps")).collect();
    let is_test = |program: &Path| {
        let folder = program.parent();
        folder.is_some_and(|folder| tests.iter().any(|tests| tests == folder))
    };
    if program.parent().is_some_and(|it| it.ends_with("deps")) {
        return Some(is_started_by_itself(&program));
    }
    let mut process = parent_of("self");
    for _ in 0..BETWEEN_MAX {
        let starter = process?;
        let exe = std::fs::read_link(format!("/proc/{starter}/exe"));
        if exe.is_ok_and(|exe| is_test(&exe)) {
            return Some(true);
        }
        process = parent_of(&starter);
    }
    None
}

/// Whether this program of tests was started by one of its own tests that is run as it is.
fn is_started_by_itself(program: &Path) -> bool {
    let is_asked = Settings::from_env().is_ok_and(|all| all.apart.is_some());
    let starter = parent_of("self").filter(|_| !is_asked);
    starter.is_some_and(|starter| {
        let exe = std::fs::read_link(format!("/proc/{starter}/exe"));
        let variables = std::fs::read(format!("/proc/{starter}/environ")).unwrap_or_default();
        let named = |variable: &[u8]| variable.starts_with(env::PLAIN_TESTS.as_bytes());
        exe.is_ok_and(|exe| exe == program) && variables.split(|&it| it == 0).any(named)
    })
}

/// Who has started a process. Its name, which comes before that in brackets, may be any.
fn parent_of(process: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    let parent = after.split_ascii_whitespace().nth(1)?;
    (parent != "0").then(|| parent.to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_no_program_that_a_test_has_started() {
        assert!(!by_a_test());
        let parent = parent_of("self").expect("somebody has started the tests");
        assert!(parent.parse::<u32>().is_ok(), "{parent}");
        assert_eq!(parent_of("1"), None);
        assert_eq!(parent_of("no process"), None);
    }
}
