use super::*;
use crate::words::seed::Generator;
use crate::words::trace::{Decision, DecisionKind};
use rand::Rng;

const SCHEDULE: DecisionKind = DecisionKind::Schedule;
const VALUE: DecisionKind = DecisionKind::Value;
const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn generator(purpose: &str) -> Generator {
    Seed(0).stream(purpose)
}

fn below(rng: &mut Generator, count: u32) -> u32 {
    (rng.next_u64() % u64::from(count)) as u32
}

fn token(trace: Trace) -> ReplayToken {
    let world = WorldConfig {
        noise: Seed(0x0123_4567_89ab_cdef),
        ..WorldConfig::default()
    };
    ReplayToken::new("a_test", &world, trace, 0xdead_beef)
}

fn decision(kind: DecisionKind, index: u32, arity: u32) -> Decision {
    Decision { kind, index, arity }
}

fn uniform(rng: &mut Generator, count: usize, arity: u32) -> Trace {
    (0..count)
        .map(|_| decision(SCHEDULE, below(rng, arity), arity))
        .collect()
}

/// Like a priority strategy: the choice changes every few hundred decisions, the arity now and
/// then by one.
fn runs(rng: &mut Generator, count: usize) -> Trace {
    let (mut arity, mut index) = (8, 0);
    let next = |_| {
        match below(rng, 300) {
            0 => index = below(rng, arity),
            1 => arity = (arity + 1).min(10),
            2 => arity = (arity - 1).max(6),
            _ => {}
        }
        index = index.min(arity - 1);
        decision(SCHEDULE, index, arity)
    };
    (0..count).map(next).collect()
}

/// A trace of any shape: arities of every magnitude, walks, jumps, mixed kinds, repeated choices.
fn any_trace(rng: &mut Generator) -> Trace {
    let count = match below(rng, 4) {
        0 => below(rng, 4),
        1 | 2 => below(rng, 60),
        _ => below(rng, 400),
    };
    let bits = 1 + below(rng, 30);
    let (values, jumps, repeats) = (below(rng, 4), 1 + below(rng, 8), below(rng, 3));
    let (mut arity, mut index) = (2, 0);
    let next = |_| {
        arity = match below(rng, 2 * jumps) {
            0 => 2 + below(rng, 1 << bits).min((1 << 30) - 2),
            1 => (arity + 1).min(1 << 30),
            2 => (arity - 1).max(2),
            _ => arity,
        };
        if index >= arity || below(rng, 3) >= repeats {
            index = match below(rng, 4) {
                0 => 0,
                1 => arity - 1,
                _ => below(rng, arity),
            };
        }
        let kind = if below(rng, 4) < values {
            VALUE
        } else {
            SCHEDULE
        };
        decision(kind, index, arity)
    };
    (0..count).map(next).collect()
}

fn any_token(rng: &mut Generator) -> ReplayToken {
    let clock = match below(rng, 5) {
        0 => Clock::Strict,
        1 => Clock::Adversarial,
        4 => Clock::Lagging(Duration::from_micros(u64::from(below(rng, 5000)))),
        2 => Clock::Racing(Duration::from_millis(u64::from(below(rng, 1000)))),
        _ => Clock::Racing(Duration::new(rng.next_u64(), below(rng, 1_000_000_000))),
    };
    let granularity = match below(rng, 5) {
        0 => Granularity::Await,
        1 => Granularity::Op,
        2 => Granularity::Spawn,
        3 => Granularity::Atomic,
        _ => Granularity::Sync,
    };
    let world = WorldConfig {
        granularity,
        clock,
        start_paused: below(rng, 2) == 0,
        coop_budget: below(rng, 2) == 0,
        spurious_polls: below(rng, 2) == 0,
        partial_io: below(rng, 2) == 0,
        noise: Seed(if below(rng, 2) == 0 {
            0
        } else {
            rng.next_u64()
        }),
        ..WorldConfig::default()
    };
    let name = format!("test_{}", below(rng, 1000));
    ReplayToken::new(&name, &world, any_trace(rng), rng.next_u64())
}

fn error(text: &str) -> TokenError {
    text.parse::<ReplayToken>().expect_err(text)
}

#[test]
fn thousands_of_tokens_come_back() {
    let mut rng = generator("round trip");
    for _ in 0..4000 {
        let token = any_token(&mut rng);
        let text = token.to_string();
        assert_eq!(text.parse(), Ok(token), "{text}");
    }
}

#[test]
fn extremes_come_back() {
    let top = 1 << 30;
    let traces = [
        vec![],
        vec![decision(VALUE, 1, 2)],
        vec![
            decision(SCHEDULE, top - 1, top),
            decision(VALUE, 0, 2),
            decision(VALUE, 0, top),
        ],
        vec![
            decision(SCHEDULE, 1, 17),
            decision(SCHEDULE, 16, 17),
            decision(SCHEDULE, 17, 18),
        ],
        vec![
            decision(SCHEDULE, 65_537, 65_538),
            decision(SCHEDULE, 0, 65_538),
        ],
    ];
    for decisions in traces {
        let mut token = token(decisions.into_iter().collect());
        token.clock = Clock::Racing(Duration::MAX);
        assert_eq!(token.to_string().parse(), Ok(token));
    }
}

#[test]
fn white_space_around_is_tolerated() {
    let token = token(Trace::default());
    assert_eq!(format!(" \t{token}\r\n").parse(), Ok(token));
}

#[test]
fn the_world_goes_in_and_comes_out() {
    let recorded = WorldConfig {
        clock: Clock::Racing(Duration::from_millis(5)),
        granularity: Granularity::Sync,
        start_paused: true,
        coop_budget: false,
        spurious_polls: true,
        partial_io: true,
        noise: Seed(7),
        ..WorldConfig::default()
    };
    let token = ReplayToken::new("a_test", &recorded, Trace::default(), 0xffff_0000_0001);
    let mut world = WorldConfig {
        fail_on_leak: true,
        ..WorldConfig::default()
    };
    token.configure(&mut world);
    assert_eq!(
        world,
        WorldConfig {
            fail_on_leak: true,
            ..recorded
        }
    );
    assert!(token.ended_like(0xffff_0000_0001) && !token.ended_like(0xffff_0000_0002));
}

/// The format is a promise: tokens in commit messages and regression files outlive builds.
#[test]
fn the_format_stays() {
    let decisions = [
        decision(SCHEDULE, 1, 3),
        decision(VALUE, 6, 100),
        decision(SCHEDULE, 2, 4),
    ];
    let mut token = token(decisions.into_iter().collect());
    token.clock = Clock::Racing(Duration::from_millis(5));
    token.test = 0x1234_5678;
    let golden = "c1-G6V4VjQS776t3u_Nq4lnRSMBwJaxAgNr_sUN65D_8Ck";
    assert_eq!(token.to_string(), golden);
    assert_eq!(golden.parse(), Ok(token));
}

#[test]
fn every_change_of_one_character_is_noticed() {
    let mut rng = generator("corruption");
    let others: Vec<char> = ALPHABET.chars().chain("=+/. é\0".chars()).collect();
    for trace in [
        Trace::default(),
        uniform(&mut rng, 100, 5),
        runs(&mut rng, 500),
    ] {
        let text: Vec<char> = token(trace).to_string().chars().collect();
        for position in 0..text.len() {
            for &other in others.iter().filter(|&&c| c != text[position]) {
                let mut changed = text.clone();
                changed[position] = other;
                error(&changed.iter().collect::<String>());
            }
            let mut lost = text.clone();
            lost.remove(position);
            error(&lost.iter().collect::<String>());
            let mut doubled = text.clone();
            doubled.insert(position, text[position]);
            error(&doubled.iter().collect::<String>());
        }
    }
}

#[test]
fn every_cut_is_named() {
    let text = token(uniform(&mut generator("cut"), 40, 6)).to_string();
    for end in 4..text.len() {
        let message = error(&text[..end]).to_string();
        assert!(
            message.starts_with("the token is cut short: "),
            "{end}: {message}"
        );
    }
    let message = error(&text[..30]).to_string();
    let total = text.len();
    assert!(
        message.contains(&format!("30 of {total} characters are there")),
        "{message}"
    );
}

/// Decodes arbitrary text: no panic, and what decodes encodes to the same text.
#[test]
fn arbitrary_text_never_panics() {
    let mut rng = generator("fuzz text");
    for round in 0..60_000 {
        let bytes: Vec<u8> = (0..below(&mut rng, 48))
            .map(|_| rng.next_u64() as u8)
            .collect();
        let text = match round % 4 {
            0 => String::from_utf8_lossy(&bytes).into_owned(),
            1 => format!("c1-{}", String::from_utf8_lossy(&bytes)),
            _ => {
                let word = bytes
                    .iter()
                    .map(|b| char::from(ALPHABET.as_bytes()[*b as usize % 64]));
                format!("c1-{}", word.collect::<String>())
            }
        };
        if let Ok(token) = text.parse::<ReplayToken>() {
            assert_eq!(token.to_string(), text.trim());
        }
    }
}

/// Behind a sound checksum: every body that is taken is the one that would have been written.
#[test]
fn arbitrary_bodies_never_panic_and_have_one_spelling() {
    let mut rng = generator("fuzz bodies");
    let mut taken = 0;
    for round in 0..60_000 {
        let body: Vec<u8> = if round % 2 == 0 {
            // A plain header, then few decisions: often taken.
            let mut body = vec![0; 9];
            body.push(1 + below(&mut rng, 12) as u8);
            body.extend((0..below(&mut rng, 8)).map(|_| rng.next_u64() as u8));
            body
        } else {
            (0..below(&mut rng, 64))
                .map(|_| rng.next_u64() as u8)
                .collect()
        };
        if let Ok(token) = text::seal(&body).parse_sealed() {
            taken += 1;
            assert_eq!(token.body(), body);
        }
    }
    assert!(taken > 150, "only {taken} bodies were taken");
}

#[test]
fn mutated_bodies_have_one_spelling() {
    let mut rng = generator("mutated bodies");
    let mut taken = 0;
    for _ in 0..12_000 {
        let mut body = any_token(&mut rng).body();
        for _ in 0..=below(&mut rng, 2) {
            let position = below(&mut rng, body.len() as u32) as usize;
            match below(&mut rng, 4) {
                0 => drop(body.remove(position)),
                1 => body.insert(position, rng.next_u64() as u8),
                _ => body[position] ^= 1 << below(&mut rng, 8),
            }
        }
        if let Ok(token) = text::seal(&body).parse_sealed() {
            taken += 1;
            assert_eq!(token.body(), body);
        }
    }
    assert!(taken > 500, "only {taken} bodies were taken");
}

trait ParseSealed {
    fn parse_sealed(&self) -> Result<ReplayToken, TokenError>;
}

impl ParseSealed for String {
    fn parse_sealed(&self) -> Result<ReplayToken, TokenError> {
        format!("c1-{self}").parse()
    }
}

#[test]
fn few_bytes_cannot_claim_many_decisions() {
    for length in [0, 1, 2, 10, 100] {
        for fill in [0, 0x55, 0xff] {
            let mut body = vec![0; 9];
            text::put_number(&mut body, DECISIONS_MAX);
            body.extend(vec![fill; length]);
            let message = text::seal(&body)
                .parse_sealed()
                .expect_err("a bomb")
                .to_string();
            assert!(
                message.starts_with("the token says something impossible"),
                "{message}"
            );
        }
    }
    let same: Trace = (0..200_000).map(|_| decision(SCHEDULE, 0, 2)).collect();
    let packed = pack::pack(same.decisions()).len();
    assert!(packed * 4096 >= 200_000, "{packed} bytes");
}

#[test]
fn tokens_are_short() {
    let mut rng = generator("size");
    let cases = [
        ("empty", Trace::default(), 40),
        ("40 of 4", uniform(&mut rng, 40, 4), 70),
        ("10,000 of 8", uniform(&mut rng, 10_000, 8), 5_200),
        ("10,000 of 2", uniform(&mut rng, 10_000, 2), 1_800),
        ("10,000 of 100", uniform(&mut rng, 10_000, 100), 11_300),
        ("10,000 in runs", runs(&mut rng, 10_000), 350),
        (
            "10,000 alike",
            (0..10_000).map(|_| decision(SCHEDULE, 3, 8)).collect(),
            60,
        ),
    ];
    for (name, trace, bound) in cases {
        let length = token(trace).to_string().len();
        assert!(
            length <= bound,
            "{name}: {length} characters, at most {bound} wanted"
        );
    }
}

#[test]
fn errors_name_the_value_and_the_remedy() {
    let sound = token(uniform(&mut generator("errors"), 9, 3)).to_string();
    let total = sound.len();
    let mut damaged = sound.clone().into_bytes();
    damaged[20] = if damaged[20] == b'A' { b'B' } else { b'A' };
    let impossible = |kind, index, arity| {
        token([decision(kind, index, arity)].into_iter().collect()).to_string()
    };
    let cases: [(String, String); 11] = [
        (
            "9f2c".into(),
            "`9f2c` is not a replay token: expected text that starts with `c1-`; \
             copy the whole token from the report"
                .into(),
        ),
        (
            "x".repeat(50),
            format!("`{}…` is not a replay token", "x".repeat(40)),
        ),
        ("c01-AAAA".into(), "`c01-AAAA` is not a replay token".into()),
        (
            "c2-AAAA".into(),
            "token is for format 2, this build reads 1; find the failure".into(),
        ),
        (
            format!("{}…", &sound[..20]),
            "the token is damaged: character 21 is '…', which no token contains; copy".into(),
        ),
        (
            sound[..total - 3].into(),
            format!(
                "the token is cut short: {} of {total} characters are there",
                total - 3
            ),
        ),
        (
            "c1-".into(),
            "the token is cut short: 3 characters are too few; copy the whole".into(),
        ),
        (
            format!("{sound}AAAAA"),
            format!("the token has 5 characters too many: it ends after {total}; remove what"),
        ),
        (
            String::from_utf8(damaged).expect("only ASCII"),
            format!("the token is damaged: its {total} characters do not match its checksum; copy"),
        ),
        (
            impossible(SCHEDULE, 0, 1),
            "the token says something impossible: decision 0 is choice 0 of 1; it was not".into(),
        ),
        (
            impossible(VALUE, 5, (1 << 30) + 1),
            "the token says something impossible: decision 0 is choice 5 of 1073741825;".into(),
        ),
    ];
    for (text, expected) in cases {
        let message = error(&text).to_string();
        assert!(
            message.starts_with(&expected),
            "{text}\n  gave {message}\n  not  {expected}"
        );
    }
    assert!(error("c2-").is_other_format() && error(&sound[..20]).is_damaged());
}

#[test]
fn too_much_is_refused() {
    let long = "c1-".to_owned() + &"A".repeat(CHARACTERS_MAX);
    assert!(
        error(&long)
            .to_string()
            .starts_with("the token is too long: 67108867 characters")
    );
    let mut body = vec![0; 9];
    text::put_number(&mut body, DECISIONS_MAX + 1);
    let message = text::seal(&body)
        .parse_sealed()
        .expect_err("too many")
        .to_string();
    assert!(
        message.starts_with("the token holds 16777217 decisions, at most"),
        "{message}"
    );
}

#[test]
fn a_token_knows_its_test() {
    let token = token(Trace::default());
    assert_eq!(token.for_test("a_test"), Ok(()));
    let error = token.for_test("b_test").expect_err("another test");
    assert!(error.is_other_test());
    let message = error.to_string();
    assert!(
        message.starts_with("token belongs to another test: it is for"),
        "{message}"
    );
    assert!(message.contains("`b_test` has "), "{message}");
}
