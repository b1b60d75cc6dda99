//! `task_local!`.

/// Declares values that each task has for itself, as `LocalKey`s.
///
/// Any number of statics, with attributes and visibility of their own. There is no initial value:
/// `LocalKey::scope` sets one while a future runs.
///
/// # Differences from tokio
/// None.
///
/// # Examples
/// ```
/// cct_executor::task_local! {
///     /// Whom the current task works for.
///     pub static USER: String;
///     static DEPTH: u32;
/// }
///
/// # cct_executor::shim::block_on(async {
/// DEPTH.scope(3, async { assert_eq!(DEPTH.get(), 3) }).await;
/// # });
/// ```
#[macro_export]
macro_rules! task_local {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty; $($rest:tt)*) => {
        $crate::task_local!($(#[$attribute])* $visibility static $name: $type);
        $crate::task_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty) => {
        $(#[$attribute])*
        $visibility static $name: $crate::task::LocalKey<$type> =
            $crate::task::LocalKey::__new();
    };
    () => {};
}
