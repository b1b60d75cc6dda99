//! Addresses, as C has them.

use libc::{sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_un, socklen_t};
use std::ffi::OsStr;
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

/// The address, if there is one. `None` where it is one that the machine has to say something about.
///
/// # Safety
/// It is null, or so many bytes can be read there.
#[expect(
    clippy::option_option,
    reason = "there may be none, or one of another family"
)]
pub(super) unsafe fn read(name: *const sockaddr, length: socklen_t) -> Option<Option<SocketAddr>> {
    let length = length as usize;
    if name.is_null() || length == 0 {
        return Some(None);
    }
    if length < size_of::<sa_family_t>() {
        return None;
    }
    // SAFETY: the caller's promise; the lengths are looked at before.
    unsafe {
        match i32::from(name.cast::<sa_family_t>().read_unaligned()) {
            libc::AF_INET if length >= size_of::<sockaddr_in>() => {
                let name = name.cast::<sockaddr_in>().read_unaligned();
                let ip = IpAddr::from(name.sin_addr.s_addr.to_ne_bytes());
                Some(Some(SocketAddr::new(ip, u16::from_be(name.sin_port))))
            }
            libc::AF_INET6 if length >= size_of::<sockaddr_in6>() => {
                let name = name.cast::<sockaddr_in6>().read_unaligned();
                let ip = Ipv6Addr::from(name.sin6_addr.s6_addr);
                let (port, scope) = (u16::from_be(name.sin6_port), name.sin6_scope_id);
                let address = SocketAddrV6::new(ip, port, name.sin6_flowinfo, scope);
                Some(Some(address.into()))
            }
            _ => None,
        }
    }
}

/// The path of a Unix socket, if that is its name.
///
/// # Safety
/// As for [`read`]; the bytes stay as they are for as long as the path is used.
pub(super) unsafe fn read_path<'a>(name: *const sockaddr, length: socklen_t) -> Option<&'a Path> {
    let before = std::mem::offset_of!(sockaddr_un, sun_path);
    let room = (length as usize)
        .checked_sub(before)
        .filter(|_| !name.is_null())?;
    // SAFETY: the caller's promise; the length was looked at.
    let bytes = unsafe {
        if i32::from(name.cast::<sa_family_t>().read_unaligned()) != libc::AF_UNIX {
            return None;
        }
        std::slice::from_raw_parts(name.cast::<u8>().add(before), room)
    };
    // One that begins with a zero is no path, and others end there.
    let path = bytes.split(|&byte| byte == 0).next()?;
    (!path.is_empty()).then(|| Path::new(OsStr::from_bytes(path)))
}

/// Writes as much of the address as there is room for, and its length.
///
/// # Safety
/// As for `getsockname`; both may be null.
pub(super) unsafe fn write(address: SocketAddr, name: *mut sockaddr, length: *mut socklen_t) {
    if name.is_null() || length.is_null() {
        return;
    }
    // SAFETY: the caller's promise; all zeroes are a value of both.
    unsafe {
        match address {
            SocketAddr::V4(address) => {
                let mut told: sockaddr_in = std::mem::zeroed();
                told.sin_family = libc::AF_INET as sa_family_t;
                told.sin_port = address.port().to_be();
                told.sin_addr = in_addr(*address.ip());
                write_bytes(&told, name, length);
            }
            SocketAddr::V6(address) => {
                let mut told: sockaddr_in6 = std::mem::zeroed();
                told.sin6_family = libc::AF_INET6 as sa_family_t;
                told.sin6_port = address.port().to_be();
                told.sin6_addr.s6_addr = address.ip().octets();
                told.sin6_flowinfo = address.flowinfo();
                told.sin6_scope_id = address.scope_id();
                write_bytes(&told, name, length);
            }
        }
    }
}

/// # Safety
/// As for [`write`].
unsafe fn write_bytes<T>(told: &T, name: *mut sockaddr, length: *mut socklen_t) {
    // SAFETY: the caller's promise.
    unsafe {
        let room = length.read() as usize;
        let told = ptr::from_ref(told).cast::<u8>();
        ptr::copy_nonoverlapping(told, name.cast::<u8>(), room.min(size_of::<T>()));
        length.write(size_of::<T>() as socklen_t);
    }
}

pub(super) fn in_addr(ip: Ipv4Addr) -> libc::in_addr {
    libc::in_addr {
        s_addr: u32::from_ne_bytes(ip.octets()),
    }
}
