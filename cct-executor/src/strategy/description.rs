//! The canonical text of a strategy: its name, and those of its parameters that are not at their
//! defaults. It parses back to the same strategy.

use std::fmt::{Display, Write as _};

/// Such a text, as it grows.
pub(super) struct Description(String);

impl Description {
    pub(super) fn of(name: &str) -> Description {
        Description(name.to_owned())
    }

    /// With a parameter, if it was given.
    pub(super) fn given(mut self, name: &str, value: Option<impl Display>) -> Description {
        if let Some(value) = value {
            let separator = if self.0.contains(':') { ',' } else { ':' };
            let _ = write!(self.0, "{separator}{name}={value}");
        }
        self
    }

    /// With a parameter, unless it is at its default.
    pub(super) fn unless<T: Display + PartialEq>(
        self,
        name: &str,
        value: T,
        default: T,
    ) -> Description {
        let value = (value != default).then_some(value);
        self.given(name, value)
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_left_out() {
        let plain = Description::of("ql").unless("alpha", 0.3, 0.3);
        assert_eq!(plain.given("k", None::<u64>).text(), "ql");
        let text = Description::of("ql").given("k", Some(7));
        assert_eq!(text.unless("alpha", 0.5, 0.3).text(), "ql:k=7,alpha=0.5");
    }
}
