//! Literals of options. Each reader names the value, and what was expected instead.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit, Path};

/// The value of one option, with the option's name for messages.
pub(super) struct Value {
    pub(super) option: String,
    pub(super) expression: Expr,
}

impl Value {
    /// An error at the value.
    pub(super) fn invalid(&self, expected: &str) -> syn::Error {
        let Value { option, expression } = self;
        let value = expression.to_token_stream();
        let remedy = match self.is_computed() {
            true => ", written out: an attribute cannot compute, and knows no constants",
            false => "",
        };
        syn::Error::new_spanned(
            expression,
            format!("invalid {option} `{value}`: expected {expected}{remedy}"),
        )
    }

    /// Whether it is an expression of which only the compiler knows the value.
    fn is_computed(&self) -> bool {
        match &self.expression {
            Expr::Binary(_) | Expr::Call(_) | Expr::MethodCall(_) | Expr::Macro(_) => true,
            Expr::Path(path) => {
                let name = path.path.segments.last().map(|last| last.ident.to_string());
                name.is_some_and(|name| !name.contains(char::is_lowercase))
            }
            _ => false,
        }
    }

    fn literal(&self) -> Option<&Lit> {
        let mut expression = &self.expression;
        while let Expr::Group(group) = expression {
            expression = &group.expr;
        }
        match expression {
            Expr::Lit(ExprLit { lit, .. }) => Some(lit),
            _ => None,
        }
    }

    fn string(&self) -> Option<String> {
        match self.literal() {
            Some(Lit::Str(text)) => Some(text.value()),
            _ => None,
        }
    }

    pub(super) fn text(&self, expected: &str) -> syn::Result<String> {
        self.string().ok_or_else(|| self.invalid(expected))
    }

    pub(super) fn boolean(&self) -> syn::Result<bool> {
        match self.literal() {
            Some(Lit::Bool(value)) => Ok(value.value),
            _ => Err(self.invalid("`true` or `false`")),
        }
    }

    /// An integer from 1 to `max`.
    pub(super) fn positive(&self, max: u64) -> syn::Result<u64> {
        let number = match self.literal() {
            Some(Lit::Int(number)) if number.suffix().is_empty() => Some(number),
            _ => None,
        };
        let value = number.and_then(|number| number.base10_parse::<u128>().ok());
        let small = value.and_then(|value| u64::try_from(value).ok());
        small
            .filter(|number| (1..=max).contains(number))
            .ok_or_else(|| {
                let is_greater = number.is_some() && value != Some(0);
                self.invalid(&match max {
                    u64::MAX if !is_greater => "an integer greater than 0".to_owned(),
                    _ => format!("an integer from 1 to {max}"),
                })
            })
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> syn::Result<T> {
        let given = self.string();
        let found = words
            .iter()
            .find(|(word, _)| given.as_deref() == Some(*word));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<String> = words
                .iter()
                .map(|(word, _)| format!("\"{word}\""))
                .collect();
            self.invalid(&join_words(&words))
        })
    }

    /// What `Seed` reads: an integer, or its text in quotes.
    pub(super) fn seed(&self) -> syn::Result<u64> {
        let seed = match self.literal() {
            Some(Lit::Int(number)) if number.suffix().is_empty() => number.base10_parse().ok(),
            Some(Lit::Str(text)) => parse_seed(&text.value()),
            _ => None,
        };
        seed.ok_or_else(|| {
            self.invalid("an integer, or in quotes 16 hexadecimal digits or \"0x...\"")
        })
    }

    /// A duration in milliseconds.
    pub(super) fn duration(&self) -> syn::Result<u64> {
        let duration = self.string().as_deref().and_then(parse_duration);
        duration
            .filter(|duration| *duration > 0)
            .ok_or_else(|| self.invalid(DURATION))
    }

    /// A duration in milliseconds, or "none".
    pub(super) fn duration_or_none(&self) -> syn::Result<Option<u64>> {
        match self.string().as_deref() {
            Some("none") => Ok(None),
            text => text
                .and_then(parse_duration)
                .filter(|duration| *duration > 0)
                .map(Some)
                .ok_or_else(|| self.invalid(&format!("{DURATION}, or \"none\""))),
        }
    }

    /// The clock policy, as a path below `cct_executor`.
    pub(super) fn clock(&self) -> syn::Result<TokenStream> {
        let text = self.string();
        let with_slack = text.as_deref().and_then(|text| {
            let (kind, slack) = text.strip_suffix(')')?.split_once('(')?;
            let slack = duration_tokens(parse_duration(slack.trim())?);
            match kind {
                "racing" => Some(quote!(Clock::Racing(#slack))),
                "lagging" => Some(quote!(Clock::Lagging(#slack))),
                _ => None,
            }
        });
        match (text.as_deref(), with_slack) {
            (Some("strict"), _) => Ok(quote!(Clock::Strict)),
            (Some("adversarial"), _) => Ok(quote!(Clock::Adversarial)),
            (_, Some(clock)) => Ok(clock),
            _ => Err(self.invalid(
                "\"strict\", \"adversarial\", \"lagging(1ms)\" with the slack of work, or \"racing(5ms)\" with \
                 that between timers",
            )),
        }
    }

    /// A path, bare or in quotes.
    pub(super) fn path(&self) -> syn::Result<Path> {
        let path = match &self.expression {
            Expr::Path(path) if path.qself.is_none() => Some(path.path.clone()),
            _ => match self.literal() {
                Some(Lit::Str(text)) => text.parse_with(Path::parse_mod_style).ok(),
                _ => None,
            },
        };
        path.ok_or_else(|| self.invalid("the path of the crate, like `my_crate::cct_executor`"))
    }
}

const DURATION: &str =
    "a duration like \"10s\": an integer greater than 0 and a unit (`ms`, `s`, `m` or `h`)";

/// Milliseconds.
fn parse_duration(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start() {
        "ms" => 1,
        "s" => 1000,
        "m" => 60 * 1000,
        "h" => 3600 * 1000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

fn parse_seed(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.len() == 16 => u64::from_str_radix(text, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Code for a duration given in milliseconds.
pub(super) fn duration_tokens(duration_ms: u64) -> TokenStream {
    quote!(::core::time::Duration::from_millis(#duration_ms))
}

/// `a, b or c`.
pub(super) fn join_words(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
