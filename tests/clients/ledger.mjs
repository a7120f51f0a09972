// A ledger and a scripted model for a file of scenarios. Each scenario runs with every version of the AI SDK.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { startLedger } from '../lib/ledger.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';
import { assertKept } from './kept.mjs';

/** The query with which a page sends its version. Version 6 is the default of the server. */
const QUERY = { v5: '?ai-sdk=5', v6: '', v7: '?ai-sdk=7' };

export const ALL = Object.keys(versions);
/** The versions that have approvals. */
export const ASKING = ['v6', 'v7'];

let calls = 0;
/** Returns a call with a unique id. */
export const call = (what) => ({ id: `call_${(calls += 1)}`, ...what });

/**
 * Starts and stops the servers around a file's tests. `scenario(name, run, only)` runs one test per version. The chat
 * that `run` returns posts the whole conversation once more.
 */
export function ledgerSuite(settings) {
  const suite = {};
  before(async () => {
    suite.model = await startFakeOpenAi();
    suite.app = await startLedger(suite.model, settings);
  });
  after(async () => {
    await suite.app?.stop();
    await suite.model?.stop();
  });
  beforeEach(() => suite.model.script());

  suite.scenario = (name, run, only = ALL) => {
    for (const version of only) {
      const ai = versions[version];
      test(`${version} · ${name}`, { timeout: 30_000 }, async () => {
        const api = suite.app.api + QUERY[version];
        const open = (init) => openChat(ai, api, { headers: { 'x-user': 'ada' }, ...init });
        const chat = await run({ ...suite, ai, version, api, open });
        if (chat) await assertKept(chat, suite.model);
      });
    }
  };
  /** Returns the calls that ran in a chat. */
  suite.ran = async (chat) => (await suite.app.journal()).filter((entry) => entry.chat === chat.id);
  return suite;
}

/** Returns the condition for automatic posts of a page with approvals and front-end tools. */
export const whenAnswered = (ai) => ({ messages }) =>
  ai.lastAssistantMessageIsCompleteWithToolCalls({ messages })
  || (ai.lastAssistantMessageIsCompleteWithApprovalResponses?.({ messages }) ?? false);

export const part = (chat, id) => toolParts(last(chat)).find((part) => part.toolCallId === id);

export const states = (chat) => toolParts(last(chat)).map((part) => part.state);

/** Answers the approval of a call. Fails if the call has no open approval. */
export function respond(chat, id, approved, reason) {
  const asked = part(chat, id);
  assert.equal(asked?.state, 'approval-requested', JSON.stringify(last(chat).parts));
  return chat.addToolApprovalResponse({ id: asked.approval.id, approved, reason });
}

/** Waits for an answer that ends with this text. */
export const answered = (chat, text) =>
  until(() => chat.status === 'ready' && textOf(last(chat)).endsWith(text), `"${text}"`);
