//! The vectors in tests/vectors of the checkout, for tests.

use serde_json::Value;

pub(crate) fn read(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    let text = std::fs::read(format!("{folder}/{name}")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

pub(crate) fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    let digits = (0..text.len())
        .step_by(2)
        .map(|start| &text[start..start + 2]);
    digits
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect()
}
