//! The tables: which strategies stand in the columns, which subjects in the rows, what is measured.

/// What a cell shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Metric {
    /// Of 100 trials, how many found the bug (Bugs^100 of the QL paper).
    Found,
    /// The percentage of iterations that fail.
    Share,
    /// The median number of schedules until the bug.
    Schedules,
    /// Distinct states visited: mean and deviation over the trials.
    Coverage,
}

/// A column: its heading, as the paper has it where there is one, and the strategy. `{d}` stands for
/// the depth of the subject's bug.
pub(super) type Column = (&'static str, &'static str);

/// A table of the papers, or one of ours.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) metric: Metric,
    pub(super) columns: &'static [Column],
    /// Trials and iterations, unless others are asked for.
    pub(super) trials: u64,
    pub(super) iterations: u64,
}

/// What came after the papers, and what is ours.
const MODERN: [Column; 7] = [
    ("PCT", "pct:d=3"),
    ("POS", "pos"),
    ("URW", "urw"),
    ("SURW", "surw"),
    ("PCTCP", "pctcp"),
    ("Fest", "fest"),
    ("Portfolio", "portfolio"),
];

const QL_B: &str = "ql:visits=off,penalties=off";
const QL_D: &str = "ql";

/// The OOPSLA 2024 paper's; what it counts presumes that a target, once reached, stays active.
const REWARDS: &[Column] = &[
    ("WP", "waypoint:one-time=on"),
    ("BM", "bonus-max"),
    ("Neg", "negrl-visits"),
    ("Rand", "random"),
];

/// With the parameters of its section 2.4 but for those called usual; `end` and `step` update values
/// when the paper and its artifact do.
const CUBES: &[Column] = &[
    ("WP", "waypoint:alpha=0.3,gamma=0.99,one-time=on"),
    ("WP-usual", "waypoint:one-time=on"),
    (
        "WP-end",
        "waypoint:alpha=0.3,gamma=0.99,one-time=on,update=end",
    ),
    ("BM", "bonus-max:alpha=0.3,gamma=0.99"),
    ("BM-usual", "bonus-max"),
    ("BM-end", "bonus-max:alpha=0.3,gamma=0.99,update=end"),
    ("BM-step", "bonus-max:alpha=0.3,gamma=0.99,update=step"),
    ("Neg", "negrl-visits"),
    ("Neg-step", "negrl-visits:update=step"),
    ("Neg-artifact", "negrl-visits:gamma=0,update=step"),
    ("Rand", "random"),
];

pub(super) const TABLES: &[Table] = &[
    Table {
        name: "ql2",
        title: "QL paper, table 2: trials (of 100) that found the bug in 10,000 schedules",
        metric: Metric::Found,
        columns: &[
            ("QLb", QL_B),
            ("QLd", QL_D),
            ("Rand", "random"),
            ("Greedy", "greedy:compat=psharp"),
            ("PCT3", "pct-psharp:d=3"),
            ("PCT10", "pct-psharp:d=10"),
            ("PCT30", "pct-psharp:d=30"),
            ("IDB", "idb"),
            MODERN[0],
            MODERN[1],
            MODERN[2],
            MODERN[3],
            MODERN[4],
            MODERN[5],
            MODERN[6],
        ],
        trials: 100,
        iterations: 10_000,
    },
    Table {
        name: "ql1",
        title: "QL paper, table 1: percentage of schedules that match the whole string",
        metric: Metric::Share,
        columns: &[
            ("Random", "random"),
            ("PCT", "pct-psharp:d=3"),
            ("QL", "ql:state=custom"),
            MODERN[1],
            MODERN[6],
        ],
        trials: 4,
        iterations: 10_000,
    },
    Table {
        name: "ql4",
        title: "QL paper, table 4: abstractions; trials (of 100) that found the bug",
        metric: Metric::Found,
        columns: &[
            ("QLi", "ql:state=inbox"),
            ("QLd", QL_D),
            ("QLc", "ql:state=custom"),
            ("sites", "ql:state=sites"),
            ("full", "ql:state=full"),
        ],
        trials: 100,
        iterations: 10_000,
    },
    Table {
        name: "ndn",
        title: "QL paper, section 6: data choices at random instead of learnt (NDN)",
        metric: Metric::Found,
        columns: &[("NDN", "ql:data=random"), ("QLd", QL_D)],
        trials: 100,
        iterations: 10_000,
    },
    Table {
        name: "pct3",
        title: "PCT paper, table 3: percentage of schedules that show the bug",
        metric: Metric::Share,
        columns: &[
            ("PCT", "pct:d={d}"),
            ("Random", "random"),
            MODERN[1],
            MODERN[2],
            MODERN[3],
        ],
        trials: 4,
        iterations: 10_000,
    },
    Table {
        name: "fse",
        title: "FSE 2015 paper, table 1: schedules until the bug (median)",
        metric: Metric::Schedules,
        columns: &[
            ("RS", "random"),
            ("IRS", "irs"),
            ("PCT", "pct:d=5,k=5000"),
            ("SS-RR", "ss:explorer=rr"),
            ("SS-RTC", "ss:explorer=rtc"),
            ("SS-PRR", "ss:explorer=prr"),
            ("PB", "preemption-bounding"),
            ("SES-RR", "ses:explorer=rr,cache=on"),
            ("SES-RTC", "ses:explorer=rtc,cache=on"),
            ("SES-PRR", "ses:explorer=prr,cache=on"),
            ("QL", "ql"),
            MODERN[1],
            MODERN[2],
            MODERN[3],
            MODERN[6],
        ],
        trials: 5,
        iterations: 50_000,
    },
    Table {
        name: "rl",
        title: "OOPSLA 2024 paper, tables 2 and 4: distinct states visited in 10,000 episodes",
        metric: Metric::Coverage,
        columns: REWARDS,
        trials: 10,
        iterations: 10_000,
    },
    Table {
        name: "cubes",
        title: "OOPSLA 2024 paper, section 2.4: distinct cells visited in 5,000 episodes",
        metric: Metric::Coverage,
        columns: CUBES,
        trials: 10,
        iterations: 5_000,
    },
    Table {
        name: "rl6",
        title: "OOPSLA 2024 paper, table 6: percentage of 10,000 episodes that show the bug",
        metric: Metric::Share,
        columns: REWARDS,
        trials: 10,
        iterations: 10_000,
    },
    Table {
        name: "small",
        title: "SCTBench and ConVul, as tasks: schedules until the bug (median)",
        metric: Metric::Schedules,
        columns: &[
            MODERN[6],
            ("Rand", "random"),
            MODERN[0],
            MODERN[1],
            MODERN[3],
            MODERN[2],
            ("QL", QL_D),
        ],
        trials: 20,
        iterations: 10_000,
    },
];

/// The table of this name.
///
/// # Errors
/// If there is none.
pub(super) fn by_name(name: &str) -> Result<&'static Table, String> {
    let known = || {
        TABLES
            .iter()
            .map(|table| table.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    TABLES
        .iter()
        .find(|table| table.name == name)
        .ok_or_else(|| format!("no table is called `{name}`: there are {}", known()))
}
