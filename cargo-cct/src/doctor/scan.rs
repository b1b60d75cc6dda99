//! A search for words in a package's sources.

use super::rules::Rule;
use cargo_metadata::{Package, TargetKind};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A file without its comments; the lines are still where they were.
pub(super) struct SourceFile {
    /// From the package's folder on.
    path: PathBuf,
    text: String,
}

/// Where a word stands.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    path: PathBuf,
    line: usize,
    word: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, word } = self;
        write!(f, "{}:{line} ({word})", path.display())
    }
}

/// The sources of a package's library and programs.
pub(super) fn sources(package: &Package) -> Vec<SourceFile> {
    let base = package.manifest_path.parent().unwrap_or("".into());
    let kinds = [TargetKind::Lib, TargetKind::RLib, TargetKind::Bin];
    let targets = package.targets.iter();
    let targets = targets.filter(|target| kinds.iter().any(|kind| target.is_kind(kind.clone())));
    let mut folders: Vec<&Path> = targets
        .filter_map(|target| Some(target.src_path.parent()?.as_std_path()))
        .collect();
    folders.sort();
    // A folder within another is read with it.
    folders.dedup_by(|inner, outer| inner.starts_with(outer));
    let mut files = Vec::new();
    for folder in folders {
        walk(folder, &mut files);
    }
    files.sort();
    let read = files.into_iter().filter_map(|path| {
        let text = without_comments(&fs::read_to_string(&path).ok()?);
        let path = path.strip_prefix(base).unwrap_or(&path).to_owned();
        Some(SourceFile { path, text })
    });
    read.collect()
}

const NOT_READ: [&str; 5] = ["tests", "benches", "examples", "target", ".git"];
const TEST_FILES: [&str; 2] = ["tests.rs", "test.rs"];

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && !NOT_READ.iter().any(|not| name == *not) {
            walk(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "rs")
            && !TEST_FILES.iter().any(|test| name == *test)
        {
            files.push(path);
        }
    }
}

/// Where any of the rule's words stand.
pub(super) fn places(files: &[SourceFile], rule: &Rule) -> Vec<Place> {
    let mut places = Vec::new();
    for SourceFile { path, text } in files {
        let beside = rule.beside.is_empty() || rule.beside.iter().any(|word| text.contains(word));
        if !beside || !rule.words.iter().any(|word| text.contains(word)) {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            let word = rule.words.iter().find(|word| has_word(line, word));
            places.extend(word.map(|word| Place {
                path: path.clone(),
                line: number,
                word,
            }));
        }
    }
    places
}

/// `mio::` is not in `tokio_mio::`, nor in `kamio::`.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Line comments, block comments, and what follows the beginning of a module of tests.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let opens_tests = |next: &&str| next.trim_start().starts_with("mod ") && next.contains('{');
        if depth == 0 && is_for_tests(line) && lines.peek().is_some_and(opens_tests) {
            break;
        }
        strip_line(line, &mut depth, &mut out);
        out.push('\n');
    }
    out
}

/// `#[cfg(test)]`, `#[cfg(all(test, loom))]`.
fn is_for_tests(line: &str) -> bool {
    let condition = line.trim().strip_prefix("#[cfg(");
    condition.is_some_and(|condition| {
        let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == "test") && !condition.contains("not(test")
    })
}

/// `//` within a string cuts the line short, which loses little.
fn strip_line(line: &str, depth: &mut usize, out: &mut String) {
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let step = if rest.starts_with("/*") {
            *depth += 1;
            2
        } else if rest.starts_with("*/") && *depth > 0 {
            *depth -= 1;
            2
        } else if *depth == 0 && rest.starts_with("//") {
            return;
        } else {
            if *depth == 0 {
                out.push(c);
            }
            c.len_utf8()
        };
        rest = &rest[step..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        title: "threads",
        advice: "",
        packages: &[],
        words: &["thread::spawn", "mio::"],
        beside: &[],
    };

    fn found(text: &str) -> Vec<usize> {
        let file = SourceFile {
            path: "src/lib.rs".into(),
            text: without_comments(text),
        };
        places(&[file], &RULE)
            .iter()
            .map(|place| place.line)
            .collect()
    }

    #[test]
    fn words_in_comments_do_not_count() {
        assert_eq!(found("a();\nstd::thread::spawn(f);\n"), [2]);
        assert!(found("// thread::spawn\n/* thread::spawn\nthread::spawn */ b();\n").is_empty());
        assert_eq!(found("/* /* */ thread::spawn */ thread::spawn(f);"), [1]);
    }

    #[test]
    fn tests_within_a_file_do_not_count() {
        let text = "f();\n#[cfg(test)]\nmod tests {\n    thread::spawn(g);\n}\n";
        assert!(found(text).is_empty());
        assert!(found(&text.replace("(test)", "(all(test, fuzz))")).is_empty());
        assert_eq!(found(&text.replace("(test)", "(not(test))")), [4]);
        // A module in another file, or one item: the rest of this file counts.
        assert_eq!(found("#[cfg(test)]\nmod tests;\nthread::spawn(g);\n"), [3]);
    }

    #[test]
    fn parts_of_longer_words_do_not_count() {
        assert_eq!(
            found("kamio::run();\nmio::Poll::new();\nmy_mio::x();\n"),
            [2]
        );
    }

    #[test]
    fn words_may_need_others_beside_them() {
        let file = |text: &str| SourceFile {
            path: "src/lib.rs".into(),
            text: text.into(),
        };
        let rule = Rule {
            words: &["Instant::now"],
            beside: &["std::time"],
            ..RULE
        };
        let tokio = file("use tokio::time::Instant;\nInstant::now();\n");
        assert!(places(&[tokio], &rule).is_empty());
        let std = file("use std::time::Instant;\nInstant::now();\n");
        let places = places(&[std], &rule);
        assert_eq!(places.len(), 1);
        assert_eq!(places[0].to_string(), "src/lib.rs:2 (Instant::now)");
    }
}
