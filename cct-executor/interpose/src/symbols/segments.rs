//! Where the statics of the program and its libraries lie.

use libc::{PT_LOAD, c_int, c_void, dl_iterate_phdr, dl_phdr_info, size_t};
use std::slice;

/// Whether there is a static at this address.
pub(super) fn contain(address: usize) -> bool {
    /// Called for the program and each library, until it returns something.
    unsafe extern "C" fn look(info: *mut dl_phdr_info, _: size_t, address: *mut c_void) -> c_int {
        // SAFETY: as the loader promises; the address is the one below.
        let (base, headers, address) = unsafe {
            let info = &*info;
            let headers = slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            (info.dlpi_addr as usize, headers, *address.cast::<usize>())
        };
        let within = headers.iter().filter(|header| header.p_type == PT_LOAD);
        let mut within = within.map(|header| {
            let begin = base.wrapping_add(header.p_vaddr as usize);
            begin..begin.wrapping_add(header.p_memsz as usize)
        });
        c_int::from(within.any(|segment| segment.contains(&address)))
    }
    let mut address = address;
    // SAFETY: `look` reads what it is given, while the call lasts.
    unsafe { dl_iterate_phdr(Some(look), (&raw mut address).cast()) != 0 }
}
