// Starts the ledger (examples/ledger) on a free port.

import { startServer } from './server.mjs';

/** A seal key with a public secret. */
export const SEAL_KEY = `2026-11:${'5e'.repeat(32)}`;

/** Calls of the ledger's tools, named by their outcome. */
export const calls = {
  balance: (account = 'rent') => ({ name: 'balance', args: { account } }),
  small: (cents = 700) => ({ name: 'transfer', args: { from: 'savings', to: 'rent', cents } }),
  asked: (cents = 50_000) => ({ name: 'transfer', args: { from: 'savings', to: 'rent', cents } }),
  refused: () => ({ name: 'transfer', args: { from: 'savings', to: 'rent', cents: 1_000_001 } }),
  close: (account = 'travel') => ({ name: 'close_account', args: { account } }),
  statement: (account = 'rent') => ({ name: 'statement', args: { account } }),
  show: (account = 'rent') => ({ name: 'show_account', args: { account } }),
  form: () => ({
    name: 'request_input',
    args: {
      message: 'Whom shall it go to?',
      schema: {
        type: 'object',
        properties: { iban: { type: 'string', title: 'IBAN' }, cents: { type: 'integer', minimum: 1 } },
        required: ['iban', 'cents'],
      },
    },
  }),
};

/**
 * Starts the binary named by `LEDGER_BIN` with a model server as its model.
 * @returns {Promise<{origin: string, api: string, log: () => string, stop: () => Promise<void>,
 *   journal: (from?: number) => Promise<{by: string, chat: string, call: string, tool: string, arguments: object}[]>}>}
 */
export async function startLedger(model, settings = {}) {
  const server = await startServer('LEDGER_BIN', {
    PATH: process.env.PATH,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: 'sk-canary-of-the-suite',
    OMNIASSIST_MODEL: 'scripted-model',
    OMNIASSIST_SEAL_KEYS: SEAL_KEY,
    ...settings,
  });
  const journal = async (from = 0) => (await fetch(`${server.origin}/journal?from=${from}`)).json();
  return { ...server, api: `${server.origin}/assistant`, journal };
}
