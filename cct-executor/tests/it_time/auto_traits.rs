use std::cell::Cell;
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Whether types are `Send`, `Sync` and `Unpin`, one row each.
macro_rules! traits {
    ($($type:ty),* $(,)?) => {
        [$((stringify!($type), has!($type: Send), has!($type: Sync), has!($type: Unpin))),*]
    };
}

/// Inherent constants win over those of the trait, so this tells whether the bound holds.
macro_rules! has {
    ($type:ty: $bound:path) => {{
        #[allow(dead_code)]
        struct Probe<T>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        trait Otherwise {
            const HAS: bool = false;
        }
        impl<T> Otherwise for Probe<T> {}
        #[allow(dead_code)]
        impl<T: $bound> Probe<T> {
            const HAS: bool = true;
        }
        <Probe<$type>>::HAS
    }};
}

type Rows = Vec<(&'static str, bool, bool, bool)>;

macro_rules! rows {
    ($subject:ident) => {{
        use $subject::runtime::{EnterGuard, Handle, Runtime, TryCurrentError};
        use $subject::task::futures::TaskLocalFuture;
        use $subject::task::{JoinSet, LocalKey};
        use $subject::time::error::{Elapsed, Error};
        use $subject::time::{Instant, Interval, MissedTickBehavior, Sleep, Timeout};
        type NotSend = *const ();
        let rows: Rows = traits![
            Instant,
            Sleep,
            Timeout<u8>,
            Timeout<NotSend>,
            Timeout<PhantomPinned>,
            Interval,
            MissedTickBehavior,
            Elapsed,
            Error,
            JoinSet<u8>,
            JoinSet<Cell<u8>>,
            JoinSet<NotSend>,
            LocalKey<NotSend>,
            TaskLocalFuture<u8, u8>,
            TaskLocalFuture<Cell<u8>, u8>,
            TaskLocalFuture<u8, NotSend>,
            Handle,
            EnterGuard<'static>,
            Runtime,
            TryCurrentError,
        ]
        .into();
        rows
    }};
}

#[test]
fn auto_traits_are_those_of_tokio() {
    use cct_executor as ours;
    use tokio as theirs;
    assert_eq!(rows!(ours), rows!(theirs));
}

#[test]
fn handles_are_unwind_safe() {
    fn check<T: UnwindSafe + RefUnwindSafe>() {}
    check::<cct_executor::runtime::Handle>();
    check::<tokio::runtime::Handle>();
    check::<cct_executor::runtime::Runtime>();
    check::<tokio::runtime::Runtime>();
}

both! {
    async fn futures_of_methods_are_send_and_sync() {
        use subject::task::JoinSet;
        use subject::time::{Duration, advance, interval};
        fn check<T: Send + Sync>(_: &T) {}
        check(&interval(Duration::from_millis(1)).tick());
        check(&advance(Duration::ZERO));
        let mut set = JoinSet::<u8>::new();
        check(&set.join_next());
        check(&set.join_next_with_id());
        check(&set.shutdown());
        check(&set.join_all());
    }
}
