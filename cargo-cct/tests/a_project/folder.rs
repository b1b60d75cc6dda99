//! The projects' folders, and calls in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MANIFEST: &str = r#"
[package]
name = "bank"
version = "0.1.0"
edition = "2021"

[dependencies]
futures = "0.3"
# What only tokio depends on is nobody's any more.
tokio = { version = "1", features = ["io-std", "io-util", "macros", "parking_lot", "process", "rt", "signal", "sync", "time"] }
tokio-stream = "0.1"
tracing = { version = "0.1", default-features = false, features = ["std"] }

[workspace]
"#;

/// What is built here runs a few dozen times.
pub(crate) const NOT_OPTIMISED: &str = r#"
[profile.dev.package."*"]
opt-level = 0
[profile.dev]
debug = false
"#;

/// By file.
const SOURCES: [(&str, &str); 3] = [
    ("src/lib.rs", include_str!("bank.rs")),
    ("src/bin/teller.rs", include_str!("teller/main.rs")),
    ("tests/teller.rs", include_str!("teller/it.rs")),
];

/// The project's folder.
pub(crate) fn project() -> PathBuf {
    let manifest = format!("{MANIFEST}{NOT_OPTIMISED}");
    project_of("bank", &manifest, &SOURCES)
}

/// The folder of a project of these files, made anew but for what was built in it.
pub(crate) fn project_of(name: &str, manifest: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (file, text) in [&[("Cargo.toml", manifest)], files].concat() {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder");
        write(&path, text);
    }
    // Cargo keeps of it what the project needs.
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    metadata(&folder);
    folder
}

/// Has cargo look at the project, and bring its lock file up to date.
pub(crate) fn metadata(folder: &Path) {
    let cargo = env!("CARGO");
    let mut command = Command::new(cargo);
    command.args([
        "metadata",
        "--offline",
        "--format-version",
        "1",
        "--filter-platform",
    ]);
    command.arg(host(cargo));
    prepare(folder, &mut command);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
}

/// Cargo builds again what is newer than it was.
pub(crate) fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("a file");
    }
}

fn host(cargo: &str) -> String {
    let version = Command::new(cargo).arg("-vV").output().expect("cargo");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("a host").to_owned()
}

/// `cargo cct` with these arguments.
pub(crate) fn cct(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-cct"));
    command.arg("cct").args(arguments);
    prepare(folder, &mut command);
    command
}

/// As a user would run it, and not as the tests of this workspace are run.
fn prepare(folder: &Path, command: &mut Command) {
    let variables = [
        "CARGO_BUILD_TARGET_DIR",
        "CARGO_PROFILE_DEV_DEBUG",
        "CARGO_TARGET_DIR",
        "CI",
    ];
    for variable in variables {
        command.env_remove(variable);
    }
    command.env("CCT_ITERATIONS", "50");
    command.env("CCT_REGRESSIONS", "off");
    command.env("RUST_BACKTRACE", "0");
    // Many projects say so, and do not mean us.
    command.env("RUSTFLAGS", "-D warnings");
    command.current_dir(folder);
}

/// All that was said.
pub(crate) fn said(output: &Output) -> String {
    let all = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

pub(crate) fn lock(folder: &Path) -> String {
    fs::read_to_string(folder.join("Cargo.lock")).expect("a lock file")
}
