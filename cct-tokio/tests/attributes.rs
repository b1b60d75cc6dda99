//! tokio's attributes and macros, as code that knows nothing of cct writes them.

// As `tokio = { package = "cct-tokio" }` does.
extern crate cct_tokio as tokio;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Duration, Instant};

#[tokio::test]
async fn lines_over_a_connection() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        let (read, mut write) = stream.split();
        let mut lines = BufReader::new(read).lines();
        while let Some(line) = lines.next_line().await? {
            write.write_all(line.to_uppercase().as_bytes()).await?;
        }
        std::io::Result::Ok(())
    });
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"one\ntwo\n").await?;
    stream.shutdown().await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    assert_eq!(answer, "ONETWO");
    server.await?
}

/// All of tokio's options are known.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads() {
    let (sender, mut receiver) = mpsc::channel(1);
    tokio::spawn(async move { sender.send(1).await });
    tokio::select! {
        got = receiver.recv() => assert_eq!(got, Some(1)),
        () = tokio::time::sleep(Duration::from_secs(60)) => panic!("nobody sends"),
    }
}

#[tokio::test(start_paused = true, flavor = "current_thread")]
async fn paused() {
    let began = Instant::now();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(began.elapsed(), Duration::from_secs(3600));
}

const LARGE: usize = 150_000;

async fn sum_of(bytes: [u8; LARGE]) -> usize {
    tokio::task::yield_now().await;
    bytes.iter().copied().map(usize::from).sum()
}

/// On a stack of 2 MiB, where nothing is optimised.
#[tokio::test]
async fn a_large_body() {
    assert_eq!(sum_of([2; LARGE]).await, 2 * LARGE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_body_beside_threads() {
    assert_eq!(sum_of([2; LARGE]).await, 2 * LARGE);
}

#[tokio::test]
async fn a_large_task() {
    assert_eq!(tokio::spawn(sum_of([2; LARGE])).await.unwrap(), 2 * LARGE);
}

#[tokio::test]
async fn a_large_task_of_a_set() {
    let mut set = tokio::task::JoinSet::new();
    set.spawn(sum_of([1; LARGE]));
    assert_eq!(set.join_next().await.unwrap().unwrap(), LARGE);
}

#[tokio::test]
async fn a_large_local_task() {
    let set = tokio::task::LocalSet::new();
    let sum = set.spawn_local(sum_of([1; LARGE]));
    set.await;
    assert_eq!(sum.await.unwrap(), LARGE);
}

#[tokio::test]
async fn a_large_closure() {
    let bytes = [3_u8; LARGE];
    let closure = move || bytes.iter().copied().map(usize::from).sum::<usize>();
    let sum = tokio::task::spawn_blocking(closure);
    assert_eq!(sum.await.unwrap(), 3 * LARGE);
}

mod renamed {
    pub(crate) use cct_tokio as runtime;
}

#[tokio::test(crate = "crate::renamed::runtime")]
async fn where_the_crate_is_said() {
    tokio::task::yield_now().await;
}

/// One thread runs the others first when the test yields; several do not wait for them.
async fn counts_on_one_yield() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let task = tokio::spawn(async move { sender.send(1) });
    tokio::task::yield_now().await;
    assert_eq!(receiver.try_recv(), Ok(1), "one yield was not enough");
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn one_yield_is_enough_on_one_thread() {
    counts_on_one_yield().await;
}

#[tokio::test(start_paused = true)]
async fn one_yield_is_enough_before_the_clock_is_moved() {
    let task = tokio::spawn(tokio::time::sleep(Duration::from_secs(5)));
    tokio::task::yield_now().await;
    tokio::time::advance(Duration::from_secs(5)).await;
    assert!(task.is_finished());
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "one yield was not enough")]
async fn one_yield_is_not_enough_on_several() {
    counts_on_one_yield().await;
}

/// Two increments that are each in two parts: some schedule loses one.
async fn loses_one() {
    let count = Arc::new(Mutex::new(0));
    let increment = |count: Arc<Mutex<u32>>| async move {
        let before = *count.lock().await;
        *count.lock().await = before + 1;
    };
    let (one, other) = (
        tokio::spawn(increment(count.clone())),
        tokio::spawn(increment(count.clone())),
    );
    tokio::try_join!(one, other).unwrap();
    assert_eq!(*count.lock().await, 2, "one was lost");
}

#[tokio::test]
#[should_panic(expected = "one was lost")]
async fn schedules_are_explored() {
    loses_one().await;
}

/// What a task that nobody asks does in plain order it does on tokio, too, where the test passes.
#[tokio::test]
async fn a_panic_that_nobody_hears_of_on_tokio() {
    drop(tokio::spawn(async { panic!("unheard") }));
    drop(tokio::spawn(async { panic!("unheard, too") }));
    tokio::task::yield_now().await;
}

#[tokio::test]
#[should_panic(expected = "one was lost")]
async fn other_failures_are_found_beside_it() {
    drop(tokio::spawn(async { panic!("unheard") }));
    loses_one().await;
}

/// A panic that takes another order than the plain one is a find.
#[tokio::test]
#[should_panic(expected = "the second was first")]
async fn a_panic_in_some_schedules_only() {
    let (sender, mut receiver) = mpsc::channel(2);
    let first = Arc::new(AtomicUsize::new(0));
    for me in 1..=2 {
        let (sender, first) = (sender.clone(), first.clone());
        drop(tokio::spawn(async move {
            let before = first.fetch_add(1, Ordering::Relaxed);
            sender.send(()).await.unwrap();
            assert_eq!(before + 1, me, "the second was first");
        }));
    }
    drop(sender);
    while receiver.recv().await.is_some() {}
}

/// Lets go of a channel in the middle of a step, at the end of which a task must see it closed.
async fn is_seen_in_the_middle() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let whole = Arc::new(AtomicBool::new(true));
    let seen = whole.clone();
    drop(tokio::spawn(async move {
        while let Some(()) = receiver.recv().await {}
        assert!(seen.load(Ordering::Relaxed), "seen in the middle");
    }));
    tokio::task::yield_now().await;
    whole.store(false, Ordering::Relaxed);
    drop(sender);
    whole.store(true, Ordering::Relaxed);
}

/// The test lets go of what others live on as it ends, and hears no more of them.
#[tokio::test]
async fn a_panic_while_the_test_ends() {
    is_seen_in_the_middle().await;
}

/// Here it goes on.
#[tokio::test]
#[should_panic(expected = "seen in the middle")]
async fn a_panic_before_the_test_ends() {
    is_seen_in_the_middle().await;
    tokio::task::yield_now().await;
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

#[tokio::main]
async fn program() -> Result<(), std::io::Error> {
    scenario().await
}

/// A name that the expansion might have taken for its own.
async fn scenario() -> Result<(), std::io::Error> {
    RUNS.fetch_add(1, Ordering::Relaxed);
    tokio::spawn(async {}).await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn answer(of: u32) -> u32 {
    tokio::task::yield_now().await;
    of + 1
}

#[tokio::main(flavor = "local")]
async fn local_program() {
    let shared = std::rc::Rc::new(1);
    let task = tokio::task::spawn_local(async move { *shared });
    assert_eq!(task.await.unwrap(), 1);
}

#[tokio::main(flavor = "local")]
async fn local_answer(of: u32) -> u32 {
    let of = std::rc::Rc::new(of);
    tokio::task::spawn_local(async move { *of + 1 })
        .await
        .unwrap()
}

#[test]
fn a_program_on_one_thread() {
    local_program();
}

/// By itself a `main` is a scenario.
#[test]
fn a_program_is_explored() {
    program().unwrap();
    let runs = RUNS.load(Ordering::Relaxed);
    assert!(runs > 1, "{runs} runs");
}

#[tokio::main]
async fn program_that_fails() {
    tokio::task::spawn_blocking(|| assert_eq!(answer(1), 3, "wrong answer"))
        .await
        .unwrap();
}

#[test]
#[should_panic(expected = "wrong answer")]
fn a_program_that_fails_says_so() {
    program_that_fails();
}

/// Inside a world, where a test that is no `async fn` is, it builds a runtime.
#[tokio::test]
async fn a_program_in_a_test() {
    let answer = tokio::task::spawn_blocking(|| answer(41)).await.unwrap();
    assert_eq!(answer, 42);
    let answer = tokio::task::spawn_blocking(|| local_answer(41)).await;
    assert_eq!(answer.unwrap(), 42);
}

/// As tokio's attribute has it, the runtime has one thread, unless it says otherwise.
#[tokio::test]
async fn one_thread() {
    use tokio::runtime::{Handle, RuntimeFlavor};

    assert_eq!(
        Handle::current().runtime_flavor(),
        RuntimeFlavor::CurrentThread
    );
    let blocking = std::panic::AssertUnwindSafe(async { tokio::task::block_in_place(|| ()) });
    let panic = futures::FutureExt::catch_unwind(blocking).await;
    assert!(panic.is_err(), "tokio panics, too");
}

/// A panic that hangs on the branch with which a `select!` begins comes on tokio in every other run, and is not heard.
#[tokio::test]
async fn a_panic_that_select_chooses() {
    for _ in 0..2 {
        let (stop, mut stopped) = mpsc::channel::<()>(1);
        let (feed, mut fed) = mpsc::channel::<u8>(1);
        tokio::spawn(async move {
            tokio::select! {
                _ = stopped.recv() => {}
                byte = fed.recv() => { byte.expect("nobody feeds any more"); }
            }
        });
        tokio::task::yield_now().await;
        drop((stop, feed));
        tokio::task::yield_now().await;
    }
}
