//! A small HTTP server for the tests, good or bad as told: one thread a connection, one answer a connection.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What one request to a path gets.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The file, in full or the range that was asked for.
    Well,
    /// This many bytes of the body under the right headers, then the end of the connection.
    Cut(usize),
    /// The same, then a reset.
    Reset(usize),
    /// The end of the connection before any byte.
    Drop,
    /// This many bytes, then silence until the client leaves.
    Stall(usize),
    /// One byte after another, for ever.
    Trickle,
    /// A `Content-Length` that is off by this much.
    Length(i64),
    /// The whole file, whatever range was asked for.
    NoRange,
    /// 206 that claims the asked range and carries the bytes of the file's start.
    WrongRange,
    /// 206 for a range that starts one byte later than asked.
    ShiftedRange,
    /// Other bytes of the same length.
    Wrong,
    /// The first bytes of the file as if they were all.
    Short(usize),
    /// A status with further header lines.
    Status(u16, &'static str),
    /// 404, but only once another path has been asked for.
    AbsentAfter(&'static str),
    /// 200 with a page.
    Html(&'static str),
    /// Packed without being asked.
    Gzip,
    /// 302 to an address.
    Redirect(String),
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    pub range: Option<String>,
    pub if_range: Option<String>,
    pub agent: Option<String>,
}

#[derive(Default)]
struct State {
    files: HashMap<String, Vec<u8>>,
    script: HashMap<String, Vec<Answer>>,
    seen: Vec<Seen>,
    etag: Option<String>,
}

/// The server; it ends with the test's process.
#[derive(Clone)]
pub struct FaultServer {
    address: String,
    state: Arc<Mutex<State>>,
}

impl FaultServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { etag: Some("\"v1\"".into()), ..State::default() }));
        let server = Self { address, state };
        let for_thread = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let server = for_thread.clone();
                std::thread::spawn(move || drop(server.serve(stream)));
            }
        });
        server
    }

    /// Puts a file there, or another in its place.
    pub fn file(&self, path: &str, bytes: &[u8]) -> String {
        self.state.lock().unwrap().files.insert(path.to_owned(), bytes.to_vec());
        self.url(path)
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// The next answers for a path, in this order; after them all goes well.
    pub fn next(&self, path: &str, answers: &[Answer]) {
        let mut reversed = answers.to_vec();
        reversed.reverse();
        self.state.lock().unwrap().script.insert(path.to_owned(), reversed);
    }

    pub fn etag(&self, etag: Option<&str>) {
        self.state.lock().unwrap().etag = etag.map(str::to_owned);
    }

    /// The requests so far for a path.
    pub fn seen(&self, path: &str) -> Vec<Seen> {
        self.state.lock().unwrap().seen.iter().filter(|s| s.path == path).cloned().collect()
    }

    pub fn count(&self, path: &str) -> usize {
        self.seen(path).len()
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let seen = read_request(&stream)?;
        let (mut body, answer, etag) = {
            let mut state = self.state.lock().unwrap();
            state.seen.push(seen.clone());
            let answer = state.script.get_mut(&seen.path).and_then(Vec::pop).unwrap_or(Answer::Well);
            (state.files.get(&seen.path).cloned(), answer, state.etag.clone())
        };
        match &answer {
            Answer::Drop => return Ok(()),
            Answer::Status(code, headers) => {
                return write!(
                    stream,
                    "HTTP/1.1 {code} X\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
                );
            }
            Answer::Redirect(to) => {
                return write!(
                    stream,
                    "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
            }
            Answer::Html(kind) => {
                let page = "<!DOCTYPE html><html><body>log in</body></html>";
                return write!(
                    stream,
                    "HTTP/1.1 200 OK\r\n{kind}Content-Length: {}\r\nConnection: close\r\n\r\n{page}",
                    page.len()
                );
            }
            _ => {}
        }
        if let Answer::AbsentAfter(other) = answer {
            while self.count(other) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            body = None;
        }
        let Some(mut body) = body else {
            return write!(
                stream,
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        };
        match &answer {
            Answer::Wrong => body.iter_mut().for_each(|b| *b ^= 1),
            Answer::Short(length) => body.truncate(*length),
            Answer::Gzip => {
                let mut gzip = Vec::new();
                flate2::read::GzEncoder::new(body.as_slice(), flate2::Compression::fast())
                    .read_to_end(&mut gzip)?;
                body = gzip;
            }
            _ => {}
        }
        send(stream, &seen, &body, &answer, etag.as_deref())
    }
}

fn send(
    mut stream: TcpStream,
    seen: &Seen,
    body: &[u8],
    answer: &Answer,
    etag: Option<&str>,
) -> std::io::Result<()> {
    let held = seen.if_range.is_none() || seen.if_range.as_deref() == etag;
    let asked = seen.range.as_deref().filter(|_| held && !matches!(answer, Answer::NoRange | Answer::Gzip));
    let total = body.len();
    let mut from = 0;
    match asked.and_then(|range| range.strip_prefix("bytes=")).and_then(|range| range.split_once('-')) {
        Some(("", tail)) => from = total.saturating_sub(tail.parse().unwrap()),
        Some((start, _)) => from = start.parse().unwrap(),
        None => {}
    }
    if asked.is_some() && from >= total {
        return write!(
            stream,
            "HTTP/1.1 416 X\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    if matches!(answer, Answer::ShiftedRange) {
        from += 1;
    }
    let mut rest = body[from..].to_vec();
    if asked.is_some() {
        write!(stream, "HTTP/1.1 206 X\r\nContent-Range: bytes {from}-{}/{total}\r\n", total - 1)?;
        if matches!(answer, Answer::WrongRange) {
            rest = body[..rest.len()].to_vec();
        }
    } else {
        write!(stream, "HTTP/1.1 200 OK\r\n")?;
    }
    let claimed = match answer {
        Answer::Trickle => 1 << 30,
        Answer::Length(off) => usize::try_from(i64::try_from(rest.len()).unwrap() + off).unwrap(),
        _ => rest.len(),
    };
    write!(stream, "Content-Length: {claimed}\r\nConnection: close\r\n")?;
    if let Some(etag) = etag {
        write!(stream, "ETag: {etag}\r\n")?;
    }
    if matches!(answer, Answer::Gzip) {
        write!(stream, "Content-Encoding: gzip\r\n")?;
    }
    write!(stream, "\r\n")?;
    match answer {
        Answer::Cut(count) => stream.write_all(&rest[..*count]),
        Answer::Reset(count) => {
            stream.write_all(&rest[..*count])?;
            // Closing with SO_LINGER 0 is what makes the kernel send a reset.
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
            Ok(())
        }
        Answer::Trickle => {
            for byte in rest.iter().cycle() {
                stream.write_all(&[*byte])?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        }
        Answer::Stall(count) => {
            stream.write_all(&rest[..*count])?;
            // The end of the client's side is the condition; the timeout bounds a test that has hung.
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            let _ = stream.read(&mut [0]);
            Ok(())
        }
        _ => stream.write_all(&rest),
    }
}

fn read_request(stream: &TcpStream) -> std::io::Result<Seen> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let path = target.split_once("://").map_or(target.clone(), |(_, rest)| {
        // A proxy is asked for the whole address.
        rest.find('/').map_or_else(String::new, |slash| rest[slash..].to_owned())
    });
    let mut seen = Seen { path, range: None, if_range: None, agent: None };
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else { break };
        let slot = match name.to_ascii_lowercase().as_str() {
            "range" => &mut seen.range,
            "if-range" => &mut seen.if_range,
            "user-agent" => &mut seen.agent,
            _ => continue,
        };
        *slot = Some(value.to_owned());
    }
    Ok(seen)
}
