use super::values::parse_duration;
use super::*;
use crate::words::{Trace, WorldConfig};

const SAMPLE: &str = "samples/token.txt";

fn token() -> ReplayToken {
    ReplayToken::new("a_test", &WorldConfig::default(), Trace::default(), 7)
}

fn parse(variables: &[(&str, &str)]) -> Result<Settings, EnvError> {
    let variables = variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    Settings::parse(variables, |path| {
        if path == Path::new(SAMPLE) {
            Ok(format!("{}\n", token()))
        } else if path == Path::new("broken") {
            Ok("c1-".to_owned())
        } else {
            Err(io::Error::new(io::ErrorKind::NotFound, "no such file"))
        }
    })
}

fn message(name: &str, value: &str) -> String {
    match parse(&[(name, value)]) {
        Ok(settings) => panic!("{name}=`{value}` gave {settings:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn silence_asks_for_nothing() {
    let settings = parse(&[("PATH", "/bin"), ("CCTV", "on"), ("cct_seed", "1")]).unwrap();
    assert_eq!(settings, Settings::default());
    assert!(settings.regressions.read() && settings.regressions.write());
}

#[test]
fn every_variable_is_taken() {
    let settings = parse(&[
        ("CCT_ITERATIONS", "1000"),
        ("CCT_SEED", "00000000000000ff"),
        ("CCT_STRATEGY", "pct:d=3"),
        ("CCT_GRANULARITY", "await"),
        ("CCT_CLOCK", "racing(5ms)"),
        ("CCT_TIME_BUDGET", "500ms"),
        ("CCT_SPURIOUS_POLLS", "1"),
        ("CCT_PARTIAL_IO", "true"),
        ("CCT_MAX_STEPS", "20000"),
        ("CCT_POLL_LIMIT", "1m"),
        ("CCT_REPLAY", &token().to_string()),
        ("CCT_REPLAY_WITH", "cargo cct replay"),
        ("CCT_REPLAY_TAKEN", "target/taken"),
        ("CCT_WORKERS", "1024"),
        ("CCT_ISOLATION", "process"),
        ("CCT_APART", "target/answer"),
        ("CCT_OUTSIDE", "7"),
        ("CCT_REGRESSIONS", "read"),
        ("CCT_LEARNT", "target/learnt"),
        ("CCT_REPORT_ROWS", "100"),
        ("CCT_PLAIN_TESTS", "once"),
    ]);
    let expected = Settings {
        isolation: Some(Isolation::Process),
        apart: Some("target/answer".into()),
        outside: Some(7),
        iterations: Some(1000),
        max_steps: Some(20_000),
        poll_limit: Some(Duration::from_secs(60)),
        seed: Some(SeedSetting::Fixed(Seed(255))),
        strategy: Some("pct:d=3".to_owned()),
        granularity: Some(Granularity::Await),
        clock: Some(Clock::Racing(Duration::from_millis(5))),
        spurious_polls: Some(true),
        partial_io: Some(true),
        time_budget: Some(Some(Duration::from_millis(500))),
        replay: Some(token()),
        replay_with: Some("cargo cct replay".to_owned()),
        replay_taken: Some("target/taken".into()),
        workers: Some(1024),
        learnt: Some("target/learnt".into()),
        report_rows: Some(100),
        plain_tests: PlainTests::Once,
        regressions: RegressionsMode::Read,
    };
    assert_eq!(settings, Ok(expected));
}

#[test]
fn words_instead_of_values() {
    let settings = parse(&[
        ("CCT_SEED", "random"),
        ("CCT_TIME_BUDGET", "none"),
        ("CCT_REPORT_ROWS", "all"),
    ])
    .unwrap();
    assert_eq!(settings.report_rows, Some(usize::MAX));
    assert_eq!(settings.seed, Some(SeedSetting::Random));
    assert_eq!(settings.time_budget, Some(None));
    assert_ne!(SeedSetting::Random.seed(), SeedSetting::Random.seed());
    assert_eq!(SeedSetting::Fixed(Seed(3)).seed(), Seed(3));
}

#[test]
fn granularities_and_clocks_are_those_of_the_attribute() {
    for (text, expected) in [
        ("await", Granularity::Await),
        ("op", Granularity::Op),
        ("spawn", Granularity::Spawn),
        ("sync", Granularity::Sync),
        ("atomic", Granularity::Atomic),
    ] {
        let settings = parse(&[("CCT_GRANULARITY", text)]).unwrap();
        assert_eq!(settings.granularity, Some(expected));
    }
    for (text, expected) in [
        ("strict", Clock::Strict),
        ("adversarial", Clock::Adversarial),
        ("racing(2s)", Clock::Racing(Duration::from_secs(2))),
        ("racing( 5 ms )", Clock::Racing(Duration::from_millis(5))),
        ("lagging(1ms)", Clock::Lagging(Duration::from_millis(1))),
    ] {
        let settings = parse(&[("CCT_CLOCK", text)]).unwrap();
        assert_eq!(settings.clock, Some(expected));
    }
}

#[test]
fn a_token_may_be_in_a_file() {
    let settings = parse(&[("CCT_REPLAY", "@samples/token.txt")]).unwrap();
    assert_eq!(settings.replay, Some(token()));
    assert!(
        message("CCT_REPLAY", "@missing")
            .starts_with("invalid CCT_REPLAY `@missing`: the file cannot be read (no such file); ")
    );
    assert!(
        message("CCT_REPLAY", "@broken")
            .starts_with("invalid CCT_REPLAY `@broken`: in that file, the token is cut short: ")
    );
}

#[test]
fn ci_only_changes_what_is_not_said() {
    use RegressionsMode::{Off, Read, Write};
    let mode = |variables: &[_]| parse(variables).unwrap().regressions;
    for (ci, expected) in [
        ("true", Read),
        ("1", Read),
        ("woodpecker", Read),
        ("", Write),
        ("0", Write),
    ] {
        assert_eq!(mode(&[("CI", ci)]), expected, "CI={ci}");
    }
    assert_eq!(mode(&[("CI", "False")]), Write);
    assert_eq!(mode(&[("CCT_REGRESSIONS", "write"), ("CI", "true")]), Write);
    assert_eq!(mode(&[("CI", "true"), ("CCT_REGRESSIONS", "off")]), Off);
    assert!(!Off.read() && !Off.write() && Read.read() && !Read.write());
}

#[test]
fn bad_values_are_named_with_a_remedy() {
    let cases = [
        (
            "CCT_ITERATIONS",
            "10k",
            "invalid CCT_ITERATIONS `10k`: expected a whole number above 0, such as 1000",
        ),
        (
            "CCT_SEED",
            "xyz",
            "invalid CCT_SEED `xyz`: \
             expected a decimal number, 16 hexadecimal digits, or `random`",
        ),
        (
            "CCT_GRANULARITY",
            "Await",
            "invalid CCT_GRANULARITY `Await`: expected `await`, `op`, `spawn`, `sync` or `atomic`",
        ),
        (
            "CCT_CLOCK",
            "racing(5)",
            "invalid CCT_CLOCK `racing(5)`: \
             expected `strict`, `adversarial`, `lagging(1ms)` with the slack of work, or `racing(5ms)` with that \
             between timers",
        ),
        (
            "CCT_TIME_BUDGET",
            "10",
            "invalid CCT_TIME_BUDGET `10`: \
             expected a whole number above 0 and a unit (ms, s, m or h), such as `10s`, or `none`",
        ),
        (
            "CCT_WORKERS",
            "1025",
            "invalid CCT_WORKERS `1025`: expected a whole number from 1 to 1024, such as 4",
        ),
        (
            "CCT_REGRESSIONS",
            "yes",
            "invalid CCT_REGRESSIONS `yes`: expected `read`, `write` (which also reads) or `off`",
        ),
        (
            "CCT_REPLAY",
            "9f2c",
            "invalid CCT_REPLAY: `9f2c` is not a replay token: \
             expected text that starts with `c1-`; copy the whole token from the report",
        ),
        (
            "CCT_STRATEGY",
            " ",
            "CCT_STRATEGY is empty: give it a value or unset it",
        ),
        (
            "CCT_ITERATION",
            "5",
            "unknown variable `CCT_ITERATION`: the known ones are CCT_ITERATIONS, CCT_SEED, \
             CCT_STRATEGY, CCT_GRANULARITY, CCT_CLOCK, CCT_SPURIOUS_POLLS, CCT_PARTIAL_IO, CCT_TIME_BUDGET, CCT_MAX_STEPS, \
             CCT_POLL_LIMIT, CCT_ISOLATION, CCT_REPLAY, CCT_REPLAY_WITH, CCT_REPLAY_TAKEN, CCT_WORKERS, CCT_REGRESSIONS, CCT_LEARNT, CCT_REPORT_ROWS, CCT_PLAIN_TESTS, CCT_APART, CCT_OUTSIDE",
        ),
        (
            "CCT_MAX_STEPS",
            "10k",
            "invalid CCT_MAX_STEPS `10k`: expected a whole number above 0, such as 1000",
        ),
        (
            "CCT_POLL_LIMIT",
            "none",
            "invalid CCT_POLL_LIMIT `none`: expected a whole number above 0 and a unit (ms, s, m or h), such as `10s`",
        ),
        (
            "CCT_SPURIOUS_POLLS",
            "yes",
            "invalid CCT_SPURIOUS_POLLS `yes`: expected `1` or `true`, or `0` or `false`",
        ),
        (
            "CCT_ISOLATION",
            "fork",
            "invalid CCT_ISOLATION `fork`: expected `none`, `thread` or `process`",
        ),
        (
            "CCT_PLAIN_TESTS",
            "twice",
            "invalid CCT_PLAIN_TESTS `twice`: expected `explore`, `once` or `refuse`",
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(message(name, value), expected);
    }
}

#[test]
fn near_misses_are_refused() {
    let too_big = u64::MAX.to_string() + "0";
    for name in ["CCT_ITERATIONS", "CCT_WORKERS"] {
        for value in [
            "0", "-1", "+1", "1.5", "1_000", "1 ", "0x10", "ten", &too_big,
        ] {
            message(name, value);
        }
    }
    for value in [
        "0s",
        "0ms",
        "-1s",
        "1.5s",
        "s",
        "10 seconds",
        "1m30s",
        "None",
        &too_big,
    ] {
        message("CCT_TIME_BUDGET", value);
    }
    for value in ["Random", "0x", "-1"] {
        message("CCT_SEED", value);
    }
    for value in [
        "racing",
        "racing()",
        "racing(-1ms)",
        "lagging",
        "late(1ms)",
        "racing(5ms",
        "Strict",
        "strict ",
    ] {
        message("CCT_CLOCK", value);
    }
    for value in ["ops", " op", "await,op", "1"] {
        message("CCT_GRANULARITY", value);
    }
    message("CCT_REGRESSIONS", "Write");
    for name in VARIABLES {
        message(name, "");
    }
}

#[cfg(unix)]
#[test]
fn values_must_be_text() {
    use std::os::unix::ffi::OsStringExt;
    let odd = || OsString::from_vec(vec![b'a', 0xff]);
    let never = |_: &Path| -> io::Result<String> { Ok(String::new()) };
    assert_eq!(
        Settings::parse([("OTHER".into(), odd())], never),
        Ok(Settings::default())
    );
    let error = Settings::parse([("CCT_STRATEGY".into(), odd())], never).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid CCT_STRATEGY `a\u{fffd}`: expected valid UTF-8"
    );
}

#[test]
fn durations() {
    let cases = [
        ("500ms", Duration::from_millis(500)),
        ("10s", Duration::from_secs(10)),
        ("2m", Duration::from_secs(120)),
        ("1h", Duration::from_secs(3600)),
        ("0s", Duration::ZERO),
        ("10 s", Duration::from_secs(10)),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_duration(text), Ok(expected), "{text}");
    }
    for text in [
        "",
        "10",
        "ms",
        "1d",
        "1S",
        "+1s",
        "-1s",
        " 1s",
        "1s ",
        "99999999999999999h",
    ] {
        assert_eq!(
            parse_duration(text),
            Err(format!(
                "invalid duration `{text}`: expected a whole number and a unit (ms, s, m or h), \
                 such as `10s`"
            ))
        );
    }
}
