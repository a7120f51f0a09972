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
const { isSecretName } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

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
