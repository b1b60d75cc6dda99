use super::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    match StrategySpec::parse(text) {
        Ok(spec) => {
            assert_eq!(spec.to_string(), expect);
            assert_eq!(StrategySpec::parse(expect), Ok(spec));
        }
        Err(error) => assert_eq!(error.to_string(), expect),
    }
}

#[test]
fn canonical_text() {
    check("random", "random");
    check(" pct : k = 7 , d = 2 ", "pct:d=2,k=7");
    check(
        "pct:phases=on,patience=0,final-wait=off",
        "pct:phases=on,final-wait=off,patience=0",
    );
}

#[test]
fn errors_name_the_value_and_what_exists() {
    let all = "expected one of random, round-robin, pct, exhaustive, ses, ss, \
               preemption-bounding, irs, pct-psharp, greedy, idb, ql, negrl-visits, bonus-max, \
               waypoint, pos, urw, surw, pctcp, fest, portfolio";
    check("foo", &format!("unknown strategy `foo`: {all}"));
    check("", &format!("unknown strategy ``: {all}"));
    check("Random:d=1", &format!("unknown strategy `Random`: {all}"));
    check(
        "random:d=1",
        "unknown parameter `d`: strategy `random` takes none",
    );
    check(
        "pct:depth=3",
        "unknown parameter `depth` of strategy `pct`: \
         expected one of d, k, phases, final-wait, patience",
    );
    check(
        "pct:3",
        "invalid parameter `3` of strategy `pct`: expected key=value",
    );
    check(
        "pct:",
        "invalid parameter `` of strategy `pct`: expected key=value",
    );
    check(
        "pct:d=1,",
        "invalid parameter `` of strategy `pct`: expected key=value",
    );
    for value in ["0", "-1", "", "3.5", "10001", "99999999999999999999"] {
        check(
            &format!("pct:d={value}"),
            &format!(
                "invalid value `{value}` of parameter `d` of strategy `pct`: \
                 expected an integer from 1 to 10000"
            ),
        );
    }
    check(
        "pct:phases=yes",
        "invalid value `yes` of parameter `phases` of strategy `pct`: expected `on` or `off`",
    );
    check(
        "pct:d=2,d=2",
        "parameter `d` of strategy `pct` is given twice",
    );
}

#[test]
fn names_are_words() {
    for entry in StrategySpec::all() {
        assert_eq!(
            StrategySpec::parse(entry.name()).unwrap().name(),
            entry.name()
        );
        assert!(!entry.help().is_empty());
        for parameter in entry.parameters() {
            assert!(!parameter.help().is_empty());
            assert!(!parameter.name().contains([':', ',', '=', ' ']));
        }
    }
}
