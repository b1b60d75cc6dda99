//! The architecture, held by tests: which room may use which, where printing, the environment,
//! threads and `unsafe` are allowed, what a strategy's file must say, and that the documents name
//! what exists. `ARCHITECTURE.md` gives the reasons.

use std::fs;
use std::path::{Path, PathBuf};

/// Each room of `cct-executor/src`, and the rooms it may use besides itself. Whatever is not listed
/// as a room (`Checker`, `spawn`...) is a re-export at the root, and counts as `root`.
const DOORS: [(&str, &[&str]); 16] = [
    ("words", &[]),
    ("raw", &[]),
    ("strategy", &["words"]),
    ("execution", &["words", "raw"]),
    ("explore", &["words", "strategy", "execution", "task"]),
    ("report", &["words", "explore"]),
    ("shim", &["words", "raw", "execution", "task"]),
    ("task", &["words", "raw", "execution", "shim", "runtime"]),
    ("time", &["words", "raw", "execution", "shim", "task"]),
    ("nondet", &["words", "execution"]),
    ("observe", &["words", "execution"]),
    ("node", &["words", "execution", "task"]),
    (
        "runtime",
        &["words", "execution", "explore", "shim", "task", "time"],
    ),
    ("macros", &["task", "root"]),
    (
        "private",
        &[
            "words",
            "execution",
            "explore",
            "observe",
            "runtime",
            "shim",
            "task",
            "macros",
            "root",
        ],
    ),
    ("lib", &[]),
];

/// Uses that go through no door, each with its reason.
const EXCEPTIONS: [(&str, &str); 1] = [
    // `task::Id` is tokio's name for a plain number.
    ("execution/tasks.rs", "task"),
];

/// What must not be used, and the files that may use it all the same.
const BANS: [(&[&str], &[&str]); 7] = [
    // The test's one line, captured by the test harness.
    (
        &["print!(", "println!(", "eprint!(", "eprintln!(", "dbg!("],
        &["src/private.rs", "explore/lone/explored.rs"],
    ),
    (&["env::var", "env::args"], &["explore/env.rs"]),
    // `env.rs` makes a random seed where the user asks for one; `determinism.rs` warns of the types.
    (
        &["HashMap", "HashSet", "RandomState"],
        &["explore/env.rs", "explore/determinism.rs"],
    ),
    // Budgets, and the clock outside of worlds.
    (
        &[
            "std::time::Instant",
            "time::{Duration, Instant}",
            "SystemTime",
        ],
        &[
            "explore/board.rs",
            "explore/campaign.rs",
            "explore/shrink/search.rs",
            "explore/worker.rs",
            "time/instant.rs",
        ],
    ),
    // Workers; waiting outside of worlds; threads that a scenario has started; the last look for foreign
    // threads before a deadlock; a thread that would abort the process; threads of closures; threads that rest for another.
    (
        &[
            "thread::spawn",
            "thread::Builder",
            "thread::scope",
            "thread::sleep",
            "thread::park",
        ],
        &[
            "execution/last_words.rs",
            "explore/campaign.rs",
            "explore/lone/watch.rs",
            "explore/mod.rs",
            "explore/worker.rs",
            "explore/watched.rs",
            "execution/run.rs",
            "execution/helpers.rs",
            "raw/guest.rs",
            "raw/rest.rs",
            "task/blocking.rs",
        ],
    ),
    (&["unsafe {", "unsafe impl", "unsafe fn"], &["/raw/"]),
    (&["TODO", "FIXME", "XXX", "todo!(", "unimplemented!("], &[]),
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a workspace")
        .to_owned()
}

/// All files with an extension below a folder, in order. Skips what is built and what is foreign.
fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    fn visit(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("");
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    visit(&path, extension, found);
                }
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    let root = workspace();
    let mut found = Vec::new();
    visit(&root.join(folder), extension, &mut found);
    found.sort();
    let relative = |path: &Path| {
        let path = path.strip_prefix(&root).expect("a file of the workspace");
        path.to_str().expect("a name in UTF-8").replace('\\', "/")
    };
    found
        .iter()
        .map(|path| {
            (
                relative(path),
                fs::read_to_string(path).expect("a readable file"),
            )
        })
        .collect()
}

fn document(name: &str) -> String {
    fs::read_to_string(workspace().join(name)).expect("a readable document")
}

/// A file without comments and without its unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or("");
    let lines = text.lines().map(|line| match line.find("//") {
        Some(start) if !line[..start].ends_with(':') => &line[..start],
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The first names of all paths that begin with `crate::`.
fn used_names(code: &str) -> Vec<String> {
    fn first(path: &str) -> Option<String> {
        let path = path.trim_start();
        let end = path
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(path.len());
        (end > 0).then(|| path[..end].to_owned())
    }
    let mut names = Vec::new();
    for (start, _) in code.match_indices("crate::") {
        if code[..start].ends_with('$') {
            continue; // In a macro: what its user's crate sees.
        }
        let rest = &code[start + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.extend(first(rest));
            continue;
        };
        let mut depth = 0;
        let mut item = 0;
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' | ',' if depth == 0 => {
                    names.extend(first(&group[item..i]));
                    item = i + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names
}

fn complain(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// A file of a strategy's tests is a test, though it does not say so itself.
fn is_test_file(path: &str) -> bool {
    let names = [
        "tests.rs",
        "_tests.rs",
        "contract.rs",
        "model.rs",
        "odds.rs",
    ];
    names.iter().any(|name| path.ends_with(name))
}

#[test]
fn rooms_have_one_way_doors() {
    let rooms: Vec<&str> = DOORS.iter().map(|(room, _)| *room).collect();
    let mut complaints = Vec::new();
    for (path, text) in files("cct-executor/src", "rs") {
        let inside = path
            .strip_prefix("cct-executor/src/")
            .expect("a source file");
        let room = inside.split(['/', '.']).next().expect("a name");
        let Some((_, doors)) = DOORS.iter().find(|(name, _)| *name == room) else {
            complaints.push(format!("{path}: room `{room}` is not in the list of doors"));
            continue;
        };
        for name in used_names(&code(&text)) {
            let name = if name == "__private" {
                "private"
            } else {
                &name
            };
            let used = if rooms.contains(&name) { name } else { "root" };
            let open = used == room || doors.contains(&used) || is_test_file(inside);
            if !open && !EXCEPTIONS.contains(&(inside, used)) {
                complaints.push(format!("{path}: `{room}` must not use `crate::{name}`"));
            }
        }
    }
    complain(&complaints);
}

#[test]
fn what_breaks_determinism_is_where_it_may_be() {
    let mut complaints = Vec::new();
    for crate_sources in ["cct-executor/src", "cct-sync/src"] {
        for (path, text) in files(crate_sources, "rs") {
            if is_test_file(&path) {
                continue;
            }
            let code = code(&text);
            for (words, allowed) in BANS {
                if allowed.iter().any(|part| path.contains(part)) {
                    continue;
                }
                let found = words.iter().filter(|word| code.contains(**word));
                complaints.extend(found.map(|word| format!("{path}: `{word}` is banned here")));
            }
        }
    }
    complain(&complaints);
}

/// The state of the engine is in one thread-local; the clock is set in one function. (`panics.rs`
/// and `last_words.rs` have the other thread-locals of the room: hooks and handlers must not touch a world.)
#[test]
fn the_engine_has_one_state_and_one_clock() {
    let mut locals = Vec::new();
    let mut clocks = Vec::new();
    for (path, text) in files("cct-executor/src/execution", "rs") {
        let (_, name) = path.rsplit_once('/').expect("a folder");
        for line in code(&text).lines() {
            if line.contains("thread_local!") {
                locals.push(name.to_owned());
            }
            if ["point.time_ns = ", "point.time_ns += "]
                .iter()
                .any(|set| line.contains(&format!(".{set}")))
            {
                clocks.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert_eq!(locals, ["last_words.rs", "panics.rs", "world.rs"]);
    assert_eq!(clocks.len(), 1, "{clocks:?}");
    assert!(clocks[0].starts_with("timers.rs: "), "{clocks:?}");
}

#[test]
fn cct_sync_builds_on_the_executor_only() {
    let manifest = document("cct-sync/Cargo.toml");
    let (_, rest) = manifest
        .split_once("[dependencies]\n")
        .expect("dependencies");
    let (dependencies, _) = rest.split_once("\n[").expect("another section");
    let ours: Vec<&str> = dependencies
        .lines()
        .filter(|line| line.starts_with("cct-"))
        .collect();
    assert_eq!(ours, ["cct-executor.workspace = true"]);
}

/// What stands in for tokio depends on all of these; did one of them depend on tokio, nothing could be put in its
/// place.
#[test]
fn only_the_stand_in_knows_tokio() {
    for package in [
        "cct-executor",
        "cct-executor/interpose",
        "cct-executor/macros",
        "cct-sync",
        "cct-net",
    ] {
        let manifest = document(&format!("{package}/Cargo.toml"));
        let mut section = "";
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let allowed = section.contains("dev-dependencies") || section == "[package]";
            assert!(allowed || !line.contains("tokio"), "{package}: {line}");
        }
    }
}

/// The citation, the guarantee, what differs from the paper, and the tests that measure it, which
/// must exist.
#[test]
fn strategies_say_what_they_promise() {
    let sources = files("cct-executor/src/strategy", "rs");
    let tests: String = sources.iter().map(|(_, text)| text.as_str()).collect();
    let mut complaints = Vec::new();
    for (path, text) in &sources {
        if is_test_file(path) || !code(text).contains("impl Strategy for ") {
            continue;
        }
        let head: Vec<&str> = text
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .collect();
        let head = head.join("\n").to_lowercase();
        let year = |word: &str| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            word.len() == 4
                && word
                    .parse()
                    .is_ok_and(|year: u32| (1960..2100).contains(&year))
        };
        // Round robin is tokio's scheduler, and no paper.
        if !head.split_whitespace().any(year) && !head.contains("\n after ") {
            complaints.push(format!("{path}: no citation"));
        }
        for part in ["guarantee", "measured by"] {
            if !head.contains(part) {
                complaints.push(format!("{path}: the head does not say `{part}`"));
            }
        }
        if !["departure", "departs", "without its"]
            .iter()
            .any(|word| head.contains(word))
        {
            complaints.push(format!(
                "{path}: no word about departures from what it cites"
            ));
        }
        let measured = head.rsplit_once("measured by").map_or("", |(_, rest)| rest);
        for name in measured.split('`').skip(1).step_by(2) {
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name && name.contains('_') && !tests.contains(&format!("fn {name}(")) {
                complaints.push(format!("{path}: there is no test `{name}`"));
            }
        }
    }
    complain(&complaints);
}

/// Folders whose files are read one by one.
const FOLDERS: [&str; 9] = [
    "cargo-cct",
    "cct-executor",
    "cct-sync",
    "cct-net",
    "cct-tokio",
    "cct-bench",
    "docs",
    "examples",
    "tests",
];

#[test]
fn files_stay_readable() {
    let mut complaints = Vec::new();
    for folder in FOLDERS {
        for (path, text) in files(folder, "rs") {
            let lines = text.lines().count();
            if lines > 600 {
                complaints.push(format!("{path}: {lines} lines, 600 are allowed"));
            }
        }
    }
    complain(&complaints);
}

/// Code in documents is compiled and run, and no test is switched off.
#[test]
fn nothing_is_shown_or_tested_in_name_only() {
    let mut complaints = Vec::new();
    let mut all = Vec::new();
    for folder in FOLDERS {
        all.extend(files(folder, "rs"));
        all.extend(files(folder, "md"));
    }
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ] {
        all.push((name.to_owned(), document(name)));
    }
    for (path, text) in all {
        for (number, line) in (1..).zip(text.lines()) {
            let line = line
                .trim_start()
                .trim_start_matches("//!")
                .trim_start_matches("///");
            let line = line.trim_start();
            let fence = line.strip_prefix("```").unwrap_or("");
            if fence
                .split(',')
                .any(|word| ["ignore", "no_run"].contains(&word.trim()))
            {
                complaints.push(format!("{path}:{number}: a fence that is not run"));
            }
            // There it is about tests that are to panic.
            let about_panics = [
                "cct-tokio/tests/attributes.rs",
                "cct-executor/tests/given.rs",
                "cct-executor/tests/threads.rs",
            ];
            let panics =
                line.starts_with("#[should_panic") && !about_panics.contains(&path.as_str());
            if line.starts_with("#[ignore") || panics {
                complaints.push(format!("{path}:{number}: `{line}`"));
            }
        }
    }
    complain(&complaints);
}

/// The anchor of a heading, as code forges make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter
            .is_alphanumeric()
            .then(|| letter.to_ascii_lowercase()),
    });
    kept.collect()
}

/// Links of the README and the guide lead to files that exist, and to headings in them.
#[test]
fn links_lead_somewhere() {
    let mut pages = files("docs", "md");
    pages.push(("README.md".to_owned(), document("README.md")));
    let mut complaints = Vec::new();
    for (path, text) in &pages {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in text.split("](").skip(1) {
            let (link, _) = link.split_once(')').expect("the end of a link");
            let (file, wanted) = link.split_once('#').unwrap_or((link, ""));
            let target = match (file, file.strip_prefix("../")) {
                ("", _) => path.clone(),
                (_, Some(file)) => file.to_owned(),
                _ if folder.is_empty() => file.to_owned(),
                _ => format!("{folder}/{file}"),
            };
            if file.starts_with("http") {
                continue;
            }
            let is_heading = |line: &str| {
                let heading = line.trim_start_matches('#');
                heading.len() < line.len() && anchor(heading.trim()) == wanted
            };
            let exists = workspace().join(&target).exists();
            let leads = exists && (wanted.is_empty() || document(&target).lines().any(is_heading));
            if !leads {
                complaints.push(format!("{path}: `{link}` leads nowhere"));
            }
        }
    }
    complain(&complaints);
}

const REFERENCE: &str = "docs/reference.md";

/// Words in double quotes between two marks of a source file.
fn quoted(path: &str, from: &str) -> Vec<String> {
    let text = document(path);
    let (_, rest) = text
        .split_once(from)
        .unwrap_or_else(|| panic!("no `{from}` in {path}"));
    let (list, _) = rest.split_once("];").expect("the end of the list");
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_reference_lists_every_option_and_variable_and_strategy() {
    let reference = document(REFERENCE);
    let options = quoted(
        "cct-executor/macros/src/attribute/options.rs",
        "const NAMES: ",
    );
    let variables = quoted("cct-executor/src/explore/env.rs", "const VARIABLES: ");
    let rows = |begins: &str| reference.lines().any(|line| line.starts_with(begins));
    let mut missing = Vec::new();
    for name in options {
        if !rows(&format!("| `{name} = ")) {
            missing.push(format!("{REFERENCE}: no row for option `{name}`"));
        }
    }
    for name in variables {
        if !rows(&format!("| `{name}` |")) {
            missing.push(format!("{REFERENCE}: no row for `{name}`"));
        }
    }
    for strategy in cct_executor::strategy::StrategySpec::all() {
        let parameters = strategy.parameters().iter();
        let parameters: Vec<_> = parameters.map(|p| format!("`{}`", p.name())).collect();
        let parameters = match &*parameters.join(", ") {
            "" => String::new(),
            some => format!("{some} "),
        };
        let row = format!("| `{}` | {parameters}|", strategy.name());
        if !rows(&row) {
            missing.push(format!("{REFERENCE}: no row that begins with {row}"));
        }
    }
    complain(&missing);
}

/// The last column of the table of invariants names tests.
#[test]
fn every_invariant_has_a_test() {
    let text = document("ARCHITECTURE.md");
    let (_, rest) = text
        .split_once("\n## Invariants\n")
        .expect("a section on invariants");
    let (section, _) = rest.split_once("\n## ").expect("another section");
    let mut sources = String::new();
    for folder in FOLDERS {
        sources.extend(files(folder, "rs").into_iter().map(|(_, text)| text));
    }
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(2)
        .collect();
    assert!(rows.len() >= 10, "only {} invariants", rows.len());
    let mut complaints = Vec::new();
    for row in rows {
        let held_by = row
            .trim_end_matches([' ', '|'])
            .rsplit('|')
            .next()
            .expect("a column");
        let names: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            complaints.push(format!("no test: {row}"));
        }
        for name in names {
            if !sources.contains(&format!("fn {name}(")) {
                complaints.push(format!("there is no test `{name}`: {row}"));
            }
        }
    }
    complain(&complaints);
}
