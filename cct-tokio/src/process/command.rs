//! A process as it is to be started.

use super::Child;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command as StdCommand, ExitStatus, Output, Stdio};

/// A process as it is to be started, see [`std::process::Command`].
///
/// # Differences from tokio
/// It can only be started in a test that is run once: see the [module](super).
#[derive(Debug)]
pub struct Command {
    std: StdCommand,
    kill_on_drop: bool,
}

/// Setters that do what those of the standard library do.
macro_rules! sets {
    ($($(#[$about:meta])* $name:ident $([$T:ident: $($Bound:tt)*])? ($arg:ident: $Arg:ty);)*) => {$(
        $(#[$about])*
        pub fn $name $(<$T: $($Bound)*>)? (&mut self, $arg: $Arg) -> &mut Command {
            self.std.$name($arg);
            self
        }
    )*};
}

impl Command {
    /// A process of this program.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Command::from(StdCommand::new(program))
    }

    /// The standard library's command.
    pub fn as_std(&self) -> &StdCommand {
        &self.std
    }

    /// The standard library's command.
    pub fn as_std_mut(&mut self) -> &mut StdCommand {
        &mut self.std
    }

    /// The standard library's command.
    pub fn into_std(self) -> StdCommand {
        self.std
    }

    /// Adds arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets a variable of its environment.
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.env(key, val);
        self
    }

    /// Sets variables of its environment.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// It inherits no variable.
    pub fn env_clear(&mut self) -> &mut Command {
        self.std.env_clear();
        self
    }

    sets! {
        /// Adds an argument.
        arg[S: AsRef<OsStr>](arg: S);
        /// It does not inherit this variable.
        env_remove[K: AsRef<OsStr>](key: K);
        /// Where it begins.
        current_dir[P: AsRef<Path>](dir: P);
        /// Its input.
        stdin[T: Into<Stdio>](cfg: T);
        /// Its output.
        stdout[T: Into<Stdio>](cfg: T);
        /// Its output for errors.
        stderr[T: Into<Stdio>](cfg: T);
    }

    /// Whether it ends when its handle is dropped.
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Command {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// Whether it ends when its handle is dropped.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Starts it.
    ///
    /// # Errors
    /// `Unsupported` while the test is explored; those of the system.
    pub fn spawn(&mut self) -> io::Result<Child> {
        Child::start(&mut self.std, self.kill_on_drop)
    }

    /// Starts it, and waits until it has ended; nobody has its pipes. It is started now.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn();
        async move {
            let mut child = child?;
            // Who waits for them to be closed would wait for ever.
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Starts it, and takes what it has written when it has ended. It is started now.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.std.stdout(Stdio::piped());
        self.std.stderr(Stdio::piped());
        let child = self.spawn();
        async move { child?.wait_with_output().await }
    }
}

#[cfg(unix)]
mod unix {
    use super::{Command, OsStr};
    use std::os::unix::process::CommandExt as _;

    impl Command {
        sets! {
            /// Its user.
            uid(id: u32);
            /// Its group of users.
            gid(id: u32);
            /// What it is told that its name is.
            arg0[S: AsRef<OsStr>](arg: S);
            /// Its group of processes.
            process_group(pgroup: i32);
        }
    }
}

#[cfg(windows)]
mod windows {
    use super::{Command, OsStr};
    use std::os::windows::process::CommandExt as _;

    impl Command {
        sets! {
            /// Adds text to the command line as it is.
            raw_arg[S: AsRef<OsStr>](text_to_append_as_is: S);
            /// Flags for the system call.
            creation_flags(flags: u32);
        }
    }
}

impl From<StdCommand> for Command {
    fn from(std: StdCommand) -> Command {
        Command {
            std,
            kill_on_drop: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Command;
    use cct_executor::Checker;
    use std::io::ErrorKind;

    #[test]
    fn what_was_put_together_is_there_and_cannot_be_started() {
        let checker = Checker::new().name("process").use_environment(false);
        let report = checker.iterations(1).run(|| async {
            let mut command = Command::new("ls");
            command.arg("-l").args(["a", "b"]).kill_on_drop(true);
            assert!(command.get_kill_on_drop());
            assert_eq!(command.as_std().get_args().count(), 3);
            let error = command.spawn().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains("to start `ls`"), "{error}");
            let error = command.output().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            let error = command.status().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        });
        report.assert_passed();
    }

    #[test]
    fn who_counts_on_a_process_hears_that_there_is_none() {
        let checker = Checker::new().name("process").use_environment(false);
        let report = checker.iterations(3).run(|| async {
            Command::new("ls").spawn().unwrap();
        });
        let told = report.text();
        for part in [
            "this was asked for: to start `ls`",
            "so tokio should fail as well, unless what was asked for answers there",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
