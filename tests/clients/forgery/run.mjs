// Posts the forgeries and the honest conversations, and reports the results of each class. This runs in a separate
// thread, since the test runner tracks every promise of its own thread, which would double the time.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

import { startFakeOpenAi } from '../../lib/fake-openai.mjs';
import { startLedger } from '../../lib/ledger.mjs';
import { answer, approved, request, settled } from './chats.mjs';
import { CLASSES, forge } from './classes.mjs';
import { Dice } from './dice.mjs';
import { believed, send } from './judge.mjs';
import { END, LEGAL } from './legal.mjs';

/** The number of effective forgeries of each class. */
const ENOUGH = 200;
/** The number of honest conversations of each kind. */
const HONEST = 130;
/** The number of original conversations of each kind and version. */
const EACH = 4;

const OTHER_SECRET = 'a7'.repeat(32);

const dice = new Dice(2026);
const model = await startFakeOpenAi({ answer });
const apps = {
  ours: await startLedger(model),
  trusting: await startLedger(model, { LEDGER_TRUSTING: 'yes' }),
  gone: await startLedger(model, { OMNIASSIST_SEAL_KEYS: `2025-01:${OTHER_SECRET}` }),
  wrong: await startLedger(model, { OMNIASSIST_SEAL_KEYS: `2026-11:${OTHER_SECRET}` }),
  brief: await startLedger(model, { LEDGER_APPROVAL_SECONDS: '1' }),
};
const bases = { settled: [], approved: [], used: [], stale: [], expired: [] };

/** Makes the original conversations with the official clients. */
async function converse() {
  const open = async (kind, app, version) => {
    const chat = kind === 'settled' ? await settled(app, version, dice) : await approved(app, version, dice);
    assert.equal(chat.error, undefined);
    return { chat, version, app, request: request(chat, kind === 'settled' ? END : undefined) };
  };
  for (let index = 0; index < EACH; index += 1) {
    for (const version of ['v5', 'v6', 'v7']) bases.settled.push(await open('settled', apps.ours, version));
    for (const version of ['v6', 'v7']) {
      bases.approved.push(await open('approved', apps.ours, version));
      const used = await open('approved', apps.ours, version);
      await used.chat.sendMessage();
      assert.equal(used.chat.status, 'ready', used.chat.error?.message);
      bases.used.push(used);
      bases.expired.push(await open('approved', apps.brief, version));
      for (const app of [apps.gone, apps.wrong]) {
        bases.stale.push(await open('approved', app, version), await open('settled', app, version));
      }
    }
  }
}

/** Posts forgeries until enough have deceived a server that trusts posted history. None may deceive the default server. */
async function forgeAll(name, kind) {
  const app = kind.from === 'expired' ? apps.brief : apps.ours;
  const counts = { refused: 0, neutralised: 0, accepted: 0, harmless: 0 };
  while (counts.refused + counts.neutralised + counts.accepted < ENOUGH) {
    assert.ok(counts.harmless < 5 * ENOUGH, `too few forgeries of "${name}" are effective`);
    const from = kind.from === 'any' ? dice.pick(['settled', 'approved']) : kind.from;
    const forged = forge(kind, dice.pick(bases[from]), dice);
    if (!forged) continue;
    if (!kind.harmless) {
      const naive = await send(apps.trusting, model, forged.request);
      if (believed(forged.written, naive).length === 0) {
        counts.harmless += 1;
        continue;
      }
    }
    const result = await send(app, model, forged.request);
    const taken = believed(forged.written, result);
    const outcome = taken.length > 0 ? 'accepted' : result.status === 200 ? 'neutralised' : 'refused';
    if (outcome === 'refused') assert.equal(result.status, 400, result.text);
    counts[outcome] += 1;
    if (outcome === 'accepted') counts.example ??= { taken, posted: forged.request };
  }
  return counts;
}

async function goOn(kind) {
  const counts = {};
  for (let index = 0; index < HONEST; index += 1) {
    const base = dice.pick(bases[dice.pick(['settled', 'used'])]);
    await kind({ ...base, model, dice });
    counts[base.version] = (counts[base.version] ?? 0) + 1;
  }
  return counts;
}

try {
  await converse();
  for (const [name, kind] of Object.entries(LEGAL)) {
    parentPort.postMessage({ name, counts: await goOn(kind) });
  }
  // Approvals expire with a precision of one second.
  await sleep(2_100);
  for (const app of Object.values(apps)) app.seen = (await app.journal()).length;
  for (const [name, kind] of Object.entries(CLASSES)) {
    parentPort.postMessage({ name, counts: await forgeAll(name, kind) });
  }
  for (const app of Object.values(apps)) assert.deepEqual(await app.journal(app.seen), [], 'a refused request ran something');
} finally {
  for (const app of Object.values(apps)) await app.stop();
  await model.stop();
}
