//! What goes along with messages: the addresses and the lengths of datagrams. Nothing else has a meaning here: a message
//! may be sent with its time to live or its service, and comes without, as through a router that clears them.

use super::names::in_addr;
use super::options;
use libc::{c_int, c_uint, in_pktinfo, in6_pktinfo, msghdr};
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// The numbers of devices, as most machines have them.
const LOOPBACK: c_uint = 1;
const ETHERNET: c_uint = 2;

/// What a message is to be sent with.
#[derive(Default)]
pub(super) struct Wishes {
    pub(super) from: Option<IpAddr>,
    pub(super) pieces: Option<usize>,
    /// Descriptors are to go along, which nobody can receive here.
    pub(super) descriptors: bool,
}

/// # Safety
/// As for `sendmsg`.
pub(super) unsafe fn wishes(message: *const msghdr) -> Wishes {
    let mut wishes = Wishes::default();
    // SAFETY: the caller's promise; lengths are looked at before anything else is.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = next.as_ref() {
            let data = libc::CMSG_DATA(header);
            let fits = |size: usize| header.cmsg_len >= libc::CMSG_LEN(size as c_uint) as usize;
            match (header.cmsg_level, header.cmsg_type) {
                (libc::IPPROTO_IP, libc::IP_PKTINFO) if fits(size_of::<in_pktinfo>()) => {
                    let told = data.cast::<in_pktinfo>().read_unaligned();
                    let ip = Ipv4Addr::from(told.ipi_spec_dst.s_addr.to_ne_bytes());
                    wishes.from = (!ip.is_unspecified()).then_some(ip.into());
                }
                (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) if fits(size_of::<in6_pktinfo>()) => {
                    let told = data.cast::<in6_pktinfo>().read_unaligned();
                    let ip = Ipv6Addr::from(told.ipi6_addr.s6_addr);
                    wishes.from = (!ip.is_unspecified()).then_some(ip.to_canonical());
                }
                (libc::SOL_UDP, libc::UDP_SEGMENT) if fits(size_of::<u16>()) => {
                    let length = usize::from(data.cast::<u16>().read_unaligned());
                    wishes.pieces = (length != 0).then_some(length);
                }
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => wishes.descriptors = true,
                _ => {}
            }
            next = libc::CMSG_NXTHDR(message, next);
        }
    }
    wishes
}

/// Tells what the socket was asked to tell of a datagram that was sent to this address.
///
/// # Safety
/// As for `recvmsg`.
pub(super) unsafe fn tell(fd: c_int, message: &mut msghdr, to: Option<IpAddr>) {
    let room = message.msg_controllen;
    let mut used = 0;
    let asked = !message.msg_control.is_null() && room != 0;
    if let Some(to) = to.filter(|_| asked) {
        let device = if to.is_loopback() { LOOPBACK } else { ETHERNET };
        if let (IpAddr::V4(ip), true) =
            (to, options::is_set(fd, libc::IPPROTO_IP, libc::IP_PKTINFO))
        {
            let told = in_pktinfo {
                ipi_ifindex: device as c_int,
                ipi_spec_dst: in_addr(ip),
                ipi_addr: in_addr(ip),
            };
            // SAFETY: the caller's promise.
            unsafe {
                put(
                    message,
                    &mut used,
                    (libc::IPPROTO_IP, libc::IP_PKTINFO),
                    &told,
                )
            };
        }
        if options::is_set(fd, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO) {
            let ip = match to {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            let told = in6_pktinfo {
                ipi6_addr: libc::in6_addr {
                    s6_addr: ip.octets(),
                },
                ipi6_ifindex: device,
            };
            // SAFETY: the caller's promise.
            unsafe {
                put(
                    message,
                    &mut used,
                    (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO),
                    &told,
                )
            };
        }
    }
    message.msg_controllen = used;
}

/// Appends one.
///
/// # Safety
/// So many bytes as the message says can be written where it says.
unsafe fn put<T>(message: &mut msghdr, used: &mut usize, (level, kind): (c_int, c_int), told: &T) {
    let size = size_of::<T>() as c_uint;
    // SAFETY: the calls compute; the caller's promise, and the room is looked at before.
    unsafe {
        let space = libc::CMSG_SPACE(size) as usize;
        if message.msg_controllen - *used < space {
            message.msg_flags |= libc::MSG_CTRUNC;
            return;
        }
        let header = message
            .msg_control
            .cast::<u8>()
            .add(*used)
            .cast::<libc::cmsghdr>();
        let mut begin: libc::cmsghdr = std::mem::zeroed();
        begin.cmsg_len = libc::CMSG_LEN(size) as _;
        begin.cmsg_level = level;
        begin.cmsg_type = kind;
        header.write_unaligned(begin);
        let data = libc::CMSG_DATA(header);
        ptr::copy_nonoverlapping(ptr::from_ref(told).cast::<u8>(), data, size as usize);
        *used += space;
    }
}
