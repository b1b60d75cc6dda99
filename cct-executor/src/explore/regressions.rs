//! Remembered failures: a text file beside the test, one failing trace a line.
//!
//! Owns the file's place and form. Does not replay, and does not decide whether to write.
//!
//! 1. A line, once written, is only ever removed by people.
//! 2. A file that cannot be read is an error and stays as it is.
//! 3. Tests of several threads and processes may append at once: a line is one write to the end.

use crate::words::{ReplayToken, TokenError};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const HEADER: &str = "\
# Schedules under which tests of this file have failed, found by cct.
#
# Each is replayed before anything new is tried, so that a failure once found stays found.
# Commit this file. Delete a line when its test is gone or has changed so that the schedule no
# longer fits.
#
# test, replay token, and what failed at the time
";

/// Characters of a reason or of a bad line that are kept.
const TEXT_MAX: usize = 160;

/// One remembered failure. [`Display`](fmt::Display) gives its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Case {
    /// Name of the test, without white space.
    pub(crate) test: String,
    /// What to replay.
    pub(crate) token: ReplayToken,
    /// What failed, for people; only the beginning, on one line, is written.
    pub(crate) reason: String,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.test, self.token)?;
        let reason = one_line(&self.reason);
        if reason.is_empty() {
            Ok(())
        } else {
            write!(f, " # {reason}")
        }
    }
}

/// The beginning of a text, in one line of printable characters.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let line = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    match line.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Where the failures of the tests in a source file are remembered: beside it.
///
/// `source` is what `file!()` gives: relative to the directory the compiler was started in, which
/// is the package's or one above it. `None` if the source file is not found.
pub(crate) fn path(manifest_dir: &Path, source: &str) -> Option<PathBuf> {
    let candidates = manifest_dir
        .ancestors()
        .map(|directory| directory.join(source));
    let source = candidates
        .into_iter()
        .find(|candidate| candidate.is_file())?;
    Some(source.with_extension("cct-regressions"))
}

/// The remembered failures of a test, in the order they were found. No file, no failures.
///
/// # Errors
/// If the file cannot be read, or if any line of it cannot be understood.
pub(crate) fn load(path: &Path, test: &str) -> Result<Vec<Case>, RegressionsError> {
    let text = read(path).map_err(|error| Kind::Read {
        path: path.to_owned(),
        error,
    })?;
    let mut cases = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        match parse_line(line) {
            Ok(Some(case)) if case.test == test => cases.push(case),
            Ok(_) => {}
            Err(problem) => {
                let (path, text) = (path.to_owned(), one_line(line));
                return Err(Kind::Line {
                    path,
                    number,
                    text,
                    problem,
                }
                .into());
            }
        }
    }
    Ok(cases)
}

/// Writes a failure down, unless the same trace of the same test is there already.
///
/// # Errors
/// If the file cannot be read or written, or the name cannot stand in it.
pub(crate) fn append(path: &Path, case: &Case) -> Result<(), RegressionsError> {
    // Within one process, looking for the line and writing it is one act.
    static WRITING: Mutex<()> = Mutex::new(());
    if !is_name(&case.test) {
        return Err(Kind::Name {
            test: case.test.clone(),
        }
        .into());
    }
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = read(path).map_err(|error| Kind::Read {
        path: path.to_owned(),
        error,
    })?;
    let start = format!("{} {}", case.test, case.token);
    let is_same = |line: &str| line.split_whitespace().take(2).eq(start.split(' '));
    if text.lines().any(is_same) {
        return Ok(());
    }
    // People's editors may leave the last line open.
    let close = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    write(path, &format!("{close}{case}\n")).map_err(|error| {
        Kind::Write {
            path: path.to_owned(),
            error,
        }
        .into()
    })
}

/// Adds to the end, in one write; a new file begins with the header.
fn write(path: &Path, line: &str) -> io::Result<()> {
    let end = |file: &mut OpenOptions| file.append(true).open(path);
    match end(OpenOptions::new().create_new(true)) {
        Ok(mut file) => file.write_all(format!("{HEADER}{line}").as_bytes()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            end(OpenOptions::new().create(true))?.write_all(line.as_bytes())
        }
        Err(error) => Err(error),
    }
}

/// The file's text, or nothing if there is no file.
fn read(path: &Path) -> io::Result<String> {
    const TRIES: usize = 50;
    let mut text = read_once(path)?;
    for _ in 0..TRIES {
        if text.is_empty() || text.ends_with('\n') {
            break;
        }
        // An open last line may be one that another process is writing.
        std::thread::yield_now();
        let again = read_once(path)?;
        if again == text {
            break;
        }
        text = again;
    }
    Ok(text)
}

fn read_once(path: &Path) -> io::Result<String> {
    match File::open(path) {
        Ok(file) => io::read_to_string(file),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// Whether a line can begin with this as the name of a test.
fn is_name(test: &str) -> bool {
    !test.is_empty() && !test.starts_with('#') && !test.contains(char::is_whitespace)
}

/// The case of a line; `None` for comments and empty lines.
fn parse_line(line: &str) -> Result<Option<Case>, Problem> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (test, rest) = line.split_once(char::is_whitespace).ok_or(Problem::Form)?;
    let (token, reason) = match rest.trim_start().split_once(char::is_whitespace) {
        Some((token, reason)) => {
            let reason = reason.trim_start().strip_prefix('#').ok_or(Problem::Form)?;
            (token, reason.trim())
        }
        None => (rest.trim_start(), ""),
    };
    let token: ReplayToken = token.parse().map_err(Problem::Token)?;
    token.for_test(test).map_err(Problem::Token)?;
    Ok(Some(Case {
        test: test.to_owned(),
        token,
        reason: reason.to_owned(),
    }))
}

/// Why remembered failures cannot be read or written.
#[derive(Debug)]
pub(crate) struct RegressionsError {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Read {
        path: PathBuf,
        error: io::Error,
    },
    Write {
        path: PathBuf,
        error: io::Error,
    },
    Line {
        path: PathBuf,
        number: usize,
        text: String,
        problem: Problem,
    },
    Name {
        test: String,
    },
}

#[derive(Debug)]
enum Problem {
    Form,
    Token(TokenError),
}

impl From<Kind> for RegressionsError {
    fn from(kind: Kind) -> Self {
        RegressionsError { kind }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Form => write!(f, "expected `test token # what failed`"),
            Problem::Token(error) => write!(f, "{error}"),
        }
    }
}

impl fmt::Display for RegressionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Read { path, error } => write!(
                f,
                "failed to read the remembered failures in {}: {error}; \
                 make the file readable text, or set CCT_REGRESSIONS=off",
                path.display()
            ),
            Kind::Write { path, error } => {
                write!(f, "failed to write to {}: {error}", path.display())
            }
            Kind::Line {
                path,
                number,
                text,
                problem,
            } => write!(
                f,
                "{}:{number}: invalid line `{text}`: {problem}. \
                 Restore the line from version control or delete it",
                path.display()
            ),
            Kind::Name { test } => write!(
                f,
                "the name `{test}` cannot stand in a file of remembered failures: \
                 expected one without white space that does not start with `#`"
            ),
        }
    }
}

impl std::error::Error for RegressionsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Read { error, .. } | Kind::Write { error, .. } => Some(error),
            Kind::Line {
                problem: Problem::Token(error),
                ..
            } => Some(error),
            Kind::Line { .. } | Kind::Name { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
