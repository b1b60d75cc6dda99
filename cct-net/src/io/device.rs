//! Named devices, such as `eth0`, of which the machines of a world have none.

use crate::errno::Errno;
use std::io;

/// Binds a socket to a device, or to none.
///
/// # Errors
/// ENODEV for any device.
pub(crate) fn bind(interface: Option<&[u8]>) -> io::Result<()> {
    match interface.unwrap_or_default() {
        // A name ends with a zero.
        [] | [0, ..] => Ok(()),
        _ => Err(Errno::ENODEV.into()),
    }
}
