//! What is known of an open file, and can be changed about it.

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from the virtual clock"
)]

use super::file::File;
use super::metadata::{Metadata, Permissions};
use super::times::FileTimes;
use crate::node::wall_clock::SystemTime;
use cct_executor::shim::{Access, OpKind};
use std::io;
use std::panic::Location;

impl File {
    /// What is known of the file. Does not wait for a write in the background: the size may be the one
    /// before it. [`flush`](Self::flush) first.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Errors
    /// `Other` after a crash of its node.
    #[track_caller]
    pub fn metadata(&self) -> impl Future<Output = io::Result<Metadata>> + Send + '_ {
        let what = (OpKind::Get, Access::Read);
        self.operation_at_once(what, Location::caller(), |file| {
            let disk = &file.drive;
            disk.with(|disk| Metadata::of(disk.tree.inode(file.ino)))
        })
    }

    /// Changes who may do what with the file. Does not wait for a write in the background.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, it happens, now or later.
    ///
    /// # Errors
    /// `Other` after a crash of its node.
    #[track_caller]
    pub fn set_permissions(
        &self,
        permissions: Permissions,
    ) -> impl Future<Output = io::Result<()>> + Send + '_ {
        let what = (OpKind::Set, Access::Write);
        self.operation_at_once(what, Location::caller(), move |file| {
            let mode = permissions.bits();
            file.drive.with(|disk| disk.tree.set_mode(file.ino, mode))
        })
    }

    /// Changes when the file is said to have been read and changed.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, it happens, now or later.
    ///
    /// # Errors
    /// `Other` after a crash of its node.
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> impl Future<Output = io::Result<()>> + Send + '_ {
        let what = (OpKind::Set, Access::Write);
        self.operation(what, Location::caller(), move |file| {
            file.drive.with(|disk| {
                let now = disk.tree.now();
                disk.tree.inode(file.ino).times.set(&times, now);
            })
        })
    }

    /// As [`set_times`](Self::set_times), of the time of the last change alone.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, it happens, now or later.
    ///
    /// # Errors
    /// `Other` after a crash of its node.
    #[track_caller]
    pub fn set_modified(
        &self,
        time: SystemTime,
    ) -> impl Future<Output = io::Result<()>> + Send + '_ {
        self.set_times(FileTimes::new().set_modified(time))
    }
}
