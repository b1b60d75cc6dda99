//! Where a thread is that does not come back: a signal interrupts it, and it tells its own stack.
//!
//! 1. To tell it takes memory. So a thread tells nothing where it may be in the middle of taking some: only in the
//!    program's own code, or where it waits for the system. An allocator that is linked into the program is its own
//!    code, too, and is not told apart: only who does not go on anyway is to be asked.
//! 2. The handler stays once it was needed, for a signal may come late.
//! 3. A signal for which somebody else has a handler is left alone.

use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::backtrace::Backtrace;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often a thread is asked that is where it cannot tell, or does not answer, and how long each answer may take.
const TIMES: u32 = 500;
const NAP: Duration = Duration::from_millis(2);

/// A thread that can be asked where it is.
#[derive(Clone, Copy, Debug)]
pub struct Whereabouts(c_int);

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// Who is asked, 0 when it has answered.
static ASKED: AtomicI32 = AtomicI32::new(0);
static ANSWER: Mutex<Option<Backtrace>> = Mutex::new(None);

impl Whereabouts {
    /// This thread.
    #[must_use]
    pub fn here() -> Whereabouts {
        // SAFETY: the call has no arguments.
        Whereabouts(unsafe { libc::gettid() })
    }

    /// Where the thread is now, made out by itself; it goes on afterwards. `None` where nothing can be found out, which
    /// takes some time. To be asked of a thread that has not ended, and not of the caller.
    #[must_use]
    pub fn stack(self) -> Option<Backtrace> {
        /// One question at a time.
        static QUESTION: Mutex<()> = Mutex::new(());
        let _question = QUESTION.lock().unwrap_or_else(PoisonError::into_inner);
        let number = libc::SIGRTMAX() - 1;
        if !listens(number) {
            return None;
        }
        // That of another question, which came late.
        drop(ANSWER.try_lock().ok().and_then(|mut answer| answer.take()));
        for _ in 0..TIMES {
            ASKED.store(self.0, SeqCst);
            // SAFETY: a signal for which there is a handler, to a thread of this process.
            let sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), self.0, number) };
            if sent != 0 {
                return None;
            }
            std::thread::park_timeout(NAP);
            let stack = ANSWER.try_lock().ok().and_then(|mut answer| answer.take());
            if stack.is_some() {
                ASKED.store(0, SeqCst);
                return stack;
            }
        }
        ASKED.store(0, SeqCst);
        None
    }
}

/// Sees to it that the signal is answered; whether it is.
fn listens(number: c_int) -> bool {
    let own = answer as Handler as usize;
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: there is room for what is told, of which all zeros are a value, and what is set is one.
    unsafe {
        if libc::sigaction(number, ptr::null(), now.as_mut_ptr()) != 0 {
            return false;
        }
        let now = now.assume_init().sa_sigaction;
        if now != libc::SIG_DFL {
            return now == own;
        }
        let mut new: libc::sigaction = MaybeUninit::zeroed().assume_init();
        new.sa_sigaction = own;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(number, &raw const new, ptr::null_mut()) == 0
    }
}

extern "C" fn answer(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the call has no arguments.
    let own = unsafe { libc::gettid() };
    if ASKED.load(SeqCst) != own {
        return; // too late
    }
    // SAFETY: the place of this thread's own, which stays where it is.
    let error = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel passes it to a handler with `SA_SIGINFO`.
    let context = unsafe { &*context.cast::<ucontext_t>() };
    let stack = can_tell(context).then(Backtrace::force_capture);
    if let Ok(mut answer) = ANSWER.try_lock() {
        *answer = stack;
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
    ASKED.store(0, SeqCst);
}

/// The instruction that calls the system.
#[cfg(target_arch = "x86_64")]
const CALL: Call = [0x0f, 0x05];
#[cfg(target_arch = "aarch64")]
const CALL: Call = [0x01, 0x00, 0x00, 0xd4];

#[cfg(target_arch = "x86_64")]
type Call = [u8; 2];
#[cfg(target_arch = "aarch64")]
type Call = [u8; 4];

/// By invariant 1.
fn can_tell(context: &ucontext_t) -> bool {
    #[cfg(target_arch = "x86_64")]
    let at = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    let at = context.uc_mcontext.pc as usize;
    let is_call = |at: usize| {
        // SAFETY: the thread executes there, in code that is longer than one instruction, and functions do not begin
        // where a mapping does.
        unsafe { ptr::read_unaligned(at as *const Call) == CALL }
    };
    // A call that is interrupted either has returned, or will be made again.
    let waits = || is_call(at - CALL.len()) || is_call(at);
    is_ours(at) || waits()
}

/// Whether the code there is in the object that this is in.
fn is_ours(at: usize) -> bool {
    let object = |at: usize| {
        let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: there is room for what is told.
        let found = unsafe { libc::dladdr(at as *const c_void, info.as_mut_ptr()) } != 0;
        // SAFETY: the call has written it.
        found.then(|| unsafe { info.assume_init() }.dli_fbase)
    };
    let ours = object(answer as Handler as usize);
    ours.is_some() && object(at) == ours
}
