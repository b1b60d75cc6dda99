//! The names of `tokio::signal`.
use super::ask::*;
use super::rt::signal::ctrl_c;
use super::rt::signal::unix::{Signal, SignalKind, signal};
use std::ffi::c_int;
use std::io;
use std::task::{Context, Poll};

const KINDS: [SignalKind; 11] = [
    SignalKind::alarm(),
    SignalKind::child(),
    SignalKind::hangup(),
    SignalKind::interrupt(),
    SignalKind::io(),
    SignalKind::pipe(),
    SignalKind::quit(),
    SignalKind::terminate(),
    SignalKind::user_defined1(),
    SignalKind::user_defined2(),
    SignalKind::window_change(),
];
const RAW: c_int = SignalKind::from_raw(7).as_raw_value();

pub(crate) fn listening() {
    let _ = |listener: &mut Signal, cx: &mut Context<'_>| {
        sent::<io::Result<()>>(ctrl_c());
        is::<io::Result<Signal>>(signal(KINDS[0]));
        sent::<Option<()>>(listener.recv());
        is::<Poll<Option<()>>>(listener.poll_recv(cx));
        is::<SignalKind>(SignalKind::from(RAW));
        is::<c_int>(KINDS[0].into());
    };
    is_debug::<Signal>();
    is_unpin::<Signal>();
    is_debug::<SignalKind>();
    is_copy::<SignalKind>();
    is_eq::<SignalKind>();
    is_hash::<SignalKind>();
    unwinds::<SignalKind>();
}
