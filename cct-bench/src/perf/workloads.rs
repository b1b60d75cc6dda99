// The workloads, once. Included by each executor as a module; `super::rt` supplies
//   Shared<T>; spawn, join; yield_now, sleep_ms; Mutex, lock; channel, send, recv;
//   unbounded, usend, urecv; Wire, server, read_exact, write_all.

use super::rt;
use crate::perf::Params;

/// Runs a workload; of W9, returns whether the bug showed.
pub(crate) async fn run(workload: &str, p: Params) -> bool {
    match workload {
        "w1" => yields(p.n, p.m).await,
        "w2" => ping_pong(p.m / 2).await,
        "w3" | "w10" => increments(p.n, p.m).await,
        "w4" => fan_in(p.n, p.m).await,
        "w5" => sleeps(p.n, p.m).await,
        "w6" => spawn_and_join(p.n).await,
        "w7" => calls(p.n, p.m).await,
        "w8" => {}
        "lost update" => return lost_update(p).await,
        "ABBA deadlock" => abba(p).await,
        "order violation" => return order(p).await,
        other => panic!("unknown workload {other}"),
    }
    false
}

/// n tasks yield m times each.
async fn yields(n: u64, m: u64) {
    let tasks: Vec<_> = (0..n)
        .map(|_| {
            rt::spawn(async move {
                for _ in 0..m {
                    rt::yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        rt::join(task).await;
    }
}

/// Two tasks exchange messages over two channels of capacity 1.
async fn ping_pong(rounds: u64) {
    let (ping_tx, mut ping_rx) = rt::channel(1);
    let (pong_tx, mut pong_rx) = rt::channel(1);
    let pinger = rt::spawn(async move {
        let mut sum = 0;
        for i in 0..rounds {
            rt::send(&ping_tx, i).await;
            sum += rt::recv(&mut pong_rx).await.unwrap();
        }
        sum
    });
    let ponger = rt::spawn(async move {
        for _ in 0..rounds {
            let value = rt::recv(&mut ping_rx).await.unwrap();
            rt::send(&pong_tx, value + 1).await;
        }
    });
    let sum = rt::join(pinger).await;
    rt::join(ponger).await;
    assert_eq!(sum, rounds * (rounds + 1) / 2);
}

/// n tasks lock one mutex m times each and add 1.
async fn increments(n: u64, m: u64) {
    let counter = rt::Shared::new(rt::Mutex::new(0));
    let tasks: Vec<_> = (0..n)
        .map(|_| {
            let counter = counter.clone();
            rt::spawn(async move {
                for _ in 0..m {
                    *rt::lock(&counter).await += 1;
                }
            })
        })
        .collect();
    for task in tasks {
        rt::join(task).await;
    }
    assert_eq!(*rt::lock(&counter).await, n * m);
}

/// n producers send m messages each to one consumer.
async fn fan_in(n: u64, m: u64) {
    let (tx, mut rx) = rt::unbounded();
    let consumer = rt::spawn(async move {
        let mut got = 0;
        while rt::urecv(&mut rx).await.is_some() {
            got += 1;
        }
        got
    });
    let producers: Vec<_> = (0..n)
        .map(|_| {
            let tx = tx.clone();
            rt::spawn(async move {
                for i in 0..m {
                    rt::usend(&tx, i);
                }
            })
        })
        .collect();
    drop(tx);
    for producer in producers {
        rt::join(producer).await;
    }
    let got: u64 = rt::join(consumer).await;
    assert_eq!(got, n * m);
}

/// n tasks sleep m times each; all durations are distinct.
async fn sleeps(n: u64, m: u64) {
    assert!(n * m < 5003);
    let tasks: Vec<_> = (0..n)
        .map(|t| {
            rt::spawn(async move {
                for k in 0..m {
                    // 5003 is prime, so this is a permutation of 1..=5002.
                    rt::sleep_ms((t * m + k + 1) * 2027 % 5003).await;
                }
            })
        })
        .collect();
    for task in tasks {
        rt::join(task).await;
    }
}

/// One task spawns n trivial ones and joins them.
async fn spawn_and_join(n: u64) {
    let tasks: Vec<_> = (0..n).map(|i| rt::spawn(async move { i })).collect();
    let mut sum = 0;
    for task in tasks {
        sum += rt::join(task).await;
    }
    assert_eq!(sum, n * (n - 1) / 2);
}

const BODY: usize = 32;

/// A frame: the body's length in four bytes, then the body, which starts with the call's number.
async fn write_frame(wire: &mut rt::Wire, id: u64) -> bool {
    let mut frame = [0_u8; 4 + BODY];
    frame[..4].copy_from_slice(&(BODY as u32).to_be_bytes());
    frame[4..12].copy_from_slice(&id.to_be_bytes());
    rt::write_all(wire, &frame).await
}

async fn read_frame(wire: &mut rt::Wire) -> Option<u64> {
    let mut len = [0_u8; 4];
    let mut body = [0_u8; BODY];
    if !rt::read_exact(wire, &mut len).await {
        return None;
    }
    let len = u32::from_be_bytes(len) as usize;
    let complete = rt::read_exact(wire, &mut body[..len]).await;
    complete.then(|| u64::from_be_bytes(body[..8].try_into().unwrap()))
}

/// Answers each call with its number plus one, until the other end is gone.
async fn serve(mut wire: rt::Wire) {
    while let Some(id) = read_frame(&mut wire).await {
        if !write_frame(&mut wire, id + 1).await {
            break;
        }
    }
}

/// A client makes m calls, one at a time, to n servers in turn.
async fn calls(n: u64, m: u64) {
    let mut servers = Vec::new();
    for number in 0..n {
        servers.push(rt::server(number, serve).await);
    }
    for id in 0..m {
        let wire = &mut servers[(id % n) as usize];
        assert!(write_frame(wire, id).await);
        assert_eq!(read_frame(wire).await, Some(id + 1));
    }
}

/// Something between two steps that lets a search switch tasks: a yield, or a lock that nobody
/// else uses.
struct Point(Option<rt::Mutex>);

impl Point {
    fn new(p: Params) -> Point {
        Point(p.lock_points.then(|| rt::Mutex::new(0)))
    }

    async fn pass(&self) {
        match &self.0 {
            Some(mutex) => drop(rt::lock(mutex).await),
            None => rt::yield_now().await,
        }
    }
}

/// n tasks read a counter and write it back plus one, in two lock scopes; task t comes t * m
/// points after task 0.
async fn lost_update(p: Params) -> bool {
    let counter = rt::Shared::new(rt::Mutex::new(0));
    let tasks: Vec<_> = (0..p.n)
        .map(|t| {
            let counter = counter.clone();
            rt::spawn(async move {
                let point = Point::new(p);
                for _ in 0..t * p.m {
                    point.pass().await;
                }
                let seen = *rt::lock(&counter).await;
                if seen < p.n {
                    point.pass().await;
                    *rt::lock(&counter).await = seen + 1;
                }
            })
        })
        .collect();
    for task in tasks {
        rt::join(task).await;
    }
    let end = *rt::lock(&counter).await;
    end != p.n
}

/// Two tasks take two locks in opposite orders, the second one m points later.
async fn abba(p: Params) {
    let a = rt::Shared::new(rt::Mutex::new(0));
    let b = rt::Shared::new(rt::Mutex::new(0));
    let tasks: Vec<_> = (0..2)
        .map(|t| {
            let (first, second) = if t == 0 {
                (a.clone(), b.clone())
            } else {
                (b.clone(), a.clone())
            };
            rt::spawn(async move {
                let point = Point::new(p);
                for _ in 0..t * p.m {
                    point.pass().await;
                }
                let mut one = rt::lock(&first).await;
                point.pass().await;
                let mut two = rt::lock(&second).await;
                *one += 1;
                *two += 1;
            })
        })
        .collect();
    for task in tasks {
        rt::join(task).await;
    }
}

/// Six tasks; the bug needs A's opening before B's step, B's before C's, C's before A's closing.
async fn order(p: Params) -> bool {
    const OPEN: u64 = 1;
    const ARMED: u64 = 2;
    const FIRED: u64 = 4;
    let state = rt::Shared::new(rt::Mutex::new(0));
    let tasks: Vec<_> = (0..6)
        .map(|role| {
            let state = state.clone();
            rt::spawn(async move {
                let point = Point::new(p);
                for _ in 0..p.m {
                    point.pass().await;
                }
                match role {
                    0 => {
                        let mut guard = rt::lock(&state).await;
                        if *guard & (OPEN | ARMED) == OPEN | ARMED {
                            *guard |= FIRED;
                        }
                    }
                    1 => {
                        let mut guard = rt::lock(&state).await;
                        if *guard & OPEN != 0 {
                            *guard |= ARMED;
                        }
                    }
                    2 => {
                        *rt::lock(&state).await |= OPEN;
                        point.pass().await;
                        *rt::lock(&state).await &= !OPEN;
                    }
                    _ => {
                        for _ in 0..p.m {
                            point.pass().await;
                        }
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        rt::join(task).await;
    }
    let end = *rt::lock(&state).await;
    end & FIRED != 0
}
