//! How a file is to be opened.

use super::File;
use crate::pool::{self, Site};
use std::fs::OpenOptions as StdOptions;
use std::io;
use std::panic::Location;
use std::path::Path;

/// How a file is to be opened, see [`std::fs::OpenOptions`].
#[derive(Clone, Debug)]
pub struct OpenOptions(StdOptions);

/// Setters with the names and meanings of the standard library's.
macro_rules! sets {
    ($($(#[$about:meta])* $name:ident: $Value:ty;)*) => {$(
        $(#[$about])*
        pub fn $name(&mut self, $name: $Value) -> &mut OpenOptions {
            self.0.$name($name);
            self
        }
    )*};
}

impl OpenOptions {
    /// Nothing is set.
    pub fn new() -> OpenOptions {
        OpenOptions(StdOptions::new())
    }

    sets! {
        /// Whether it can be read.
        read: bool;
        /// Whether it can be written.
        write: bool;
        /// Whether all is written to the end.
        append: bool;
        /// Whether it begins empty.
        truncate: bool;
        /// Whether it is made if it is not there.
        create: bool;
        /// Whether it is made, and must not be there.
        create_new: bool;
    }

    /// Opens a file.
    #[track_caller]
    pub fn open(&self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
        self.clone().open_at(Location::caller(), path)
    }

    pub(super) async fn open_at(self, site: Site, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref().to_owned();
        let std = pool::run(site, "File::open", move || self.0.open(path)).await?;
        Ok(File::opened(std, site))
    }
}

#[cfg(unix)]
mod unix {
    use super::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt as _;

    impl OpenOptions {
        sets! {
            /// The permissions of a file that is made.
            mode: u32;
            /// Flags for the system call.
            custom_flags: i32;
        }
    }
}

#[cfg(windows)]
mod windows {
    use super::OpenOptions;
    use std::os::windows::fs::OpenOptionsExt as _;

    impl OpenOptions {
        sets! {
            /// What the handle can be used for.
            access_mode: u32;
            /// What others may do meanwhile.
            share_mode: u32;
            /// Flags for the system call.
            custom_flags: u32;
            /// Attributes of a file that is made.
            attributes: u32;
            /// What a server may do in the caller's name.
            security_qos_flags: u32;
        }
    }
}

impl From<StdOptions> for OpenOptions {
    fn from(options: StdOptions) -> OpenOptions {
        OpenOptions(options)
    }
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions::new()
    }
}
