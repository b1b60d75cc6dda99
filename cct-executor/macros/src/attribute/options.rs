//! The options of the test attribute, and which builder call each one becomes.

use super::parse_list;
use super::values::{Value, duration_tokens, join_words};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Path, Token};

/// In the order in which they are listed to the user.
const NAMES: [&str; 29] = [
    "iterations",
    "time_budget",
    "strategy",
    "seed",
    "workers",
    "clock",
    "granularity",
    "max_steps",
    "max_tasks",
    "max_time",
    "poll_limit",
    "fail_on_leak",
    "fail_on_limit",
    "determinism_check",
    "await_check",
    "shrink",
    "isolation",
    "coop_budget",
    "spurious_polls",
    "partial_io",
    "lasting_yields",
    "late_timers",
    "start_paused",
    "keep_going",
    "learnt",
    "flavor",
    "worker_threads",
    "name",
    "crate",
];

/// One `name = value`.
pub(super) struct Argument {
    name: Ident,
    value: Value,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected an option, like `iterations = 500`"));
        }
        let name = input.call(Ident::parse_any)?;
        check_name(&name)?;
        let missing = || {
            let message = format!("option `{name}` requires a value: `{name} = ...`");
            syn::Error::new(name.span(), message)
        };
        if !input.peek(Token![=]) {
            return Err(missing());
        }
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(missing());
        }
        let value = Value {
            option: name.to_string(),
            expression: input.parse()?,
        };
        Ok(Argument { name, value })
    }
}

fn check_name(name: &Ident) -> syn::Result<()> {
    if NAMES.iter().any(|known| name == known) {
        return Ok(());
    }
    let known: Vec<String> = NAMES.iter().map(|known| format!("`{known}`")).collect();
    Err(syn::Error::new(
        name.span(),
        format!("unknown option `{name}`: expected {}", join_words(&known)),
    ))
}

#[derive(Clone, Copy, PartialEq)]
enum Flavor {
    CurrentThread,
    Local,
    MultiThread,
}

/// Checked options.
#[derive(Default)]
pub(super) struct Options {
    /// Where `cct_executor` is, if the user says so.
    pub(super) crate_path: Option<Path>,
    /// The scenario may call `spawn_local`.
    pub(super) local: bool,
    /// Whether the runtime is said to have one thread.
    pub(super) current_thread: bool,
    /// Whether it is said to have several.
    pub(super) multi_thread: bool,
    /// It is tokio's own attribute.
    pub(super) of_tokio: bool,
    /// Builder calls in the order of the options.
    pub(super) calls: Vec<Call>,
}

/// `.method(argument)`; paths in the argument may begin with the crate.
pub(super) struct Call {
    pub(super) method: &'static str,
    pub(super) argument: Code,
}

/// Code whose path to the crate is filled in later.
pub(super) enum Code {
    /// Stands alone.
    Plain(TokenStream),
    /// Goes behind the crate's path and `::`.
    InCrate(TokenStream),
}

impl Options {
    pub(super) fn parse(args: TokenStream) -> syn::Result<Options> {
        let arguments = parse_list(args)?;
        let mut mistakes: Vec<syn::Error> = Vec::new();
        let mut options = Options::default();
        for (index, argument) in arguments.iter().enumerate() {
            let name = &argument.name;
            if arguments[..index]
                .iter()
                .any(|earlier| earlier.name == *name)
            {
                let message = format!("option `{name}` is given twice");
                mistakes.push(syn::Error::new(name.span(), message));
            } else if let Err(mistake) = options.apply(argument, &arguments) {
                mistakes.push(mistake);
            }
        }
        mistakes.extend(conflicts(&arguments));
        let all = mistakes.into_iter().reduce(|mut all, mistake| {
            all.combine(mistake);
            all
        });
        all.map_or(Ok(options), Err)
    }

    /// What tokio's own attribute means, as far as nothing else is said: a test runs on `current_thread`, and by a clock
    /// that is never just where a timer wants it.
    pub(super) fn like_tokio(mut self) -> Options {
        self.of_tokio = true;
        self.calls.insert(0, plain("late_timers", true));
        if !self.multi_thread {
            self.calls.insert(0, plain("lasting_yields", true));
            self.current_thread = !self.local;
        }
        self
    }

    fn apply(&mut self, argument: &Argument, all: &[Argument]) -> syn::Result<()> {
        let value = &argument.value;
        let call = match value.option.as_str() {
            "iterations" => plain("iterations", value.positive(u64::MAX)?),
            "time_budget" => plain("time_budget", optional_duration(value.duration_or_none()?)),
            "strategy" => plain(
                "strategy_text",
                value.text("a strategy in quotes, like \"pct:d=3\"")?,
            ),
            "seed" => {
                let seed = value.seed()?;
                in_crate("seed", quote!(Seed(#seed)))
            }
            "workers" => plain("workers", value.positive(u64::from(u32::MAX))? as usize),
            "clock" => in_crate("clock", value.clock()?),
            "granularity" => in_crate("granularity", granularity(value)?),
            "max_steps" => plain("max_steps", value.positive(u64::MAX)?),
            "max_tasks" => plain("max_tasks", value.positive(u64::from(u32::MAX))? as u32),
            "max_time" => plain("max_time", duration_tokens(value.duration()?)),
            "poll_limit" => plain("poll_limit", duration_tokens(value.duration()?)),
            "fail_on_leak" => plain("fail_on_leak", value.boolean()?),
            "fail_on_limit" => plain("fail_on_limit", value.boolean()?),
            "determinism_check" => plain("determinism_check", value.boolean()?),
            "await_check" => plain("await_check", value.boolean()?),
            "shrink" => plain("shrink", value.boolean()?),
            "isolation" => in_crate("isolation", isolation(value)?),
            "coop_budget" => plain("coop_budget", value.boolean()?),
            "spurious_polls" => plain("spurious_polls", value.boolean()?),
            "partial_io" => plain("partial_io", value.boolean()?),
            "lasting_yields" => plain("lasting_yields", value.boolean()?),
            "late_timers" => plain("late_timers", value.boolean()?),
            "start_paused" => plain("start_paused", value.boolean()?),
            "keep_going" => plain("keep_going", value.boolean()?),
            "learnt" => plain("learnt", value.text("a file in quotes")?),
            "flavor" => {
                let given = all.iter().any(|argument| argument.name == "granularity");
                let flavor = flavor(value)?;
                self.local = flavor == Flavor::Local;
                self.current_thread = flavor == Flavor::CurrentThread;
                self.multi_thread = flavor == Flavor::MultiThread;
                if given || flavor == Flavor::MultiThread {
                    return Ok(());
                }
                in_crate("granularity", quote!(Granularity::Await))
            }
            "name" => return value.text("a name in quotes").map(|_| ()),
            "worker_threads" => return value.positive(u64::from(u32::MAX)).map(|_| ()),
            _ => {
                self.crate_path = Some(value.path()?);
                return Ok(());
            }
        };
        self.calls.push(call);
        Ok(())
    }
}

/// What a `main` runs on.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MainFlavor {
    /// Which may call `spawn_local`.
    Local,
    OneThread,
    Threads,
}

/// Checked options of a `main`.
pub(super) struct MainOptions {
    /// Where `cct_executor` is, if the user says so.
    pub(super) crate_path: Option<Path>,
    pub(super) flavor: MainFlavor,
    pub(super) start_paused: bool,
    pub(super) name: Option<String>,
}

impl MainOptions {
    pub(super) fn parse(args: TokenStream) -> syn::Result<MainOptions> {
        let arguments = parse_list(args)?;
        let mut options = MainOptions {
            crate_path: None,
            flavor: MainFlavor::Threads,
            start_paused: false,
            name: None,
        };
        for argument in &arguments {
            let value = &argument.value;
            match value.option.as_str() {
                "flavor" => {
                    options.flavor = value.one_of(&[
                        ("multi_thread", MainFlavor::Threads),
                        ("current_thread", MainFlavor::OneThread),
                        ("local", MainFlavor::Local),
                    ])?;
                }
                "start_paused" => options.start_paused = value.boolean()?,
                "name" => options.name = Some(value.text("a name in quotes")?),
                "worker_threads" => drop(value.positive(u64::from(u32::MAX))?),
                "crate" => options.crate_path = Some(value.path()?),
                other => {
                    let message = format!(
                        "option `{other}` is one of tests: give it to a test that calls this `main`, or set a variable \
                         such as `CCT_ITERATIONS`"
                    );
                    return Err(syn::Error::new(argument.name.span(), message));
                }
            }
        }
        conflicts(&arguments).map_or(Ok(options), Err)
    }
}

fn plain(method: &'static str, argument: impl quote::ToTokens) -> Call {
    Call {
        method,
        argument: Code::Plain(argument.into_token_stream()),
    }
}

fn in_crate(method: &'static str, argument: TokenStream) -> Call {
    Call {
        method,
        argument: Code::InCrate(argument),
    }
}

fn optional_duration(duration_ms: Option<u64>) -> TokenStream {
    match duration_ms.map(duration_tokens) {
        Some(duration) => quote!(::core::option::Option::Some(#duration)),
        None => quote!(::core::option::Option::None),
    }
}

fn granularity(value: &Value) -> syn::Result<TokenStream> {
    #[derive(Clone, Copy)]
    enum Level {
        Await,
        Op,
        Spawn,
        Sync,
        Atomic,
    }
    let words = [
        ("await", Level::Await),
        ("op", Level::Op),
        ("spawn", Level::Spawn),
        ("sync", Level::Sync),
        ("atomic", Level::Atomic),
    ];
    Ok(match value.one_of(&words)? {
        Level::Await => quote!(Granularity::Await),
        Level::Op => quote!(Granularity::Op),
        Level::Spawn => quote!(Granularity::Spawn),
        Level::Sync => quote!(Granularity::Sync),
        Level::Atomic => quote!(Granularity::Atomic),
    })
}

fn isolation(value: &Value) -> syn::Result<TokenStream> {
    #[derive(Clone, Copy)]
    enum Own {
        Nothing,
        Thread,
        Process,
    }
    let words = [
        ("thread", Own::Thread),
        ("process", Own::Process),
        ("none", Own::Nothing),
    ];
    Ok(match value.one_of(&words)? {
        Own::Nothing => quote!(Isolation::None),
        Own::Thread => quote!(Isolation::Thread),
        Own::Process => quote!(Isolation::Process),
    })
}

fn flavor(value: &Value) -> syn::Result<Flavor> {
    value.one_of(&[
        ("multi_thread", Flavor::MultiThread),
        ("current_thread", Flavor::CurrentThread),
        ("local", Flavor::Local),
    ])
}

/// What tokio rejects too: options of the other flavor.
fn conflicts(arguments: &[Argument]) -> Option<syn::Error> {
    let given = |name: &str| arguments.iter().find(|argument| argument.name == name);
    let flavor = flavor(&given("flavor")?.value).ok()?;
    let (option, needed) = match flavor {
        Flavor::CurrentThread | Flavor::Local => (given("worker_threads")?, "multi_thread"),
        Flavor::MultiThread => (given("start_paused")?, "current_thread"),
    };
    Some(syn::Error::new(
        option.name.span(),
        format!(
            "the `{}` option requires `flavor = \"{needed}\"`",
            option.name
        ),
    ))
}
