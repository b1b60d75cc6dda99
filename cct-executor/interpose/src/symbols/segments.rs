//! Where the variables of the program and its libraries lie that are not allocated.

use libc::{PT_LOAD, PT_TLS, c_int, c_void, dl_iterate_phdr, dl_phdr_info, size_t};
use std::ops::Range;
use std::slice;

/// What is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variable {
    Static,
    /// One of the calling thread.
    ThreadLocal,
}

/// Which variable is at this address, if any.
pub(super) fn find(address: usize) -> Option<Variable> {
    let mut found = None;
    each(&mut |variable, place| {
        if place.contains(&address) {
            found = Some(variable);
        }
        found.is_some()
    });
    found
}

/// Where the thread-locals of the calling thread lie that are together with the one at this address.
pub(super) fn thread_locals(address: usize) -> Option<Range<usize>> {
    let mut found = None;
    each(&mut |variable, place| {
        if variable == Variable::ThreadLocal && place.contains(&address) {
            found = Some(place);
        }
        found.is_some()
    });
    found
}

/// Tells of all places of variables, until it is told that this is enough.
fn each(told: &mut Told<'_>) {
    let mut told = told;
    // SAFETY: `look` gets what it is to tell, while the call lasts.
    unsafe { dl_iterate_phdr(Some(look), (&raw mut told).cast()) };
}

type Told<'a> = dyn FnMut(Variable, Range<usize>) -> bool + 'a;

/// Called for the program and each library, until it returns something.
///
/// # Safety
/// The last argument points to a reference to a [`Told`].
unsafe extern "C" fn look(info: *mut dl_phdr_info, _: size_t, told: *mut c_void) -> c_int {
    // SAFETY: as the loader promises, and the caller's promise.
    let (info, told) = unsafe { (&*info, &mut *told.cast::<&mut Told<'_>>()) };
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
        let end = begin.wrapping_add(header.p_memsz as usize);
        if told(variable, begin..end) {
            return 1;
        }
    }
    0
}

/// Whether there is a variable at this address, of the program or of a library that was there when a thread first
/// asked. To be asked often.
#[cfg(cct_atomics)]
pub(super) fn is_variable(address: usize) -> bool {
    use std::cell::Cell;
    use std::sync::OnceLock;

    static STATICS: OnceLock<Vec<Range<usize>>> = OnceLock::new();

    thread_local! {
        /// Where those of this thread begin and end, as far as they are the program's.
        static OWN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
        /// It is just looked, which allocates, and an allocator that counts may ask.
        static LOOKS: Cell<bool> = const { Cell::new(false) };
    }

    let collected = |wanted: Variable| {
        let mut places = Vec::new();
        each(&mut |variable, place| {
            if variable == wanted && place.start != 0 {
                places.push(place);
            }
            false
        });
        places
    };
    if LOOKS.get() {
        return false;
    }
    if OWN.get().1 == 0 || STATICS.get().is_none() {
        LOOKS.set(true);
        let first = collected(Variable::ThreadLocal).into_iter().next();
        OWN.set(first.map_or((0, 1), |place| (place.start, place.end)));
        STATICS.get_or_init(|| collected(Variable::Static));
        LOOKS.set(false);
    }
    let (begin, end) = OWN.get();
    let statics = STATICS.get().map_or(&[][..], |statics| statics);
    (begin..end).contains(&address) || statics.iter().any(|place| place.contains(&address))
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

    #[cfg(cct_atomics)]
    #[test]
    fn many_questions_get_the_same_answers() {
        use super::is_variable;

        let (boxed, here) = (Box::new(0_u32), 0_u32);
        assert!(is_variable(ptr::from_ref(&STATIC).addr()));
        assert!(is_variable(LOCAL.with(|local| ptr::from_ref(local).addr())));
        assert!(!is_variable(ptr::from_ref(&*boxed).addr()));
        assert!(!is_variable((&raw const here).addr()));
    }
}
