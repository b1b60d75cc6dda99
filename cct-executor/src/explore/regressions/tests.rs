use super::*;
use crate::words::{Decision, DecisionKind, WorldConfig};
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of its own for each test, gone when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Directory {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cct-regressions-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("bank.cct-regressions")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn token(test: &str, length: usize) -> ReplayToken {
    let decision = |i| Decision {
        kind: DecisionKind::Schedule,
        index: i as u32 % 3,
        arity: 3,
    };
    ReplayToken::new(
        test,
        &WorldConfig::default(),
        (0..length).map(decision).collect(),
        0,
    )
}

fn case(test: &str, length: usize, reason: &str) -> Case {
    Case {
        test: test.to_owned(),
        token: token(test, length),
        reason: reason.to_owned(),
    }
}

fn problem(text: &[u8]) -> String {
    let directory = Directory::new();
    fs::write(directory.file(), text).unwrap();
    let message = load(&directory.file(), "bank::a").unwrap_err().to_string();
    assert_eq!(
        fs::read(directory.file()).unwrap(),
        text,
        "a failed read left the file alone"
    );
    message.replace(&directory.file().display().to_string(), "FILE")
}

#[test]
fn what_was_written_is_read() {
    let directory = Directory::new();
    let file = directory.file();
    assert_eq!(load(&file, "bank::a").unwrap(), []);
    let (a, b, other) = (
        case("bank::a", 5, "deadlock: 2"),
        case("bank::a", 9, ""),
        case("bank::b", 5, "panic"),
    );
    for case in [&a, &other, &b, &a] {
        append(&file, case).unwrap();
    }
    assert_eq!(load(&file, "bank::a").unwrap(), [a.clone(), b.clone()]);
    assert_eq!(
        load(&file, "bank::b").unwrap(),
        std::slice::from_ref(&other)
    );
    assert_eq!(load(&file, "bank").unwrap(), []);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, format!("{HEADER}{a}\n{other}\n{b}\n"));
    assert!(HEADER.lines().all(|line| line.starts_with('#')));
}

#[test]
fn the_same_trace_is_written_once_whatever_the_reason() {
    let directory = Directory::new();
    append(&directory.file(), &case("bank::a", 5, "panic at bank.rs:7")).unwrap();
    append(&directory.file(), &case("bank::a", 5, "panic at bank.rs:8")).unwrap();
    assert_eq!(load(&directory.file(), "bank::a").unwrap().len(), 1);
}

#[test]
fn a_reason_stays_on_its_line() {
    let reason = format!(
        "panic:\n  left: 1\r\n\tright # 2 \x1b[0m {}",
        "é".repeat(300)
    );
    let directory = Directory::new();
    append(&directory.file(), &case("bank::a", 2, &reason)).unwrap();
    append(&directory.file(), &case("bank::a", 3, "next")).unwrap();
    let cases = load(&directory.file(), "bank::a").unwrap();
    assert_eq!(cases.len(), 2);
    assert!(
        cases[0]
            .reason
            .starts_with("panic: left: 1 right # 2 [0m éé")
    );
    assert_eq!(cases[0].reason.chars().count(), TEXT_MAX + 1);
    assert_eq!(
        cases[0].to_string(),
        case("bank::a", 2, &cases[0].reason).to_string()
    );
}

#[test]
fn an_open_last_line_is_closed_first() {
    let directory = Directory::new();
    let first = case("bank::a", 4, "by hand");
    fs::write(directory.file(), format!("\u{20}\r\n# mine\r\n  {first}")).unwrap();
    let second = case("bank::a", 6, "");
    append(&directory.file(), &second).unwrap();
    assert_eq!(load(&directory.file(), "bank::a").unwrap(), [first, second]);
}

#[test]
fn bad_lines_are_named() {
    let good = case("bank::a", 5, "deadlock");
    let token = good.token.to_string();
    let cut = &token[..token.len() - 1];
    let remedy = "Restore the line from version control or delete it";
    let form = |line: &str| {
        format!("FILE:2: invalid line `{line}`: expected `test token # what failed`. {remedy}")
    };
    for line in ["<<<<<<<", "bank::a", &format!("bank::a {token} deadlock")] {
        assert_eq!(problem(format!("{good}\n{line}\n").as_bytes()), form(line));
    }
    assert_eq!(
        problem(format!("# mine\n\nbank::b {cut} # x\n").as_bytes()),
        format!(
            "FILE:3: invalid line `bank::b {cut} # x`: the token is cut short: {} of {} \
             characters are there; copy the whole token from the report. {remedy}",
            cut.len(),
            token.len()
        )
    );
    let renamed = problem(format!("bank::b {token}\n").as_bytes());
    assert!(
        renamed.contains("token belongs to another test: "),
        "{renamed}"
    );
    let conflict = problem(b"<<<<<<< HEAD\n");
    assert!(
        conflict.contains("`HEAD` is not a replay token"),
        "{conflict}"
    );
    let long = problem(format!("bank::a {}\n", "A".repeat(10_000)).as_bytes());
    assert!(long.len() < 600, "{long}");
    let newer = problem(b"bank::a c2-AAAA\n");
    assert!(
        newer.contains("token is for format 2, this build reads 1"),
        "{newer}"
    );
}

#[test]
fn an_unreadable_file_is_an_error_for_both() {
    let message = problem(b"bank::a \xff\xfe\n");
    let start = "failed to read the remembered failures in FILE: ";
    assert!(message.starts_with(start), "{message}");
    assert!(message.ends_with("set CCT_REGRESSIONS=off"), "{message}");
    let directory = Directory::new();
    fs::write(directory.file(), b"\xff").unwrap();
    append(&directory.file(), &case("bank::a", 1, "")).unwrap_err();
    assert_eq!(fs::read(directory.file()).unwrap(), b"\xff");
}

#[test]
fn failing_to_write_is_a_value() {
    let directory = Directory::new();
    let file = directory.0.join("missing").join("bank.cct-regressions");
    let message = append(&file, &case("bank::a", 1, ""))
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with(&format!("failed to write to {}: ", file.display())),
        "{message}"
    );
    for name in ["", "two words", "#a"] {
        let message = append(&directory.file(), &case(name, 1, ""))
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with(&format!("the name `{name}` cannot stand")),
            "{message}"
        );
    }
    assert!(!directory.file().exists());
}

#[expect(
    clippy::disallowed_methods,
    reason = "parallel tests are what is tested"
)]
#[test]
fn many_may_write_at_once() {
    const THREADS: usize = 8;
    const EACH: usize = 20;
    let directory = Directory::new();
    let writers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let file = directory.file();
            std::thread::spawn(move || {
                for i in 0..EACH {
                    let own = format!("bank::t{thread}");
                    append(&file, &case(&own, 100 + i, "own")).unwrap();
                    append(&file, &case("bank::shared", 100 + i, "shared")).unwrap();
                    assert_eq!(load(&file, &own).unwrap().len(), i + 1);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let text = fs::read_to_string(directory.file()).unwrap();
    assert!(text.starts_with(HEADER));
    assert_eq!(
        text.lines().count(),
        HEADER.lines().count() + (THREADS + 1) * EACH
    );
    assert_eq!(load(&directory.file(), "bank::shared").unwrap().len(), EACH);
}

#[test]
fn the_file_lies_beside_the_test() {
    let directory = Directory::new();
    let member = directory.0.join("crates").join("bank");
    fs::create_dir_all(member.join("tests")).unwrap();
    fs::write(member.join("tests").join("transfer.rs"), "").unwrap();
    let beside = member.join("tests").join("transfer.cct-regressions");
    let absolute = member
        .join("tests")
        .join("transfer.rs")
        .display()
        .to_string();
    for source in [
        "tests/transfer.rs",
        "crates/bank/tests/transfer.rs",
        &absolute,
    ] {
        assert_eq!(path(&member, source).as_ref(), Some(&beside), "{source}");
    }
    assert_eq!(path(&member, "tests/moved.rs"), None);
    assert_eq!(path(&member, "tests"), None);
}
