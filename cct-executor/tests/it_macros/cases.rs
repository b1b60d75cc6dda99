//! Tests that have parameters, of which an attribute below makes cases.

fn len(text: Option<&str>) -> usize {
    text.map_or(0, str::len)
}

/// The same tests on tokio and in worlds.
macro_rules! tests {
    ($subject:ident) => {
        use super::len;
        use ::$subject as subject;
        use rstest::rstest;
        use subject::task::yield_now;

        #[subject::test]
        #[rstest]
        #[case(1, "a", len)]
        #[case(3, "aaa", len)]
        async fn each_case_has_its_values(
            #[case] length: usize,
            #[case] text: &str,
            #[case] measure: fn(Option<&str>) -> usize,
            #[values(Some("b"), None)] other: Option<&str>,
        ) {
            yield_now().await;
            assert_eq!(measure(Some(text)), length);
            assert_eq!(measure(other), usize::from(other.is_some()));
        }

        #[subject::test]
        #[rstest]
        async fn every_run_begins_with_the_values_of_the_case(
            #[values(vec![], vec![1, 2])] mut list: Vec<u32>,
            #[values(true, false)] pushes: bool,
        ) {
            let before = list.len();
            assert!(before == 0 || before == 2);
            yield_now().await;
            if pushes {
                list.push(3);
            }
            assert_eq!(list.len() - before, usize::from(pushes));
        }

        #[subject::test(flavor = "current_thread")]
        #[rstest]
        async fn values_may_be_owned(#[values("four", "fourteen")] text: String) {
            assert!(text.starts_with("four"));
        }

        #[subject::test]
        #[rstest]
        #[case((1, 2))]
        async fn a_value_may_be_taken_apart(#[case] (less, more): (u32, u32)) {
            yield_now().await;
            assert!(less < more);
        }

        #[subject::test]
        #[rstest]
        async fn of_any_type<T: Into<u32> + Copy + Send + Sync + 'static>(
            #[values(1_u8, 2_u16)] number: T,
        ) {
            yield_now().await;
            assert!(number.into() > 0);
        }

        // The other way round there are no parameters left.
        #[rstest]
        #[subject::test]
        async fn cases_come_first(#[values(1, 2)] number: u32) {
            yield_now().await;
            assert!(number > 0);
        }
    };
}

mod with_tokio {
    tests!(tokio);
}

mod with_cct {
    tests!(cct_executor);

    /// It is for one run, and not for all iterations together.
    #[cct_executor::test]
    #[rstest]
    #[timeout(std::time::Duration::from_nanos(1))]
    #[case(1)]
    async fn a_time_limit_is_left_out(#[case] one: u32) {
        yield_now().await;
        assert_eq!(one, 1);
    }

    #[cct_executor::test]
    #[rstest]
    fn what_blocks_has_its_values_too(#[values("a", "aa")] text: &str, #[values(2)] most: usize) {
        let waits = async { yield_now().await };
        subject::runtime::Runtime::new().unwrap().block_on(waits);
        assert!(text.len() <= most);
    }
}
