//! Whoever interrupts finds the lock file as it was: at once, or after the next call if there was no time. So does
//! whoever has an editor that calls cargo meanwhile.

use crate::folder::{cct, lock, metadata, said, write};
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

pub(crate) fn an_editor_calls_cargo(folder: &Path) {
    // Not as cargo would write it, so that the two can be told apart.
    let before = format!("{}\n", lock(folder));
    write(&folder.join("Cargo.lock"), &before);
    let child = in_the_middle(folder);
    let ours = lock(folder);
    metadata(folder);
    let editors = lock(folder);
    assert!(
        editors != ours && editors != before,
        "cargo has written its own"
    );
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", said(&output));
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
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with("running ") {
        line.clear();
        let read = out.read_line(&mut line).expect("text");
        assert_ne!(read, 0, "no test began");
    }
    child.stdout = Some(out.into_inner());
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
