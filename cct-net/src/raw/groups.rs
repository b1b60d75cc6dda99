//! The multicast groups that a socket of the kernel's has joined.
//!
//! The kernel lists those of its devices, and says of each whether a socket is a member: it tells that its filter.

use std::mem::{offset_of, size_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// `struct group_filter`, without sources.
#[repr(C)]
struct Filter {
    interface: u32,
    group: libc::sockaddr_storage,
    mode: u32,
    sources: u32,
}

/// Those that it is a member of, each once, in the order of their addresses.
pub(crate) fn joined(fd: BorrowedFd<'_>, v6: bool) -> Vec<IpAddr> {
    let listed = match v6 {
        true => std::fs::read_to_string("/proc/net/igmp6").map(|text| listed_v6(&text)),
        false => std::fs::read_to_string("/proc/net/igmp").map(|text| listed_v4(&text)),
    };
    let mut groups = Vec::new();
    for (interface, group) in listed.unwrap_or_default() {
        if !groups.contains(&group) && is_member(fd, interface, group) {
            groups.push(group);
        }
    }
    groups.sort();
    groups
}

/// Lines that begin with a number are devices, the others their groups.
fn listed_v4(text: &str) -> Vec<(u32, IpAddr)> {
    let (mut all, mut device) = (Vec::new(), 0);
    for line in text.lines().skip(1) {
        let Some(first) = line.split_whitespace().next() else {
            continue;
        };
        if line.starts_with(char::is_whitespace) {
            if let Ok(group) = u32::from_str_radix(first, 16) {
                all.push((device, Ipv4Addr::from(group.to_ne_bytes()).into()));
            }
        } else {
            device = first.parse().unwrap_or(0);
        }
    }
    all
}

/// A device, its name and a group.
fn listed_v6(text: &str) -> Vec<(u32, IpAddr)> {
    let listed = |line: &str| {
        let mut words = line.split_whitespace();
        let device = words.next()?.parse().ok()?;
        let group = u128::from_str_radix(words.nth(1)?, 16).ok()?;
        Some((device, Ipv6Addr::from(group).into()))
    };
    text.lines().filter_map(listed).collect()
}

fn is_member(fd: BorrowedFd<'_>, interface: u32, group: IpAddr) -> bool {
    let level = match group {
        IpAddr::V4(_) => libc::IPPROTO_IP,
        IpAddr::V6(_) => libc::IPPROTO_IPV6,
    };
    let name = socket2::SockAddr::from(SocketAddr::new(group, 0));
    // SAFETY: all zeroes are a value of it.
    let mut filter: Filter = unsafe { zeroed() };
    filter.interface = interface;
    // SAFETY: the one is as long as it says, and the other has room for any.
    unsafe {
        let from = name.as_ptr().cast::<u8>();
        let into = (&raw mut filter.group).cast::<u8>();
        std::ptr::copy_nonoverlapping(from, into, name.len() as usize);
    }
    let mut length = (offset_of!(Filter, sources) + size_of::<u32>()) as libc::socklen_t;
    let into = (&raw mut filter).cast::<libc::c_void>();
    // SAFETY: the buffer is as long as it says.
    unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            level,
            libc::MCAST_MSFILTER,
            into,
            &raw mut length,
        ) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;

    #[test]
    fn lists_are_understood() {
        let text = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n\
                    1\tlo        :     1      V3\n\t\t\t\t010000E0     1 0:00000000\t\t0\n\
                    4\teth0      :     2      V3\n\t\t\t\tFB0000E0     1 0:00000000\t\t0\n";
        let group = |last| IpAddr::from([224, 0, 0, last]);
        if cfg!(target_endian = "little") {
            assert_eq!(listed_v4(text), [(1, group(1)), (4, group(251))]);
        }
        let text = "2    eth0            ff0200000000000000000000000000fb     1 0000000C 0\n";
        assert_eq!(
            listed_v6(text),
            [(2, "ff02::fb".parse::<IpAddr>().unwrap())]
        );
    }

    #[test]
    fn a_member_is_told_from_others() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(joined(socket.as_fd(), false), Vec::<IpAddr>::new());
        let group = Ipv4Addr::new(239, 1, 2, 3);
        // Some machines have no network that can.
        if socket
            .join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)
            .is_ok()
        {
            assert_eq!(joined(socket.as_fd(), false), [IpAddr::from(group)]);
        }
    }
}
