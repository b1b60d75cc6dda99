//! Type of service and traffic class: kept as Linux keeps them, and without effect, as links treat all
//! alike.

use crate::errno::Errno;
use std::io;

/// What a packet asks routers for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Service {
    /// Of version 4.
    pub(crate) tos: u32,
    /// Of version 6.
    class: u32,
}

impl Service {
    /// Its last eight bits count.
    pub(crate) fn set_tos(&mut self, tos: u32) {
        self.tos = tos & 0xff;
    }

    /// The class of a socket of version 6.
    ///
    /// # Errors
    /// EOPNOTSUPP for a socket of version 4.
    pub(crate) fn class(self, v6: bool) -> io::Result<u32> {
        match v6 {
            true => Ok(self.class),
            false => Err(Errno::EOPNOTSUPP.into()),
        }
    }

    /// # Errors
    /// ENOPROTOOPT for a socket of version 4, EINVAL for what is no class.
    pub(crate) fn set_class(&mut self, v6: bool, class: u32) -> io::Result<()> {
        if !v6 {
            return Err(Errno::ENOPROTOOPT.into());
        }
        self.class = match class {
            // What it was at first.
            u32::MAX => 0,
            0..=255 => class,
            _ => return Err(Errno::EINVAL.into()),
        };
        Ok(())
    }
}
