//! What all guards have in common: they look like the value they guard.

/// `Deref`, `Debug` and `Display` of a guard with a field `access`; with `mut`, `DerefMut` too.
macro_rules! guard_traits {
    (impl[$($params:tt)*] mut $guard:ty => $value:ident) => {
        $crate::guard_traits::guard_traits!(impl[$($params)*] $guard => $value);

        impl<$($params)*> std::ops::DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut $value {
                &mut self.access
            }
        }
    };
    (impl[$($params:tt)*] $guard:ty => $value:ident) => {
        impl<$($params)*> std::ops::Deref for $guard {
            type Target = $value;

            #[inline]
            fn deref(&self) -> &$value {
                &self.access
            }
        }

        impl<$($params)*> std::fmt::Debug for $guard
        where
            $value: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($params)*> std::fmt::Display for $guard
        where
            $value: std::fmt::Display,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

pub(crate) use guard_traits;
