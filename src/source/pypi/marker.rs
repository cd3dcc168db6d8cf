//! Conditions behind requirements, such as `sys_platform == 'linux' and extra == 'all'`.

use crate::source::plan::Platform;

/// What a condition is asked about.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The machine.
    pub platform: Platform,
    /// The extra that is wanted.
    pub extra: &'a str,
}

/// Whether a condition holds; `None` where it cannot be read.
pub fn holds(text: &str, world: World<'_>) -> Option<bool> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: tokens.into_iter().peekable(), world, depth: 0 };
    let value = reader.either()?;
    reader.tokens.next().is_none().then_some(value)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Word(String),
    Quoted(String),
    Operator(String),
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut more = |first: char, takes: fn(char) -> bool| {
            let mut word = String::from(first);
            while let Some(next) = letters.next_if(|c| takes(*c)) {
                word.push(next);
            }
            word
        };
        match letter {
            ' ' | '\t' => {}
            '(' => found.push(Token::Open),
            ')' => found.push(Token::Close),
            '\'' | '"' => {
                let mut inside = String::new();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        other => inside.push(other),
                    }
                }
                found.push(Token::Quoted(inside));
            }
            '=' | '!' | '<' | '>' | '~' => found.push(Token::Operator(more(letter, |c| c == '='))),
            _ if letter.is_ascii_alphabetic() => {
                found.push(Token::Word(more(letter, |c| c.is_ascii_alphanumeric() || "._".contains(c))));
            }
            _ => return None,
        }
    }
    Some(found)
}

struct Reader<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    world: World<'a>,
    depth: u8,
}

impl Reader<'_> {
    fn either(&mut self) -> Option<bool> {
        let mut value = self.both()?;
        while self.word("or") {
            value |= self.both()?;
        }
        Some(value)
    }

    fn both(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.word("and") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        if self.tokens.next_if_eq(&Token::Open).is_some() {
            self.depth = self.depth.checked_add(1).filter(|d| *d < 32)?;
            let value = self.either()?;
            self.depth -= 1;
            return self.tokens.next_if_eq(&Token::Close).map(|_| value);
        }
        let left = self.value()?;
        let operator = self.operator()?;
        let right = self.value()?;
        match operator.as_str() {
            "==" | "===" => Some(left == right),
            "!=" => Some(left != right),
            "in" => Some(right.contains(&left)),
            "not in" => Some(!right.contains(&left)),
            _ => None,
        }
    }

    fn word(&mut self, word: &str) -> bool {
        self.tokens.next_if(|t| matches!(t, Token::Word(w) if w == word)).is_some()
    }

    fn operator(&mut self) -> Option<String> {
        match self.tokens.next()? {
            Token::Operator(operator) => Some(operator),
            Token::Word(word) if word == "in" => Some(word),
            Token::Word(word) if word == "not" && self.word("in") => Some("not in".into()),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let name = match self.tokens.next()? {
            Token::Quoted(text) => return Some(text),
            Token::Word(name) => name,
            _ => return None,
        };
        let value = match name.as_str() {
            "sys_platform" => "linux",
            "platform_system" => "Linux",
            "os_name" => "posix",
            "platform_machine" => self.world.platform.machine(),
            "extra" => self.world.extra,
            _ => return None,
        };
        Some(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(platform: Platform, text: &str) -> Option<bool> {
        holds(text, World { platform, extra: "all" })
    }

    #[test]
    fn the_forms_of_the_toolkits_metadata() {
        let both = "(sys_platform == 'linux' and platform_machine == 'aarch64' or sys_platform == 'linux' and \
                    platform_machine == 'x86_64' or sys_platform == 'win32' and platform_machine == 'AMD64') and extra == 'all'";
        let arm = "(sys_platform == 'linux' and platform_machine == 'aarch64') and extra == 'all'";
        let intel = "(sys_platform == 'linux' and platform_machine == 'x86_64' or sys_platform == 'win32') and extra == 'all'";
        for (text, x86, sbsa) in [
            (both, true, true),
            (arm, false, true),
            (intel, true, false),
            ("(sys_platform == 'win32' or sys_platform == 'linux') and extra == 'nvcc'", false, false),
            ("platform_machine != \"aarch64\"", true, false),
            ("sys_platform == 'linux' or sys_platform == 'linux' and extra == 'none'", true, true),
            ("platform_machine in 'x86_64 AMD64'", true, false),
            ("platform_machine not in 'x86_64 AMD64'", false, true),
        ] {
            assert_eq!(on(Platform::LinuxX86_64, text), Some(x86), "{text}");
            assert_eq!(on(Platform::LinuxSbsa, text), Some(sbsa), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_guessed() {
        let deep = format!("{}extra == 'all'{}", "(".repeat(40), ")".repeat(40));
        for text in [
            "",
            "extra ==",
            "extra == 'all",
            "(extra == 'all'",
            "extra == 'all')",
            "python_version >= '3.9'",
            "a b c",
            "§",
            &deep,
        ] {
            assert_eq!(on(Platform::LinuxX86_64, text), None, "{text}");
        }
    }
}
