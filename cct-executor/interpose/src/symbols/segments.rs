//! Where the variables of the program and its libraries lie that are not allocated.

use libc::{PT_LOAD, PT_TLS, c_int, c_void, dl_iterate_phdr, dl_phdr_info, size_t};
use std::slice;

/// What is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variable {
    Static,
    /// One of the calling thread.
    ThreadLocal,
}

struct Search {
    address: usize,
    found: Option<Variable>,
    /// Where the segment begins, and how long it is.
    segment: (usize, usize),
}

/// Which variable is at this address, if any.
pub(super) fn find(address: usize) -> Option<Variable> {
    search(address).found
}

/// All thread-locals of the calling thread that lie together with the one at this address: where they
/// begin, and how many bytes they take.
pub(super) fn thread_locals(address: usize) -> Option<(usize, usize)> {
    let search = search(address);
    (search.found == Some(Variable::ThreadLocal)).then_some(search.segment)
}

fn search(address: usize) -> Search {
    let mut search = Search {
        address,
        found: None,
        segment: (0, 0),
    };
    // SAFETY: `look` gets the search, while the call lasts.
    unsafe { dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search
}

/// Called for the program and each library, until it returns something.
///
/// # Safety
/// The last argument points to a [`Search`].
unsafe extern "C" fn look(info: *mut dl_phdr_info, _: size_t, search: *mut c_void) -> c_int {
    // SAFETY: as the loader promises, and the caller's promise.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    // SAFETY: as the loader promises.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    for header in headers {
        let (begin, variable) = match header.p_type {
            PT_LOAD => {
                let begin = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
                (begin, Variable::Static)
            }
            PT_TLS => (info.dlpi_tls_data as usize, Variable::ThreadLocal),
            _ => continue,
        };
        if search.address.wrapping_sub(begin) < header.p_memsz as usize {
            search.found = Some(variable);
            search.segment = (begin, header.p_memsz as usize);
            return 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::{Variable, find};
    use std::cell::Cell;
    use std::ptr;
    use std::sync::atomic::AtomicU32;

    static STATIC: AtomicU32 = AtomicU32::new(0);

    thread_local! {
        static LOCAL: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn variables_are_told_from_what_is_allocated() {
        let (boxed, here) = (Box::new(0_u32), 0_u32);
        assert_eq!(find(ptr::from_ref(&STATIC).addr()), Some(Variable::Static));
        let local = || LOCAL.with(|local| ptr::from_ref(local).addr());
        assert_eq!(find(local()), Some(Variable::ThreadLocal));
        assert_eq!(find(ptr::from_ref(&*boxed).addr()), None);
        assert_eq!(find((&raw const here).addr()), None);
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| find(local())).join());
        assert_eq!(elsewhere.unwrap(), Some(Variable::ThreadLocal));
    }
}
