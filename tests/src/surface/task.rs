//! Every name of `tokio::task` and of the crate's root with its signature.

use super::ask::*;
use super::rt;
use super::rt::task::*;
use std::any::Any;
use std::rc::Rc;
use std::task::{Context, Poll};

type Word = String;

pub(crate) fn handles() {
    let _ = || is::<JoinHandle<u8>>(rt::spawn(async { 1_u8 }));
    let _ = || is::<JoinHandle<u8>>(spawn(async { 1_u8 }));
    let _ = || is::<JoinHandle<Rc<u8>>>(spawn_local(async { Rc::new(1_u8) }));
    let _ = || is::<JoinHandle<u8>>(spawn_blocking(|| 1_u8));
    let _ = |word: &Word| is::<&Word>(block_in_place(|| word));
    let _ = |mut handle: JoinHandle<Word>| {
        is::<()>(handle.abort());
        is::<bool>(handle.is_finished());
        is::<AbortHandle>(handle.abort_handle());
        is::<Id>(handle.id());
        sent::<Result<Word, JoinError>>(&mut handle);
    };
    let _ = |handle: &AbortHandle| {
        is::<()>(handle.abort());
        is::<bool>(handle.is_finished());
        is::<Id>(handle.id());
        is::<AbortHandle>(handle.clone());
    };
    let _ = |error: JoinError, other: JoinError| {
        is::<bool>(error.is_cancelled());
        is::<bool>(error.is_panic());
        is::<Id>(error.id());
        is::<Box<dyn Any + Send + 'static>>(error.into_panic());
        is::<Result<Box<dyn Any + Send + 'static>, JoinError>>(other.try_into_panic());
    };
    let _ = |error: JoinError| is::<std::io::Error>(error.into());
    is_error::<JoinError>();
    is_debug::<JoinHandle<Word>>();
    is_debug::<AbortHandle>();
    is_unpin::<JoinHandle<NotUnpin>>();
    unwinds::<JoinHandle<Word>>();
    unwinds::<AbortHandle>();
    let _: fn() -> Id = id;
    let _: fn() -> Option<Id> = try_id;
    is_debug::<Id>();
    is_display::<Id>();
    is_copy::<Id>();
    is_eq::<Id>();
    is_hash::<Id>();
    let _ = || sent::<()>(yield_now());
    let _ = || sent::<()>(consume_budget());
    let _ = || sent::<u8>(unconstrained(async { 1_u8 }));
    // Where it was before tokio had `task::coop`.
    let _ = || is::<Unconstrained<std::future::Ready<u8>>>(unconstrained(std::future::ready(1)));
}

pub(crate) fn join_set() {
    let _: fn() -> JoinSet<Word> = JoinSet::new;
    let _ = |mut set: JoinSet<Word>,
             local: &LocalSet,
             handle: &rt::runtime::Handle,
             cx: &mut Context<'_>| {
        is::<usize>(set.len());
        is::<bool>(set.is_empty());
        is::<AbortHandle>(set.spawn(async { Word::new() }));
        is::<AbortHandle>(set.spawn_on(async { Word::new() }, handle));
        is::<AbortHandle>(set.spawn_local(async {
            drop(Rc::new(1));
            Word::new()
        }));
        is::<AbortHandle>(set.spawn_local_on(async { Word::new() }, local));
        is::<AbortHandle>(set.spawn_blocking(Word::new));
        is::<AbortHandle>(set.spawn_blocking_on(Word::new, handle));
        sent::<Option<Result<Word, JoinError>>>(set.join_next());
        sent::<Option<Result<(Id, Word), JoinError>>>(set.join_next_with_id());
        is::<Option<Result<Word, JoinError>>>(set.try_join_next());
        is::<Option<Result<(Id, Word), JoinError>>>(set.try_join_next_with_id());
        is::<Poll<Option<Result<Word, JoinError>>>>(set.poll_join_next(cx));
        is::<Poll<Option<Result<(Id, Word), JoinError>>>>(set.poll_join_next_with_id(cx));
        sent::<()>(set.shutdown());
        is::<()>(set.abort_all());
        is::<()>(set.detach_all());
        sent::<Vec<Word>>(set.join_all());
    };
    let _ = || is::<JoinSet<u8>>((0..3_u8).map(|n| async move { n }).collect());
    let _ = |mut set: JoinSet<u8>| set.extend([async { 1_u8 }]);
    is_default::<JoinSet<NoTraits>>();
    is_debug::<JoinSet<NoTraits>>();
}

pub(crate) fn local_set() {
    let _: fn() -> LocalSet = LocalSet::new;
    let _ = |set: LocalSet| {
        is::<LocalEnterGuard>(set.enter());
        is::<JoinHandle<Rc<u8>>>(set.spawn_local(async { Rc::new(1) }));
        local::<Rc<u8>>(set.run_until(async { Rc::new(1) }));
        local::<()>(set);
    };
    is_default::<LocalSet>();
    is_debug::<LocalSet>();
    is_debug::<LocalEnterGuard>();
}

pub(crate) fn coop_budget() {
    use coop::*;
    let _ = |cx: &mut Context<'_>| {
        is::<Poll<RestoreOnPending>>(poll_proceed(cx));
        is::<()>(match poll_proceed(cx) {
            Poll::Ready(budget) => budget.made_progress(),
            Poll::Pending => (),
        });
    };
    let _: fn() -> bool = has_budget_remaining;
    let _ = || sent::<()>(consume_budget());
    let _ = || is::<Unconstrained<std::future::Ready<u8>>>(unconstrained(std::future::ready(1)));
    let _ = || is::<Coop<std::future::Ready<u8>>>(cooperative(std::future::ready(1)));
}

rt::task_local! {
    /// With an attribute, and two in one call.
    pub(crate) static WORD: Word;
    static NUMBER: std::cell::Cell<u8>;
}

/// The error's name is private in tokio.
fn access_error<T, E: std::error::Error + Eq + Copy>(_: Result<T, E>) {}

pub(crate) fn task_locals() {
    let _ = || {
        sent::<u8>(WORD.scope(Word::new(), async { 1_u8 }));
        is::<u8>(WORD.sync_scope(Word::new(), || 1_u8));
        is::<usize>(WORD.with(|word: &Word| word.len()));
        access_error(WORD.try_with(|word: &Word| word.len()));
        is::<Word>(WORD.get());
        access_error(WORD.try_get());
        is::<u8>(NUMBER.with(|number| number.get()));
    };
    let _ = |future: std::pin::Pin<&mut futures::TaskLocalFuture<Word, std::future::Ready<()>>>| {
        is::<Option<Word>>(future.take_value());
    };
    is_debug::<LocalKey<Word>>();
    is_debug::<futures::TaskLocalFuture<Word, std::future::Ready<()>>>();
}
