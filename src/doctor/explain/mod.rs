//! Known error messages in a log: what each means, and which of its causes this machine shows.

mod causes;
mod search;

pub use causes::{Explained, Standing, explain};
pub use search::{Hit, named, search};
