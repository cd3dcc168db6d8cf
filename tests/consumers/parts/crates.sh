# shellcheck shell=bash
# A throwaway crate. What does not depend on the toolkit is compiled once for all cells.

export CARGO_TARGET_DIR=$SHARED/$CONSUMER

# crate DEPENDENCIES [BUILD DEPENDENCIES]
crate() {
    mkdir -p src
    printf 'fn main() {}\n' >src/main.rs
    cat >Cargo.toml <<TEXT
[package]
name = "consumer"
version = "0.0.0"
edition = "2021"
[dependencies]
$1
[build-dependencies]
${2:-}
[workspace]
TEXT
    if [ -e "$SHARED/$CONSUMER.lock" ]; then
        cp "$SHARED/$CONSUMER.lock" Cargo.lock
    else
        "$CARGO" generate-lockfile
        cp Cargo.lock "$SHARED/$CONSUMER.lock"
    fi
}
