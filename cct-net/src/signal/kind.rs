//! Which signals there are, what they are called, and what they do to a process that does not listen.

use std::ffi::c_int;

/// Which signal to listen for, or to send.
///
/// # Differences from tokio
/// Numbers are those of Linux, on every system, and kinds have an order (that of the numbers), so that
/// faults do.
#[derive(Debug, Clone, Copy, Hash, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalKind(c_int);

/// What a signal does to a process that has not registered for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Default {
    End,
    Ignore,
    Stop,
    Continue,
}

/// The highest number of a signal.
pub(super) const NUMBER_MAX: c_int = 64;

/// The C library keeps these to itself.
pub(super) const RESERVED: [c_int; 2] = [32, 33];

/// Names by number, from 1 on; those above are the real-time signals.
const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

impl SignalKind {
    pub(super) const KILL: SignalKind = SignalKind(9);
    pub(super) const CONTINUE: SignalKind = SignalKind(18);
    pub(super) const STOPS: [SignalKind; 4] = [
        SignalKind(19),
        SignalKind(20),
        SignalKind(21),
        SignalKind(22),
    ];
    /// Those that nobody may register for: SIGILL, SIGFPE, SIGKILL, SIGSEGV, SIGSTOP.
    pub(super) const FORBIDDEN: [c_int; 5] = [4, 8, 9, 11, 19];

    /// Any signal, by its number.
    pub const fn from_raw(signum: c_int) -> Self {
        SignalKind(signum)
    }

    /// The signal's number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    /// SIGALRM: a timer is over. Ends a process that does not listen.
    pub const fn alarm() -> Self {
        SignalKind(14)
    }

    /// SIGCHLD: a child process has changed. Ignored by a process that does not listen.
    pub const fn child() -> Self {
        SignalKind(17)
    }

    /// SIGHUP: the terminal is gone; many services read their configuration again. Ends a process that
    /// does not listen.
    pub const fn hangup() -> Self {
        SignalKind(1)
    }

    /// SIGINT: somebody pressed Ctrl-C. Ends a process that does not listen.
    pub const fn interrupt() -> Self {
        SignalKind(2)
    }

    /// SIGIO: a file is ready. Ends a process that does not listen.
    pub const fn io() -> Self {
        SignalKind(29)
    }

    /// SIGPIPE: nobody reads the pipe that is written to. Ignored by a process that does not listen, as
    /// Rust's standard library has it.
    pub const fn pipe() -> Self {
        SignalKind(13)
    }

    /// SIGQUIT: the process is to end with a core dump. Ends a process that does not listen.
    pub const fn quit() -> Self {
        SignalKind(3)
    }

    /// SIGTERM: the process is to end. Ends a process that does not listen.
    pub const fn terminate() -> Self {
        SignalKind(15)
    }

    /// SIGUSR1: for the program's own use. Ends a process that does not listen.
    pub const fn user_defined1() -> Self {
        SignalKind(10)
    }

    /// SIGUSR2: for the program's own use. Ends a process that does not listen.
    pub const fn user_defined2() -> Self {
        SignalKind(12)
    }

    /// SIGWINCH: the terminal has another size. Ignored by a process that does not listen.
    pub const fn window_change() -> Self {
        SignalKind(28)
    }

    /// The name that reports use, if it has one of its own.
    pub(crate) fn name(self) -> Option<&'static str> {
        let at = usize::try_from(self.0).ok()?.checked_sub(1)?;
        NAMES.get(at).copied()
    }

    /// What reports call it.
    pub(super) fn text(self) -> String {
        self.name()
            .map_or_else(|| format!("signal {}", self.0), str::to_owned)
    }

    /// Whether there is such a signal.
    pub(crate) fn exists(self) -> bool {
        (1..=NUMBER_MAX).contains(&self.0)
    }

    pub(super) fn default_action(self) -> Default {
        match self {
            SignalKind::CONTINUE => Default::Continue,
            kind if SignalKind::STOPS.contains(&kind) => Default::Stop,
            // SIGPIPE, SIGCHLD, SIGURG, SIGWINCH.
            SignalKind(13 | 17 | 23 | 28) => Default::Ignore,
            _ => Default::End,
        }
    }
}

impl From<c_int> for SignalKind {
    fn from(signum: c_int) -> Self {
        SignalKind::from_raw(signum)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.as_raw_value()
    }
}
