//! What processes and watched descriptors do.

use super::rt;
use rt::io::unix::AsyncFd;
use rt::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Interest};
use rt::process::Command;
use rt::time::{Duration, Instant, timeout};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

pub(crate) async fn talks() {
    let mut cat = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = cat.stdin.take().unwrap();
    let mut lines = BufReader::new(cat.stdout.take().unwrap()).lines();
    for line in ["one", "two"] {
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some(line));
    }
    // More than a pipe holds.
    let writing = rt::spawn(async move {
        for _ in 0..100 {
            stdin.write_all(&[b'x'; 4096]).await.unwrap();
        }
        stdin.shutdown().await.unwrap();
    });
    let mut rest = String::new();
    let mut reader = lines.into_inner();
    reader.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest.len(), 100 * 4096);
    writing.await.unwrap();
    assert!(cat.wait().await.unwrap().success());
}

pub(crate) async fn ends() {
    let mut child = shell("exit 3").spawn().unwrap();
    assert!(child.id().is_some());
    assert_eq!(child.wait().await.unwrap().code(), Some(3));
    assert_eq!(child.wait().await.unwrap().code(), Some(3));
    assert_eq!(child.try_wait().unwrap().unwrap().code(), Some(3));
    assert!(child.id().is_none());
    child.start_kill().unwrap();
    assert_eq!(shell("exit 4").status().await.unwrap().code(), Some(4));
    let output = shell("echo out; echo err >&2").output().await.unwrap();
    assert_eq!(
        (&output.stdout[..], &output.stderr[..]),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert!(output.status.success());
    let missing = Command::new("no program has this name").spawn();
    assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
}

pub(crate) async fn is_killed() {
    let mut child = shell("sleep 100").spawn().unwrap();
    assert!(child.try_wait().unwrap().is_none());
    child.kill().await.unwrap();
    assert_eq!(child.wait().await.unwrap().code(), None);
    // The one that reads sees that the other is gone, as nobody else has its end.
    let mut command = Command::new("sleep");
    command.arg("100").stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    drop(child);
    assert_eq!(stdout.read(&mut [0]).await.unwrap(), 0);
}

pub(crate) async fn takes_time() {
    let begin = Instant::now();
    let mut child = shell("sleep 0.3").spawn().unwrap();
    // It ends first, however little there is to do here.
    let ended = timeout(Duration::from_secs(60), child.wait()).await;
    assert!(ended.unwrap().unwrap().success());
    let took = begin.elapsed();
    assert!(
        (0.2..30.0).contains(&took.as_secs_f64()),
        "it took {took:?}"
    );
}

pub(crate) async fn is_asked() {
    let begin = Instant::now();
    let mut child = shell("sleep 0.2").spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(10));
        rt::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Looks at what is not waited for, in a loop of short sleeps.
async fn comes(mut is_there: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_there() {
        assert!(begin.elapsed() < Duration::from_secs(10));
        rt::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) async fn is_looked_at() {
    let mut child = std::process::Command::new("sleep");
    let mut child = child.arg("0.2").spawn().unwrap();
    comes(|| child.try_wait().unwrap().is_some()).await;
}

pub(crate) async fn leaves_another() {
    let name = format!("cct-left-behind-{}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let script = format!("(sleep 0.2; echo > {}) &", file.display());
    let mut child = shell(&script).stdout(Stdio::null()).spawn().unwrap();
    assert!(child.wait().await.unwrap().success());
    comes(|| file.exists()).await;
    std::fs::remove_file(file).unwrap();
}

/// Whoever asks the system itself.
pub(crate) async fn is_waited_for_elsewhere() {
    let child = shell("exit 5").spawn().unwrap();
    let id = i32::try_from(child.id().unwrap()).unwrap();
    rt::time::sleep(Duration::from_millis(300)).await;
    let status = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(id), None).unwrap();
    assert!(matches!(status, nix::sys::wait::WaitStatus::Exited(_, 5)));
}

pub(crate) async fn has_no_time() {
    let mut child = shell("sleep 100").kill_on_drop(true).spawn().unwrap();
    let waiting = timeout(Duration::from_millis(50), child.wait());
    assert!(waiting.await.is_err());
}

pub(crate) async fn passes_on() {
    let mut first = shell("echo passed on")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out: Stdio = first.stdout.take().unwrap().try_into().unwrap();
    let output = Command::new("cat").stdin(out).output().await.unwrap();
    assert_eq!(output.stdout, b"passed on\n");
    assert!(first.wait().await.unwrap().success());
}

fn pair() -> (AsyncFd<UnixStream>, AsyncFd<UnixStream>) {
    let (reader, writer) = UnixStream::pair().unwrap();
    reader.set_nonblocking(true).unwrap();
    writer.set_nonblocking(true).unwrap();
    let reader = AsyncFd::with_interest(reader, Interest::READABLE).unwrap();
    let writer = AsyncFd::with_interest(writer, Interest::WRITABLE).unwrap();
    (reader, writer)
}

pub(crate) async fn is_watched() {
    let (reader, writer) = pair();
    let reading = rt::spawn(async move {
        let mut read = Vec::new();
        loop {
            let mut guard = reader.readable().await.unwrap();
            let mut bytes = [0; 8];
            match guard.try_io(|fd| fd.get_ref().read(&mut bytes)) {
                Ok(Ok(0)) => return read,
                Ok(count) => read.extend_from_slice(&bytes[..count.unwrap()]),
                Err(_would_block) => {}
            }
        }
    });
    for part in ["some bytes ", "and more"] {
        rt::time::sleep(Duration::from_millis(5)).await;
        let count = writer
            .async_io(Interest::WRITABLE, |mut fd| fd.write(part.as_bytes()))
            .await;
        assert_eq!(count.unwrap(), part.len());
    }
    drop(writer);
    assert_eq!(reading.await.unwrap(), b"some bytes and more");
}

pub(crate) async fn is_full() {
    let (reader, writer) = pair();
    loop {
        let mut guard = writer.writable().await.unwrap();
        if guard.try_io(|fd| fd.get_ref().write(&[0; 4096])).is_err() {
            break;
        }
    }
    let early = timeout(Duration::from_millis(20), writer.writable());
    assert!(early.await.is_err());
    let there = reader.readable().await.unwrap().ready();
    assert!(there.is_readable());
    let mut read = 0;
    while let Ok(count) = reader.get_ref().read(&mut vec![0; 1 << 16]) {
        read += count;
    }
    assert!(read >= 4096);
    writer.writable().await.unwrap().retain_ready();
    drop(reader.into_inner());
}

pub(crate) async fn is_always_ready() {
    let (watched, _other) = pair();
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let error = AsyncFd::new(file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    drop(watched);
}

/// Is busy for more than a second of the machine's time.
fn work() {
    let up = || {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let seconds: f64 = text.split(' ').next().unwrap().parse().unwrap();
        seconds
    };
    let begin = up();
    while up() < begin + 1.2 {}
}

/// Time that passes before somebody waits counts for no limit.
pub(crate) async fn works_before() {
    for _ in 0..2 {
        work();
        let (real, own) = (std::time::Instant::now(), Instant::now());
        let soon = shell("sleep 0.05").status();
        let within = timeout(Duration::from_secs(1), soon).await;
        assert!(within.unwrap().unwrap().success());
        let took = [real.elapsed(), own.elapsed()];
        assert!(took.iter().all(|took| took.as_secs() == 0), "{took:?}");
    }
}
