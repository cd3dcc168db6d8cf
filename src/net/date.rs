//! Dates as HTTP writes them (`Sun, 06 Nov 1994 08:49:37 GMT`), for `Retry-After`. Pure.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds since 1970 of a date in the one form that servers may send today; `None` for anything else.
pub fn unix_seconds(text: &str) -> Option<u64> {
    let (_, date) = text.trim().split_once(", ")?;
    let mut fields = date.split(' ');
    let day: u64 = number(fields.next()?, 2)?;
    let name = fields.next()?;
    let month = MONTHS.iter().position(|m| *m == name)? as u64 + 1;
    let year: u64 = number(fields.next()?, 4)?;
    let mut clock = fields.next()?.split(':');
    let hour: u64 = number(clock.next()?, 2)?;
    let minute: u64 = number(clock.next()?, 2)?;
    let second: u64 = number(clock.next()?, 2)?;
    let whole = fields.next() == Some("GMT") && fields.next().is_none() && clock.next().is_none();
    let in_range = (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60 && year >= 1970;
    (whole && in_range).then(|| days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn number(text: &str, digits: usize) -> Option<u64> {
    (text.len() == digits && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Days from 1970-01-01, counting years from March so that the leap day comes last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 719_468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::unix_seconds;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(unix_seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(unix_seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(unix_seconds("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        assert_eq!(unix_seconds("Fri, 01 Mar 2024 00:00:00 GMT"), Some(1_709_251_200));
        assert_eq!(unix_seconds("Wed, 31 Dec 2036 12:00:00 GMT"), Some(2_114_337_600));
    }

    #[test]
    fn anything_else_is_no_date() {
        for text in [
            "",
            "120",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT",
        ] {
            assert_eq!(unix_seconds(text), None, "{text}");
        }
    }
}
