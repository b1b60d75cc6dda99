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

pub(crate) fn built() {
    let _: fn() -> std::io::Result<Runtime> = Runtime::new;
    let _: fn() -> Builder = Builder::new_current_thread;
    let _: fn() -> Builder = Builder::new_multi_thread;
    let _ = |builder: &mut Builder| {
        let builder = builder.enable_all().enable_io().enable_time();
        let builder = builder.worker_threads(2).max_blocking_threads(2);
        let builder = builder.thread_name("a name").thread_stack_size(1 << 20);
        let builder = builder.thread_name_fn(|| "a name".to_owned());
        let builder = builder.thread_keep_alive(std::time::Duration::ZERO);
        let builder = builder.global_queue_interval(31).event_interval(61);
        let builder = builder.on_thread_start(|| ()).on_thread_stop(|| ());
        is::<std::io::Result<Runtime>>(builder.build());
        is::<&mut Builder>(builder.start_paused(true));
    };
    let _ = |runtime: Runtime| {
        is::<&Handle>(runtime.handle());
        is::<EnterGuard<'_>>(runtime.enter());
        is::<JoinHandle<u8>>(runtime.spawn(async { 1_u8 }));
        is::<JoinHandle<u8>>(runtime.spawn_blocking(|| 1_u8));
        is::<u8>(runtime.block_on(async { 1_u8 }));
        is::<()>(runtime.shutdown_timeout(std::time::Duration::ZERO));
    };
    let _ = |runtime: Runtime| is::<()>(runtime.shutdown_background());
    let _ = |error: &std::io::Error| is::<bool>(is_rt_shutdown_err(error));
    let _ = |builder: &mut Builder| {
        is::<&mut Builder>(
            builder
                .max_io_events_per_tick(1)
                .max_io_events_per_busy_tick(1),
        )
    };
    is_debug::<Runtime>();
    is_debug::<Builder>();
    unwinds::<Runtime>();
}

pub(crate) fn local() {
    let _: fn() -> std::io::Result<LocalRuntime> = LocalRuntime::new;
    let _ = |builder: &mut Builder| {
        is::<std::io::Result<LocalRuntime>>(builder.build_local(LocalOptions::default()))
    };
    let _ = |runtime: LocalRuntime, rc: std::rc::Rc<u8>| {
        is::<&Handle>(runtime.handle());
        is::<EnterGuard<'_>>(runtime.enter());
        is::<JoinHandle<std::rc::Rc<u8>>>(runtime.spawn_local(async { rc }));
        is::<JoinHandle<u8>>(runtime.spawn_blocking(|| 1_u8));
        is::<u8>(runtime.block_on(async { 1_u8 }));
        is::<()>(runtime.shutdown_timeout(std::time::Duration::ZERO));
    };
    let _ = |runtime: LocalRuntime| is::<()>(runtime.shutdown_background());
    is_debug::<LocalRuntime>();
    is_debug::<LocalOptions>();
    unwinds::<LocalRuntime>();
}
