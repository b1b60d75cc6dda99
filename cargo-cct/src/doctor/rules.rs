//! What is looked for, and what to do about it.

/// Something that a world does not control, or only on some systems.
pub(super) struct Rule {
    /// What it is.
    pub(super) title: &'static str,
    /// What comes of it, and what to do.
    pub(super) advice: &'static str,
    /// Packages that are about nothing else.
    pub(super) packages: &'static [&'static str],
    /// Words, any of which tells.
    pub(super) words: &'static [&'static str],
    /// Words of which the file must have one as well; none are needed if there are none.
    pub(super) beside: &'static [&'static str],
}

/// The rules, with the advice that is true on these systems.
pub(super) fn for_systems(systems: &[String]) -> Vec<Rule> {
    let virtual_there = systems.iter().all(|system| is_interposed(system));
    let mut rules = Vec::from(ALWAYS);
    rules.extend(if virtual_there {
        INTERPOSED
    } else {
        NOT_INTERPOSED
    });
    rules
}

/// Where the C library's clocks and random bytes are those of the world.
fn is_interposed(system: &str) -> bool {
    ["x86_64-", "aarch64-"]
        .iter()
        .any(|cpu| system.starts_with(cpu))
        && system.ends_with("-linux-gnu")
}

const STD_TIME: Rule = Rule {
    title: "time of the standard library",
    advice: "",
    packages: &[],
    words: &["Instant::now", "SystemTime::now", "UNIX_EPOCH.elapsed"],
    // Tokio has an `Instant`, too.
    beside: &[
        "SystemTime",
        "std::time::Instant",
        "std::time::{Instant",
        "std::time::{Duration, Instant",
        "std::time::{self",
        "use std::time;",
    ],
};
const STD_SLEEP: Rule = Rule {
    title: "threads that sleep",
    advice: "",
    packages: &[],
    words: &["thread::sleep", "park_timeout"],
    beside: &[],
};
const RANDOM: Rule = Rule {
    title: "random bytes of the system",
    advice: "",
    packages: &["getrandom"],
    words: &["RandomState::new", "getrandom::"],
    beside: &[],
};

const INTERPOSED: [Rule; 3] = [
    Rule {
        advice: "virtual on this system, beginning with the year 2026; nothing to do",
        ..STD_TIME
    },
    Rule {
        advice: "virtual time passes on this system, and no real one; nothing to do where a task sleeps",
        ..STD_SLEEP
    },
    Rule {
        advice: "derived from the seed on this system; nothing to do",
        ..RANDOM
    },
];

const NOT_INTERPOSED: [Rule; 3] = [
    Rule {
        advice: "real on this system, so replays may differ: use tokio::time, or run the tests on Linux (GNU)",
        ..STD_TIME
    },
    Rule {
        advice: "blocks all tasks on this system: use tokio::time::sleep, or run the tests on Linux (GNU)",
        ..STD_SLEEP
    },
    Rule {
        advice: "real on this system, so replays may differ: run the tests on Linux (GNU)",
        ..RANDOM
    },
];

const ALWAYS: [Rule; 6] = [
    Rule {
        title: "threads",
        advice: "run outside of the world, and whoever is woken by one fails the test: use \
                 tokio::task::spawn_blocking where a test comes by here",
        packages: &["rayon-core", "threadpool"],
        words: &["thread::spawn", "thread::Builder", "thread::scope"],
        beside: &[],
    },
    Rule {
        title: "the processor's own clock",
        advice: "is not virtual, and decisions that depend on it cannot be replayed: use tokio::time, or a \
                 feature of the crate that takes the system's clock",
        packages: &["quanta", "minstant", "fastant"],
        words: &["_rdtsc", "__rdtscp", "cntvct_el0"],
        beside: &[],
    },
    Rule {
        title: "random numbers past the system",
        advice: "are seeded once a process, or by addresses: the determinism check tells when it matters; take \
                 `rand`, or another hasher",
        packages: &["ahash", "foldhash"],
        words: &["/dev/urandom", "/dev/random", "_rdrand", "rustix::rand"],
        beside: &[],
    },
    Rule {
        title: "tokio::process",
        advice: "starting a process is an error in a world (`Unsupported`): put something else in its place for \
                 tests, or run what it does on a node",
        packages: &[],
        words: &["tokio::process", "process::Command"],
        beside: &["tokio::process", "tokio::{"],
    },
    Rule {
        title: "sockets past tokio",
        advice: "nothing real is connected in a world: use tokio::net. Options that are set on a socket of tokio's \
                 (socket2::SockRef) have no effect and do no harm, and listeners may come from std's bind",
        packages: &["mio", "async-io"],
        words: &[
            "socket2::",
            "mio::",
            "std::net::TcpStream",
            "std::net::TcpListener",
            "std::net::UdpSocket",
            "net::TcpStream::connect(",
        ],
        beside: &["socket2", "mio", "std::net"],
    },
    Rule {
        title: "other runtimes and their timers",
        advice: "have threads of their own: choose the crate's tokio feature",
        packages: &[
            "async-std",
            "smol",
            "futures-timer",
            "async-global-executor",
        ],
        words: &["async_std::", "smol::", "futures_timer::"],
        beside: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(system: &str) -> &'static str {
        let rules = for_systems(&[system.to_owned()]);
        let rule = rules.iter().find(|rule| rule.title == STD_TIME.title);
        rule.expect("a rule about time").advice
    }

    #[test]
    fn what_is_virtual_depends_on_the_system() {
        assert!(advice("x86_64-unknown-linux-gnu").contains("nothing to do"));
        assert!(advice("aarch64-unknown-linux-gnu").contains("nothing to do"));
        for real in [
            "x86_64-unknown-linux-musl",
            "aarch64-apple-darwin",
            "i686-unknown-linux-gnu",
        ] {
            assert!(advice(real).starts_with("real on this system"), "{real}");
        }
    }
}
