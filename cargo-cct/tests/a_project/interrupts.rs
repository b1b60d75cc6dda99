//! Whoever interrupts finds the lock file as it was: at once, or after the next call if there was no time.

use crate::folder::{cct, lock, said};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) fn all(folder: &Path) {
    let before = lock(folder);
    let child = in_the_middle(folder);
    assert_ne!(lock(folder), before, "it is on loan");
    let code = end(child, "-TERM");
    assert_eq!(code, Some(130));
    assert_eq!(lock(folder), before);

    let child = in_the_middle(folder);
    let code = end(child, "-KILL");
    assert_eq!(code, None, "ended by the signal");
    assert_ne!(lock(folder), before, "nobody could");
    let next = cct(folder, &["doctor", "--offline"])
        .output()
        .expect("it runs");
    let text = said(&next);
    assert!(text.contains("an earlier run was killed"), "{text}");
    assert_eq!(lock(folder), before);
}

/// A run of which a test waits.
fn in_the_middle(folder: &Path) -> Child {
    let mut command = cct(folder, &["test", "--offline", "--lib", "patient"]);
    command.env("BANK_WAITS", "yes");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("it runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut lines = lines.map(|line| line.expect("text"));
    assert!(
        lines.any(|line| line.starts_with("running ")),
        "no test began"
    );
    child
}

/// Sends a signal to `cargo cct` alone, and waits for it; then the test may end, too.
fn end(mut child: Child, signal: &str) -> Option<i32> {
    let hold = child.stdin.take();
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    assert!(sent.expect("`kill` runs").success());
    let status = child.wait().expect("it ends");
    drop(hold);
    status.code()
}
