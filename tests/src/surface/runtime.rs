//! What of `tokio::runtime` a program inside a world may ask for.

use super::ask::*;
use super::rt::runtime::*;
use super::rt::task::JoinHandle;

pub(crate) fn handle() {
    let _: fn() -> Handle = Handle::current;
    let _: fn() -> Result<Handle, TryCurrentError> = Handle::try_current;
    let _ = |handle: &Handle| {
        is::<EnterGuard<'_>>(handle.enter());
        is::<JoinHandle<u8>>(handle.spawn(async { 1_u8 }));
        is::<JoinHandle<u8>>(handle.spawn_blocking(|| 1_u8));
        is::<u8>(handle.block_on(async { 1_u8 }));
        is::<RuntimeFlavor>(handle.runtime_flavor());
        is::<Id>(handle.id());
        is::<Option<&str>>(handle.name());
        is::<Handle>(handle.clone());
    };
    let _ = |error: TryCurrentError| {
        is::<bool>(error.is_missing_context() || error.is_thread_local_destroyed())
    };
    is_error::<TryCurrentError>();
    is_debug::<Handle>();
    is_debug::<EnterGuard<'_>>();
    is_debug::<RuntimeFlavor>();
    is_eq::<RuntimeFlavor>();
    is_copy::<Id>();
    is_hash::<Id>();
    is_display::<Id>();
    unwinds::<Handle>();
}
