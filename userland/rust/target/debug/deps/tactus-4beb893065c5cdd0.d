/tmp/w/final/userland/rust/target/debug/deps/tactus-4beb893065c5cdd0.d: src/lib.rs

/tmp/w/final/userland/rust/target/debug/deps/libtactus-4beb893065c5cdd0.rlib: src/lib.rs

/tmp/w/final/userland/rust/target/debug/deps/libtactus-4beb893065c5cdd0.rmeta: src/lib.rs

src/lib.rs:
