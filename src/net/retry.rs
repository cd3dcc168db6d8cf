//! What to do after a request failed: try again, after how long, or give up. Pure.

use super::Error;
use std::time::Duration;

/// How much is borne before a failure is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Tries without getting any further, the first included.
    pub tries: u32,
    /// The wait after the first failure; it doubles with each.
    pub first_wait: Duration,
    /// The longest wait of our own choosing.
    pub longest_wait: Duration,
    /// The longest wait that a server may ask for; one that asks for more is not waited for.
    pub longest_asked: Duration,
    /// How many bytes beyond all earlier tries make a try count as getting further.
    pub progress: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            tries: 5,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(8),
            longest_asked: Duration::from_secs(60),
            progress: 1 << 20,
        }
    }
}

/// The step after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Again, after this long.
    Again(Duration),
    /// The failure is final.
    GiveUp,
}

/// How a row of tries stands. The bytes of a file bound it as well: a try is free only if it brought the file further.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    failed: u32,
    furthest: u64,
}

impl Tries {
    /// Decides about `error`, after which the file had grown to `reached` bytes.
    pub fn after(&mut self, patience: &Patience, error: &Error, reached: u64) -> Next {
        if reached >= self.furthest.saturating_add(patience.progress) {
            self.failed = 0;
        }
        self.furthest = self.furthest.max(reached);
        self.failed += 1;
        if self.failed >= patience.tries {
            return Next::GiveUp;
        }
        let doubled = patience.first_wait.saturating_mul(1 << (self.failed - 1).min(16));
        let own = doubled.min(patience.longest_wait);
        match error {
            Error::Status { code: 408 | 425 | 429 | 500..=599, retry_after, .. } => match retry_after {
                Some(asked) if *asked > patience.longest_asked => Next::GiveUp,
                Some(asked) => Next::Again((*asked).max(own)),
                None => Next::Again(own),
            },
            Error::Cut { .. } | Error::Stalled { .. } => Next::Again(own),
            _ => Next::GiveUp,
        }
    }
}

/// `Retry-After` as a wait: seconds, or a date that is compared with `now` (seconds since 1970).
pub fn retry_after(header: &str, now: u64) -> Option<Duration> {
    let header = header.trim();
    if !header.is_empty() && header.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than fit are a wait without end, not a header to be ignored.
        return Some(Duration::from_secs(header.parse().unwrap_or(u64::MAX)));
    }
    super::date::unix_seconds(header).map(|at| Duration::from_secs(at.saturating_sub(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, retry_after: Option<u64>) -> Error {
        let retry_after = retry_after.map(Duration::from_secs);
        Error::Status { url: "http://x/y".into(), code, retry_after }
    }

    fn cut() -> Error {
        Error::Cut { url: "http://x/y".into(), got: 1, wanted: Some(2), why: String::new() }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end() {
        let patience = Patience { tries: 7, ..Patience::default() };
        let mut tries = Tries::default();
        let waits: Vec<_> = (0..7).map(|_| tries.after(&patience, &status(503, None), 0)).collect();
        let ms = |n| Next::Again(Duration::from_millis(n));
        assert_eq!(waits, [ms(500), ms(1000), ms(2000), ms(4000), ms(8000), ms(8000), Next::GiveUp]);
    }

    #[test]
    fn a_server_may_ask_for_a_longer_wait_but_not_for_any() {
        let after = |asked| Tries::default().after(&Patience::default(), &status(429, Some(asked)), 0);
        assert_eq!(after(20), Next::Again(Duration::from_secs(20)));
        assert_eq!(after(0), Next::Again(Duration::from_millis(500)));
        assert_eq!(after(60), Next::Again(Duration::from_secs(60)));
        assert_eq!(after(61), Next::GiveUp);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let next = |error: &Error| Tries::default().after(&Patience::default(), error, 0);
        for code in [408, 425, 429, 500, 502, 503, 504, 599] {
            assert!(matches!(next(&status(code, None)), Next::Again(_)), "{code}");
        }
        for code in [300, 400, 401, 403, 404, 407, 410, 416, 451] {
            assert_eq!(next(&status(code, None)), Next::GiveUp, "{code}");
        }
        let url = String::from("http://x/y");
        assert!(matches!(next(&cut()), Next::Again(_)));
        assert!(matches!(next(&Error::Stalled { url: url.clone(), seconds: 30 }), Next::Again(_)));
        assert_eq!(next(&Error::Resolve { url: url.clone() }), Next::GiveUp);
        assert_eq!(next(&Error::Connect { url: url.clone(), why: String::new() }), Next::GiveUp);
        assert_eq!(next(&Error::Tls { url: url.clone(), why: String::new() }), Next::GiveUp);
        assert_eq!(next(&Error::Html { url }), Next::GiveUp);
    }

    #[test]
    fn tries_that_bring_the_file_further_are_free_and_others_are_not() {
        let patience = Patience { tries: 3, progress: 100, ..Patience::default() };
        let mut tries = Tries::default();
        for reached in [100, 200, 300, 400, 500] {
            assert!(matches!(tries.after(&patience, &cut(), reached), Next::Again(_)), "{reached}");
        }
        // A server that starts over each time and cuts at the same place gets nowhere.
        assert!(matches!(tries.after(&patience, &cut(), 500), Next::Again(_)));
        assert_eq!(tries.after(&patience, &cut(), 500), Next::GiveUp);
        // Nor does one that gives a single byte each time.
        let mut tries = Tries::default();
        assert!(matches!(tries.after(&patience, &cut(), 1), Next::Again(_)));
        assert!(matches!(tries.after(&patience, &cut(), 2), Next::Again(_)));
        assert_eq!(tries.after(&patience, &cut(), 3), Next::GiveUp);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let wait = |text| retry_after(text, 784_111_700);
        assert_eq!(wait("5"), Some(Duration::from_secs(5)));
        assert_eq!(wait(" 0 "), Some(Duration::ZERO));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(77)));
        assert_eq!(wait("Sat, 05 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("99999999999999999999999"), Some(Duration::from_secs(u64::MAX)));
        assert_eq!(wait("-5"), None);
        assert_eq!(wait("soon"), None);
        assert_eq!(wait(""), None);
    }
}
