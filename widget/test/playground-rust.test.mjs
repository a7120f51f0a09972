// The Rust that the playground writes for values.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rustJson } from '../out/playground/rust.js';

test('integers have a type that holds them', () => {
  const values = [7, -7, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e19, 1e20, -1e20, 1.5, 1e300];
  assert.deepEqual(values.map(rustJson), [
    'json!(7)',
    'json!(-7)',
    'json!(2147483647)',
    'json!(2147483648_i64)',
    'json!(-2147483649_i64)',
    'json!(9007199254740992_i64)',
    'json!(10000000000000000000_u64)',
    'json!(100000000000000000000_f64)',
    'json!(-100000000000000000000_f64)',
    'json!(1.5)',
    'json!(1e+300_f64)',
  ]);
});
