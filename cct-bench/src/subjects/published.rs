//! Rows of published tables.

use super::Published;

const fn figure(table: &'static str, column: &'static str, value: f64) -> Published {
    Published {
        table,
        column,
        value,
    }
}

impl Published {
    /// A row of table 2 of the QL paper: of 100 runs of 10,000 iterations, how many found the bug.
    /// QLb, QLd, Rand, Greedy, PCT3, PCT10, PCT30, IDB.
    pub(crate) const fn ql2(row: [f64; 8]) -> [Published; 8] {
        [
            figure("ql2", "QLb", row[0]),
            figure("ql2", "QLd", row[1]),
            figure("ql2", "Rand", row[2]),
            figure("ql2", "Greedy", row[3]),
            figure("ql2", "PCT3", row[4]),
            figure("ql2", "PCT10", row[5]),
            figure("ql2", "PCT30", row[6]),
            figure("ql2", "IDB", row[7]),
        ]
    }

    /// The same row, and figures of other tables for the same subject.
    pub(crate) const fn ql2_and(row: [f64; 8], more: [Published; 2]) -> [Published; 10] {
        let [a, b, c, d, e, f, g, h] = Published::ql2(row);
        let [i, j] = more;
        [a, b, c, d, e, f, g, h, i, j]
    }

    /// One figure.
    pub(crate) const fn one(table: &'static str, column: &'static str, value: f64) -> Published {
        figure(table, column, value)
    }

    /// A row of table 1 of the QL paper: the share of iterations that hit, as a percentage.
    /// Random, PCT, QL.
    pub(crate) const fn ql1(row: [f64; 3]) -> [Published; 3] {
        [
            figure("ql1", "Random", row[0]),
            figure("ql1", "PCT", row[1]),
            figure("ql1", "QL", row[2]),
        ]
    }

    /// A row of tables 2 and 3 of the PCT paper: bug depth, threads, steps, steps that count;
    /// the percentage of runs that found the bug with stress, random sleeps and PCT; PCT's bound.
    pub(crate) const fn pct3(row: [f64; 8]) -> [Published; 8] {
        [
            figure("pct3", "d", row[0]),
            figure("pct3", "n", row[1]),
            figure("pct3", "k", row[2]),
            figure("pct3", "k_eff", row[3]),
            figure("pct3", "stress", row[4]),
            figure("pct3", "sleeps", row[5]),
            figure("pct3", "PCT", row[6]),
            figure("pct3", "bound", row[7]),
        ]
    }

    /// The same for a bug that takes PCT's final wait, the main task held back before its last step.
    pub(crate) const fn pct3_held_back(row: [f64; 8]) -> [Published; 9] {
        let [a, b, c, d, e, f, g, h] = Published::pct3(row);
        [a, b, c, d, e, f, g, h, figure("pct3", "final wait", 1.0)]
    }
}
