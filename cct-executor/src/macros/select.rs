//! `select!`.

/// Waits on several futures at once, and runs the handler of the first that is ready and matches.
///
/// ```text
/// select! {
///     biased;                                                     // optional
///     <pattern> = <future> (, if <condition>)? => <handler>,      // up to 64 of these
///     else => <handler>                                           // optional
/// }
/// ```
///
/// Conditions are evaluated first, then all futures, also those of branches whose condition is
/// false; such branches are disabled. A branch is disabled, too, when its output does not match
/// its pattern. When all are disabled the `else` handler runs. All futures are dropped, in the
/// order of the branches, before a handler runs; handlers may use `.await`, `?`, `return`, `break`
/// and `continue` as the code around the macro may.
///
/// # Scheduling points
/// None of its own. Which branch is polled first is a choice of the strategy, made at every poll,
/// unless `biased;` fixes the order of the branches.
///
/// # Cancel safety
/// The futures of the branches not taken are dropped where they stand: use futures for which that
/// loses nothing, or pass `&mut future` to go on with it later.
///
/// # Differences from tokio
/// None.
///
/// # Panics
/// If all branches are disabled and there is no `else`.
///
/// # Examples
/// ```
/// use std::future::{pending, ready};
///
/// # cct_executor::shim::block_on(async {
/// let got = cct_executor::select! {
///     Some(number) = ready(None::<u32>) => number,
///     number = ready(2) => number,
///     () = pending() => 3,
/// };
/// assert_eq!(got, 2);
/// # });
/// ```
#[macro_export]
macro_rules! select {
    ($($input:tt)*) => {
        $crate::__private::select!($crate { $($input)* })
    };
}
