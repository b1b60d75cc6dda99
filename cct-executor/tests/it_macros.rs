//! The macros. What tokio has too is one text, run against tokio and against `cct_executor`.

/// Each test twice: `subject` is tokio in one of them and `cct_executor` in the other.
macro_rules! both {
    ($($(#[$attribute:meta])* fn $name:ident() $body:block)*) => {
        mod with_tokio {
            #[allow(unused_imports)]
            use super::*;
            use ::tokio as subject;
            $($(#[$attribute])* #[test] fn $name() $body)*
        }
        mod with_cct {
            #[allow(unused_imports)]
            use super::*;
            use ::cct_executor as subject;
            $($(#[$attribute])* #[test] fn $name() $body)*
        }
    };
}

mod it_macros {
    mod attribute;
    mod cases;
    mod flavors;
    mod join;
    mod pin;
    mod probe;
    mod select;
    mod select_flow;
    mod select_limits;
}
