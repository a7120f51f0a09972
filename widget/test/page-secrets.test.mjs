// What the page tools count as a secret, by its name.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { outputFiles } = await build({
  bundle: true,
  charset: 'utf8',
  entryPoints: [fileURLToPath(new URL('../src/page/secrets.ts', import.meta.url))],
  format: 'esm',
  write: false,
});
const { isSecretName, pathOf } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

/** The names in a test of the server. */
function namesOf(test) {
  const source = readFileSync(new URL('../../omniassist-core/tests/secret.rs', import.meta.url), 'utf8');
  const [, list] = new RegExp(`fn ${test}\\(\\) \\{\\s*for name in \\[([^\\]]*(?:\\[[^\\]]*\\][^\\]]*)*)\\] \\{`).exec(source);
  return JSON.parse(`[${list.trim().replace(/,$/, '')}]`);
}

test('a name that the server counts as secret is secret in the browser too', () => {
  const names = namesOf('secret_names_are_recognised');
  assert.ok(names.length > 60);
  assert.deepEqual(names.filter((name) => !isSecretName(name)), []);
});

test('a name that the server counts as ordinary is ordinary in the browser too', () => {
  const names = namesOf('ordinary_names_are_not_secret');
  assert.ok(names.length > 20);
  assert.deepEqual(names.filter(isSecretName), []);
  const labels = ['Passenger', 'Card notes', 'Author’s postcode', 'Expansion', 'Company code', 'Account name'];
  assert.deepEqual(labels.filter(isSecretName), []);
});

test('labels and names of codes and cards are secret', () => {
  const names = [
    ...['Verification code', '2FA code', 'Authenticator code', 'CVV2', 'Card no.', 'Mot de passe', 'Kartennummer'],
    ...['pin1', 'cardNo', 'payment_cc_number', 'iban', 'pan', 'Digit 1 of your code', 'code-1', 'contrasen\u0303a'],
  ];
  assert.deepEqual(names.filter((name) => !isSecretName(name)), []);
});

test('a secret in an address is redacted, also within another parameter', () => {
  const clean = (path) => pathOf(new URL(path, 'http://localhost'));
  for (const path of [
    '/?redirect=/x?token=canary',
    '/?next=%2Flogin%3Ftoken%3Dcanary',
    '/?next=%252Flogin%253Ftoken%253Dcanary',
    '/?a=1&next=%2Flogin%3Fb%3D2%26token%3Dcanary',
    '/?next=%2Flogin%3Fb%3D100%25%26token%3Dcanary',
    '/?url=https://user:canary@h/',
    '/?url=https%3A%2F%2Fuser%3Acanary%40h%2F',
    '/?SAMLResponse=canary',
    '/?assertion=canary',
    '/?X-Amz-Signature=canary',
    '/?hmac=canary',
    '/orders;jsessionid=canary',
    '/#/orders?token=canary',
    '/?a=b=c=d=e=token=canary',
  ])
    assert.doesNotMatch(clean(path), /canary/, path);
  const plain = '/orders;v=2?next=%2Forders%3Fpage%3D2&at=12:30&q=a%20b=c#/list?view=all';
  assert.equal(clean(plain), plain);
  assert.equal(clean('/?a=1&next=/x?token=abc&b=2'), '/?a=1&next=[redacted]&b=2');
});
