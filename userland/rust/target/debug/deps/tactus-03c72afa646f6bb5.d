/tmp/w/final/userland/rust/target/debug/deps/tactus-03c72afa646f6bb5.d: src/lib.rs

/tmp/w/final/userland/rust/target/debug/deps/tactus-03c72afa646f6bb5: src/lib.rs

src/lib.rs:
