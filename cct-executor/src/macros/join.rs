//! `join!` and `try_join!`.

/// Waits for several futures at once, in the same task, and returns their outputs as a tuple.
///
/// Each poll begins with another future than the one before, so that none is starved of budget;
/// `biased;` in front keeps the order in which they are written.
///
/// # Cancel safety
/// Dropping it drops all futures that are not ready yet, and the outputs of those that are.
///
/// # Differences from tokio
/// None.
///
/// # Examples
/// ```
/// # cct_executor::shim::block_on(async {
/// let (number, text) = cct_executor::join!(async { 1 }, async { "two" });
/// assert_eq!((number, text), (1, "two"));
/// # });
/// ```
#[macro_export]
macro_rules! join {
    ($($input:tt)*) => {
        $crate::__private::join!($crate { $($input)* })
    };
}

/// Waits for several futures that return a `Result`, up to the first error.
///
/// Returns `Ok` with the tuple of values, or the first error; then the other futures are dropped.
/// All have the same error type. The order of polls is that of [`join!`](crate::join).
///
/// # Cancel safety
/// Dropping it, or an error, drops all futures that are not ready yet, and the values of those that
/// are.
///
/// # Differences from tokio
/// None.
///
/// # Examples
/// ```
/// # cct_executor::shim::block_on(async {
/// let both = cct_executor::try_join!(async { Ok(1) }, async { Err::<u8, _>("no") });
/// assert_eq!(both, Err("no"));
/// # });
/// ```
#[macro_export]
macro_rules! try_join {
    ($($input:tt)*) => {
        $crate::__private::try_join!($crate { $($input)* })
    };
}
