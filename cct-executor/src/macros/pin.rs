//! `pin!`.

/// Pins values to the stack, under the names they have.
///
/// # Differences from tokio
/// None. Unlike [`std::pin::pin!`] it is a statement, not an expression.
///
/// # Examples
/// ```
/// # cct_executor::shim::block_on(async {
/// let first = async { 1 };
/// cct_executor::pin!(first);
/// cct_executor::pin! {
///     let second = async { 2 };
/// }
/// assert_eq!(first.as_mut().await + second.as_mut().await, 3);
/// # });
/// ```
#[macro_export]
macro_rules! pin {
    ($($name:ident),*) => {$(
        #[allow(unused_mut)]
        let mut $name = ::core::pin::pin!($name);
    )*};
    ($(let $name:ident = $value:expr;)*) => {$(
        let $name = $value;
        #[allow(unused_mut)]
        let mut $name = ::core::pin::pin!($name);
    )*};
}
