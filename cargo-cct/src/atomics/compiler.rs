//! What stands between cargo and the compiler: which crates get the options that have code tell of its atomic
//! operations.
//!
//! 1. What runs while things are built is left as it is: build scripts, procedural macros and what they are made
//!    of. Cargo tells these apart where it is given a `--target`, if only the machine's own.
//! 2. So is what knows threads by their thread-locals, which tasks share in a world ([`LEFT`]), and cct itself; and
//!    packages that depend on such a crate themselves, where its generic and inlined code is compiled with theirs
//!    ([`SPREADS`]), or on a package that does: what is generic there has it, too. Further than that it hardly comes.
//! 3. What is left so counts as optimised, as from level 2 on: crates with less hand what they have made of generic and
//!    inlined functions, as the operations of atomics are, on to the crates that use them, and take it from those they use.
//!    Not the engine's own ([`WITH_PART`]), which has no points in such code while its tables are in use.

use super::{PLAIN, WRAPS, link_option, variable};
use crate::{say, unstable};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

const OPTIONS: [&str; 2] = [
    "-Cpasses=forceattrs function(tsan)",
    "-Cllvm-args=-force-attribute=sanitize_thread -tsan-instrument-memory-accesses=0 \
     -tsan-instrument-func-entry-exit=0 -tsan-instrument-memintrinsics=0",
];
/// What is not instrumented must not stand in for what is. The rest stays as without optimisation, which nobody asked
/// for, and which would take a minute for cct's own crates.
const OPTIMISED: [&str; 5] = [
    "-Copt-level=2",
    "-Cno-prepopulate-passes",
    "-Clto=off",
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
];
/// Has cct's own packages do their part.
const PART: &str = "cct_atomics";
const WITH_PART: [&str; 2] = ["cct_interpose", "cct_executor"];

/// Crates that are left as they are. `cct_*` are, too, and what `cct-tokio` is called here.
const LEFT: &[&str] = &[
    // Ours.
    "corosensei",
    "real_tokio",
    "tokio",
    // They keep things for each thread, and expect nobody else there in the middle of a call.
    "arc_swap",
    "critical_section",
    "crossbeam_epoch",
    "regex_automata",
    "saa",
    "scc",
    "sdd",
    "seize",
    "sharded_slab",
    "thread_local",
    "tracing",
    "tracing_core",
    "tracing_log",
    "tracing_subscriber",
    // Threads of their own take part in what they do.
    "async_io",
    "futures_timer",
    "polling",
    // What they do is over before anyone could see it, or is no task's.
    "bytes",
    "getrandom",
    "lazy_static",
    "log",
    "memchr",
    "once_cell",
    "parking_lot_core",
    "rand",
    "rand_core",
];

/// Those of [`LEFT`] whose code for each thread is generic or inlined, so that it is compiled with the crates that use
/// it: another task of the thread in the middle of that breaks what no two threads can.
const SPREADS: &[&str] = &[
    "arc_swap",
    "critical_section",
    "crossbeam_epoch",
    "scc",
    "sdd",
    "seize",
];

/// They depend on some of [`SPREADS`], but mostly who uses them wants something else of them.
const SPREAD_LITTLE: &[&str] = &["crossbeam"];
/// What marks a library whose package depends on some of [`SPREADS`], beside it.
const MARK: &str = "spreads";

/// If cargo calls this program in the place of the compiler: calls that.
pub(crate) fn compile(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let wrapped = variable(WRAPS)?;
    let arguments: Vec<OsString> = arguments.by_ref().skip(1).collect();
    let (compiler, rest) = arguments.split_first()?;
    // Whoever starts cargo in a build, and comes here again.
    if compiler == "cct" {
        return None;
    }
    let mut command = match wrapped.is_empty() {
        true => Command::new(compiler),
        false => {
            let mut command = Command::new(&wrapped);
            command.arg(compiler);
            command
        }
    };
    let rest = &unstable::without(rest)[..];
    let plain = variable(PLAIN);
    if plain.is_some() && is_told(rest) {
        let name = value(rest, "--crate-name").unwrap_or_default();
        say::note(format_args!(
            "`{}` has one of {} among its dependencies, or a crate that has: no atomic operation in its own code is a \
             scheduling point, as their inlined code knows threads, not tasks. What should interleave there needs a package \
             without them",
            Path::new(name).display(),
            SPREADS.join(", ")
        ));
    }
    command.args(rest);
    if let Some(plain) = plain {
        // Nothing is lost but that those who depend on it are not left.
        let _ = mark(rest);
        command.args(added(rest, Some(&plain)));
    }
    Some(match command.status() {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            ExitCode::from(code.unwrap_or(101))
        }
        Err(error) => {
            let program = command.get_program().to_owned();
            say::error(&anyhow::anyhow!(
                "cannot run `{}`: {error}",
                Path::new(&program).display()
            ));
            ExitCode::from(101)
        }
    })
}

/// The options that a call of the compiler gets beside its own.
fn added(arguments: &[OsString], plain: Option<&OsStr>) -> Vec<OsString> {
    let name = value(arguments, "--crate-name").and_then(OsStr::to_str);
    let for_host = value(arguments, "--target").is_none();
    let Some(name) = name.filter(|_| !for_host) else {
        return Vec::new();
    };
    if WITH_PART.contains(&name) {
        return vec![format!("--cfg={PART}").into()];
    }
    let is_left = name.starts_with("cct_") || LEFT.contains(&name);
    let mut options = match is_left || uses_one_that_spreads(arguments) {
        true => optimised(arguments),
        false => OPTIONS.map(OsString::from).to_vec(),
    };
    if is_left {
        return options;
    }
    // What is linked last is taken where there is nothing else; other crates in the program call it in any case.
    if let (true, Some(plain)) = (is_linked(arguments), plain) {
        options.push(link_option(plain));
    }
    options
}

/// What has a crate that is left count as optimised; cargo says wherever anything is to be.
fn optimised(arguments: &[OsString]) -> Vec<OsString> {
    let options = match codegen(arguments, "opt-level=").last() {
        Some("2" | "3") => &[],
        None | Some("0") => &OPTIMISED[..],
        // With little, generic code that another crate has made is taken from there still.
        Some(_) => &OPTIMISED[..1],
    };
    options.iter().map(OsString::from).collect()
}

/// What is given for an option of code generation, whose name ends with `=`.
fn codegen<'a>(arguments: &'a [OsString], name: &str) -> impl Iterator<Item = &'a str> {
    arguments.iter().filter_map(move |argument| {
        let option = argument.to_str()?;
        option
            .strip_prefix("-C")
            .unwrap_or(option)
            .strip_prefix(name)
    })
}

/// Whether a program or a library for the linker comes of it.
fn is_linked(arguments: &[OsString]) -> bool {
    let kind = value(arguments, "--crate-type").and_then(OsStr::to_str);
    let linked = kind.is_some_and(|kind| ["bin", "cdylib", "dylib"].contains(&kind));
    linked || arguments.iter().any(|argument| argument == "--test")
}

/// Whether the user's own code stays without points, which must not go by in silence.
fn is_told(arguments: &[OsString]) -> bool {
    let own = variable("CARGO_PRIMARY_PACKAGE").is_some();
    own && value(arguments, "--target").is_some() && uses_one_that_spreads(arguments)
}

/// Whether code of [`SPREADS`] may be compiled with this crate.
fn uses_one_that_spreads(arguments: &[OsString]) -> bool {
    spreads_itself(arguments) || libraries(arguments).any(|path| path.with_extension(MARK).exists())
}

/// Whether the crate depends on one of [`SPREADS`]. It goes by the files: a dependency may be renamed.
fn spreads_itself(arguments: &[OsString]) -> bool {
    libraries(arguments)
        .filter_map(|path| path.file_stem()?.to_str()?.strip_prefix("lib"))
        .filter_map(|stem| stem.split('-').next())
        .any(|name| SPREADS.contains(&name))
}

/// The files of the crates that this one depends on.
fn libraries(arguments: &[OsString]) -> impl Iterator<Item = &Path> {
    let given = arguments.windows(2).filter(|pair| pair[0] == "--extern");
    given
        .filter_map(|pair| pair[1].to_str()?.split_once('='))
        .map(|(_, path)| Path::new(path))
}

/// Marks the library that comes of it, if it is to be, and takes back what is no longer so. Who depends on it is compiled later.
fn mark(arguments: &[OsString]) -> Option<()> {
    let name = value(arguments, "--crate-name")?.to_str()?;
    value(arguments, "--target")?;
    let extra = codegen(arguments, "extra-filename=").next();
    let extra = extra.unwrap_or_default();
    let folder = Path::new(value(arguments, "--out-dir")?);
    let mark = folder.join(format!("lib{name}{extra}.{MARK}"));
    match spreads_itself(arguments) && !SPREAD_LITTLE.contains(&name) {
        true => std::fs::write(mark, "").ok(),
        false => std::fs::remove_file(mark).ok(),
    }
}

/// What follows an option.
fn value<'a>(arguments: &'a [OsString], option: &str) -> Option<&'a OsStr> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == option {
            return arguments.next().map(OsString::as_os_str);
        }
        let joined = argument
            .to_str()
            .and_then(|argument| argument.strip_prefix(option));
        if let Some(value) = joined.and_then(|rest| rest.strip_prefix('=')) {
            return Some(OsStr::new(value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{OPTIMISED, OPTIONS, added, mark};
    use std::ffi::{OsStr, OsString};

    fn added_to(arguments: &str) -> Vec<OsString> {
        let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        added(&arguments, Some(OsStr::new("/plain")))
    }

    #[test]
    fn only_what_ends_up_in_tests_is_instrumented() {
        let mut options = OPTIONS.map(OsString::from).to_vec();
        let target = "--target x86_64-unknown-linux-gnu";
        assert_eq!(added_to(&format!("--crate-name flume {target}")), options);
        assert_eq!(
            added_to("--crate-name flume --target=x86_64-unknown-linux-gnu"),
            options
        );
        assert!(added_to("--crate-name flume").is_empty());
        assert!(added_to("--crate-name build_script_build --crate-type bin").is_empty());
        assert!(added_to("-vV").is_empty());
        options.push("-Clink-arg=/plain".into());
        assert_eq!(
            added_to(&format!("--crate-name it --test {target}")),
            options
        );
        assert_eq!(
            added_to(&format!("--crate-name it --crate-type bin {target}")),
            options
        );
    }

    #[test]
    fn a_crate_with_inlined_code_for_each_thread_in_it_is_left() {
        let call = |dependency: &str| {
            format!("--crate-name mine --target x86_64-unknown-linux-gnu --extern {dependency}")
        };
        assert_eq!(
            added_to(&call("arc_swap=/deps/libarc_swap-0a1b.rmeta")),
            OPTIMISED
        );
        assert_eq!(
            added_to(&call("swap=/deps/libarc_swap-0a1b.rlib")),
            OPTIMISED
        );
        assert_eq!(
            added_to(&call("arc_swap=/deps/libmine-0a1b.rmeta")),
            OPTIONS
        );
        assert_eq!(added_to(&call("arc_swap")), OPTIONS);
        // The rest of the program is instrumented.
        let linked = call("arc_swap=/deps/libarc_swap-0a1b.rlib --crate-type bin -C opt-level=3");
        assert_eq!(added_to(&linked), ["-Clink-arg=/plain"]);
    }

    #[test]
    fn what_such_a_crate_makes_generic_is_left_as_well() {
        let folder = std::env::temp_dir().join(format!("cargo-cct-marks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let deps = folder.display();
        let call = |name: &str, on: &str| -> Vec<OsString> {
            let call = format!(
                "--crate-name {name} -C extra-filename=-0a1b --out-dir {deps} --target x86_64-unknown-linux-gnu \
                 --extern {on}={deps}/lib{on}-0a1b.rmeta"
            );
            call.split(' ').map(OsString::from).collect()
        };
        for (name, on) in [
            ("moka", "crossbeam_epoch"),
            ("crossbeam", "crossbeam_epoch"),
            ("mine", "moka"),
            ("other", "mine"),
            ("queues", "crossbeam"),
        ] {
            let _ = mark(&call(name, on));
        }
        assert_eq!(added(&call("mine", "moka"), None), OPTIMISED);
        assert_eq!(added(&call("other", "mine"), None), OPTIONS);
        assert_eq!(added(&call("queues", "crossbeam"), None), OPTIONS);
        let _ = mark(&call("moka", "flume"));
        assert_eq!(added(&call("mine", "moka"), None), OPTIONS);
        std::fs::remove_dir_all(&folder).expect("the end");
    }

    #[test]
    fn cct_and_what_keeps_things_for_threads_are_left() {
        let target = "--target x86_64-unknown-linux-gnu";
        for name in ["tokio", "cct_sync", "tracing_core", "corosensei"] {
            for (level, expected) in [
                ("", &OPTIMISED[..]),
                ("-C opt-level=0", &OPTIMISED[..]),
                ("-C opt-level=1", &OPTIMISED[..1]),
                ("-Copt-level=s", &OPTIMISED[..1]),
                ("-C opt-level=2", &[]),
                ("-Copt-level=3", &[]),
            ] {
                let added = added_to(&format!("--crate-name {name} {target} {level}"));
                assert_eq!(added, expected, "{name} {level}");
            }
        }
        let part = ["--cfg=cct_atomics"].map(OsString::from);
        assert_eq!(
            added_to(&format!("--crate-name cct_executor {target}")),
            part
        );
        assert_eq!(
            added_to(&format!("--crate-name cct_interpose {target}")),
            part
        );
    }
}
