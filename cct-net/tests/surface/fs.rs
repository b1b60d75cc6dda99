//! The names of `tokio::fs` that need neither file descriptors nor tokio's traits.

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from files"
)]

use super::ask::*;
use super::rt::fs::*;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::task::{Context, Poll};
use std::time::SystemTime;
pub(crate) fn free() {
    let _ = || {
        sent::<io::Result<Vec<u8>>>(read("/a"));
        sent::<io::Result<String>>(read_to_string("/a"));
        sent::<io::Result<()>>(write("/a", b"x"));
        sent::<io::Result<()>>(write(PathBuf::new(), String::new()));
        sent::<io::Result<u64>>(copy("/a", "/b"));
        sent::<io::Result<()>>(rename("/a", "/b"));
        sent::<io::Result<()>>(hard_link("/a", "/b"));
        sent::<io::Result<()>>(symlink("/a", "/b"));
        sent::<io::Result<PathBuf>>(read_link("/a"));
        sent::<io::Result<()>>(remove_file("/a"));
        sent::<io::Result<()>>(create_dir("/a"));
        sent::<io::Result<()>>(create_dir_all("/a"));
        sent::<io::Result<()>>(remove_dir("/a"));
        sent::<io::Result<()>>(remove_dir_all("/a"));
        sent::<io::Result<ReadDir>>(read_dir("/a"));
        sent::<io::Result<bool>>(try_exists("/a"));
        sent::<io::Result<PathBuf>>(canonicalize("/a"));
        sent::<io::Result<File>>(File::open("/a"));
        sent::<io::Result<File>>(File::create("/a"));
        sent::<io::Result<File>>(File::create_new("/a"));
        is::<OpenOptions>(File::options());
    };
    let _ = |f: &mut File| {
        sent::<io::Result<()>>(f.sync_all());
        sent::<io::Result<()>>(f.sync_data());
        sent::<io::Result<()>>(f.set_len(1));
        sent::<io::Result<File>>(f.try_clone());
        sent::<io::Result<()>>(f.set_times(FileTimes::new()));
        sent::<io::Result<()>>(f.set_modified(SystemTime::UNIX_EPOCH));
        is::<()>(f.set_max_buf_size(1));
        is::<usize>(f.max_buf_size());
    };
    is_debug::<File>();
    let _ = |t: SystemTime| is::<FileTimes>(FileTimes::new().set_accessed(t).set_modified(t));
    is_debug::<FileTimes>();
    is_clone::<FileTimes>();
    is_default::<FileTimes>();
    let _ = async || {
        let metadata = metadata("/a").await.unwrap();
        is::<io::Result<SystemTime>>(metadata.modified());
        is::<io::Result<SystemTime>>(metadata.accessed());
        is::<io::Result<SystemTime>>(metadata.created());
        let mut permissions = metadata.permissions();
        is::<bool>(permissions.readonly());
        is::<u32>(permissions.mode());
        permissions.set_mode(0o600);
        is::<io::Result<()>>(set_permissions("/a", permissions).await);
    };
    #[cfg(target_os = "linux")]
    let _ = |o: &mut OpenOptions| is::<&mut OpenOptions>(o.custom_flags(0));
    let _ = |o: &mut OpenOptions| {
        o.read(true)
            .write(true)
            .append(true)
            .truncate(true)
            .create(true)
            .create_new(true)
            .mode(0o600);
        sent::<io::Result<File>>(o.open("/a"));
    };
    is_clone::<OpenOptions>();
    is_debug::<OpenOptions>();
    is_default::<OpenOptions>();
    let _: fn() -> OpenOptions = OpenOptions::new;
    let _ = |d: &mut DirBuilder| {
        d.recursive(true).mode(0o700);
        sent::<io::Result<()>>(d.create("/a"));
    };
    is_debug::<DirBuilder>();
    is_default::<DirBuilder>();
    let _: fn() -> DirBuilder = DirBuilder::new;
    let _ = |d: &mut ReadDir, e: &DirEntry, cx: &mut Context<'_>| {
        sent::<io::Result<Option<DirEntry>>>(d.next_entry());
        is::<Poll<io::Result<Option<DirEntry>>>>(d.poll_next_entry(cx));
        is::<PathBuf>(e.path());
        is::<OsString>(e.file_name());
        is::<u64>(e.ino());
    };
    is_debug::<ReadDir>();
    is_debug::<DirEntry>();
}
