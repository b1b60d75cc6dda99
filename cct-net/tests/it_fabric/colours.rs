//! The environment in which blocks of coloured nodes are chosen.

use crate::{checker, everywhere, failed};
use cct_executor::node::{Node, NodeId, node};
use cct_executor::time::{Instant, sleep, timeout};
use cct_executor::{always, nondet, observe, spawn};
use cct_net::fault::colours::{Cluster, Envelope, Environment, LABEL, Rules, System, Wire};
use cct_net::mailbox::Mailbox;
use cct_net::{TcpListener, TcpStream};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Who thinks that it leads, and who saw that it ended.
#[derive(Clone, Default)]
struct Leads(Arc<Mutex<[bool; 4]>>);

impl Leads {
    fn set(&self, node: NodeId, leads: bool) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all[usize::from(node.0)] = leads;
        always!(
            all.iter().filter(|leads| **leads).count() < 2,
            "two leaders"
        );
    }

    fn get(&self, node: NodeId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[usize::from(node.0)]
    }
}

/// Leads as soon as it has heard nothing of any node with a smaller number for 25 ms. With one
/// block there is one leader.
async fn naive(leads: Leads) {
    let mut mailbox = Mailbox::<()>::bind("beat").unwrap();
    let me = mailbox.node();
    let (mut beat, mut heard) = (Instant::now(), Instant::now());
    leads.set(me, false);
    loop {
        if Instant::now() >= beat {
            beat += Duration::from_millis(5);
            for to in NAMES {
                let _ = mailbox.send(to, ());
            }
        }
        if let Ok((from, ())) = timeout(beat - Instant::now(), mailbox.recv()).await {
            if from.0 < me.0 {
                heard = Instant::now();
            }
        }
        leads.set(me, heard.elapsed() > Duration::from_millis(25));
    }
}

fn naive_nodes(leads: &Leads) -> [Node; 3] {
    NAMES.map(|name| {
        let leads = leads.clone();
        node(name).start(move || naive(leads.clone()))
    })
}

fn cluster(nodes: &[Node], leads: &Leads) -> Cluster {
    let leads = leads.clone();
    Cluster::new(nodes, move |node, _| u64::from(leads.get(node.id())))
}

#[test]
fn a_bug_that_takes_a_partition_is_found_and_reported() {
    let report = checker("two leaders").iterations(200).run(|| async {
        let leads = Leads::default();
        let nodes = naive_nodes(&leads);
        cluster(&nodes, &leads).run().await.unwrap();
    });
    let failure = failed(&report);
    assert!(failure.kind.to_string().contains("two leaders"));
    let text = report.text();
    assert!(text.contains(" | "), "{text}");
    assert!(text.contains("colours at 0 ms: "), "{text}");
}

/// The same program, with a step of so few ticks that nobody misses a beat.
#[test]
fn steps_are_as_long_as_the_rules_say() {
    everywhere("short steps", 10, || async {
        let leads = Leads::default();
        let nodes = naive_nodes(&leads);
        let rules = Rules {
            horizon: 4,
            ticks: 3,
            requests: 0,
            ..Rules::PAPER
        };
        let cluster = cluster(&nodes, &leads).rules(rules);
        let begin = Instant::now();
        cluster.tick(Duration::from_millis(1)).run().await.unwrap();
        assert_eq!(begin.elapsed(), Duration::from_millis(12));
        // All links are whole again.
        sleep(Duration::from_millis(100)).await;
    });
}

/// Who heard whom since when.
#[derive(Default)]
struct Heard {
    since: Option<Instant>,
    pairs: BTreeSet<(u16, u16)>,
}

type SharedHeard = Arc<Mutex<Heard>>;

/// Sends to all every millisecond, and notes whom it hears.
async fn beacon(heard: SharedHeard) {
    let mut mailbox = Mailbox::<Instant>::bind("beacon").unwrap();
    let me = mailbox.node();
    let sender = mailbox.sender();
    spawn(async move {
        loop {
            for to in NAMES {
                let _ = sender.send(to, Instant::now());
            }
            sleep(Duration::from_millis(1)).await;
        }
    });
    loop {
        let (from, sent) = mailbox.recv().await;
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.since < Some(sent) {
            heard.pairs.insert((from.0, me.0));
        }
    }
}

/// Which of three pairs of nodes heard each other. The next step begins.
fn take(heard: &SharedHeard) -> Option<[bool; 3]> {
    let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    let pairs = std::mem::take(&mut heard.pairs);
    // Before the first step some nodes may not have begun.
    heard.since.replace(Instant::now())?;
    let known = |(a, b)| {
        let both = [(a, b), (b, a)].map(|pair| pairs.contains(&pair));
        assert_eq!(both[0], both[1], "{pairs:?}");
        both[0]
    };
    Some([(1, 2), (1, 3), (2, 3)].map(known))
}

/// Who hears whom is an equivalence, and all the ways to partition three nodes come up.
#[test]
fn blocks_are_what_nodes_hear() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = seen.clone();
    let report = checker("blocks").iterations(60).run(move || {
        let seen = theirs.clone();
        async move {
            let heard = SharedHeard::default();
            let nodes = NAMES.map(|name| {
                let heard = heard.clone();
                node(name).start(move || beacon(heard.clone()))
            });
            let cluster = Cluster::new(&nodes, move |node, _| {
                if node.id() == NodeId(1) {
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.extend(take(&heard));
                }
                u64::from(node.id().0)
            });
            let rules = Rules {
                horizon: 4,
                requests: 0,
                ..Rules::PAPER
            };
            cluster.rules(rules).run().await.unwrap();
        }
    });
    report.assert_passed();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 5, "{seen:?}");
    // Nobody hears two that do not hear each other.
    let equal = |pairs: &&[bool; 3]| pairs.iter().filter(|heard| **heard).count() != 2;
    assert!(seen.iter().all(|pairs| equal(&pairs)));
}

#[test]
fn nodes_stop_and_start_and_requests_are_made() {
    let counts = [(); 3].map(|()| Arc::new(AtomicU32::new(0)));
    let theirs = counts.clone();
    let scenario = move || {
        let [starts, requests, waits] = theirs.clone();
        async move {
            let mine = Arc::new(AtomicU32::new(0));
            let nodes = NAMES.map(|name| {
                let (starts, mine) = (starts.clone(), mine.clone());
                node(name).start(move || {
                    starts.fetch_add(1, Relaxed);
                    mine.fetch_add(1, Relaxed);
                    std::future::pending::<()>()
                })
            });
            let rules = Rules {
                horizon: 12,
                requests: 2,
                stops: 2,
                ..Rules::default()
            };
            observe::number("requests", 0);
            let made = Arc::new(AtomicU32::new(0));
            let ours = made.clone();
            let cluster = Cluster::new(&nodes, |_, _| 0)
                .rules(rules)
                .requests(move |number| {
                    requests.fetch_add(1, Relaxed);
                    assert_eq!(u32::from(number), ours.fetch_add(1, Relaxed) + 1);
                    observe::number("requests", i64::from(number));
                })
                .requests_while(move |seen| {
                    waits.fetch_add(1, Relaxed);
                    seen.number("requests") < Some(1)
                });
            cluster.run().await.unwrap();
            sleep(Duration::from_millis(1)).await;
            assert!(made.load(Relaxed) <= 1);
            assert!(nodes.iter().all(Node::is_up));
            assert!((3..=5).contains(&mine.load(Relaxed)));
        }
    };
    let report = checker("stops").iterations(40).run(scenario);
    report.assert_passed();
    let [starts, requests, waits] = counts.map(|count| count.load(Relaxed));
    assert!(starts > 3 * 40 + 20, "{starts}");
    assert!(requests > 10, "{requests}");
    assert!(waits > requests);
}

/// Connections wait while their link is held, and go on.
#[test]
fn connections_survive_an_episode() {
    everywhere("connections", 8, || async {
        let server = cct_net::node("server").start(|| async {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut word = [0; 4];
                if stream.read_exact(&mut word).await.is_ok() {
                    let _ = stream.write_all(&word).await;
                }
            }
        });
        let client = node("client").start(std::future::pending::<()>);
        let echo = client.spawn(async {
            sleep(Duration::from_millis(1)).await;
            let mut stream = TcpStream::connect("server:80").await.unwrap();
            stream.write_all(b"ping").await.unwrap();
            let mut word = [0; 4];
            stream.read_exact(&mut word).await.unwrap();
            assert_eq!(&word, b"ping");
        });
        let rules = Rules {
            horizon: 5,
            requests: 0,
            ..Rules::PAPER
        };
        let cluster = Cluster::new([&server, &client], |_, _| 0).rules(rules);
        cluster.run().await.unwrap();
        echo.await.unwrap();
    });
}

#[test]
fn mistakes_are_named() {
    let report = checker("mistakes").iterations(1).run(|| async {
        let idle = |name: &str| node(name).start(std::future::pending::<()>);
        let (a, b) = (idle("a"), idle("b"));
        let with = |nodes: &[&Node], rules, tick| {
            let cluster = Cluster::new(nodes.iter().copied(), |_, _| 0);
            cluster.rules(rules).tick(tick)
        };
        let (rules, tick) = (Rules::PAPER, Duration::from_millis(1));
        let still = Rules {
            horizon: 0,
            ..rules
        };
        let timeless = Rules { ticks: 0, ..rules };
        let many: Vec<Node> = (0..9).map(|n| idle(&format!("n{n}"))).collect();
        let many: Vec<&Node> = many.iter().collect();
        for (cluster, expected) in [
            (with(&[], rules, tick), "has 1 to 8 nodes, not 0"),
            (with(&many, rules, tick), "has 1 to 8 nodes, not 9"),
            (with(&[&a, &b, &a], rules, tick), "has node `a` twice"),
            (with(&[&a, &b], rules, Duration::ZERO), "with ticks of 0"),
            (with(&[&a], still, tick), "with horizon 0"),
            (with(&[&a], timeless, tick), "with ticks 0"),
        ] {
            let error = cluster.run().await.unwrap_err().to_string();
            assert!(
                error.ends_with(expected) || error.contains(expected),
                "{error}"
            );
        }
    });
    report.assert_passed();
}

/// Numbers that grow now and then; nodes take over the highest they are sent, so that those who hear
/// each other stay close.
struct Race {
    numbers: [u32; 3],
}

impl System for Race {
    type Message = u32;

    fn nodes(&self) -> usize {
        3
    }
    fn start_all(&mut self, _: &mut Wire<u32>) {}
    fn colour(&self, node: usize) -> u64 {
        u64::from(self.numbers[node])
    }
    fn tick(&mut self, node: usize, wire: &mut Wire<u32>) {
        self.numbers[node] += wire.below(2) as u32;
        wire.broadcast(node, self.numbers[node]);
    }
    fn deliver(&mut self, envelope: Envelope<u32>, _: &mut Wire<u32>) {
        let number = &mut self.numbers[envelope.to];
        *number = envelope.message.max(*number);
    }
    fn can_request(&self) -> bool {
        false
    }
    fn request(&mut self, _: u8, _: &mut Wire<u32>) {}
    fn stop(&mut self, node: usize) {
        self.numbers[node] = 0;
    }
    fn start(&mut self, _: usize) {}
    fn check(&mut self) {
        let most = self.numbers.iter().max();
        let least = self.numbers.iter().min();
        assert!(most.unwrap() - least.unwrap() < 6, "{:?}", self.numbers);
    }
    fn is_over(&self) -> bool {
        self.numbers.iter().any(|&number| number > 60)
    }
}

#[test]
fn systems_driven_by_ticks_are_searched_too() {
    for strategy in ["random", "negrl-visits", "portfolio"] {
        let report = checker("race")
            .strategy_text(strategy)
            .iterations(2000)
            .run(|| async {
                let numbers = [nondet::choose(2), 0, 0];
                Environment::new(Race { numbers }, Rules::PAPER)
                    .unwrap()
                    .run();
            });
        // One decision a step of the environment, and one before.
        assert!(failed(&report).step <= 2 + u64::from(Rules::PAPER.horizon));
        assert!(report.text().contains(LABEL), "{}", report.text());
    }
}
