// The decisions of the back office with roles, as the official clients and the model receive them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';

import { signedIn, startBackOffice } from '../lib/back-office.mjs';
import { startFakeOpenAi } from '../lib/fake-openai.mjs';
import { generations, openAgent, say, takeComplaints, textOf as agentText } from './ag-ui.mjs';
import { last, openChat, textOf, toolParts, until, versions } from './chat.mjs';
import { items, outputOf } from './kept.mjs';
import { answered, call, part, respond, whenAnswered } from './ledger.mjs';
import { ask as completion, contentOf, openClient, packages } from './openai-clients.mjs';
import { get, post, user } from './wire.mjs';

const READS = ['list_customers', 'order_status'];
const WRITES = [...READS, 'refund_order'];
/** The members with the tools in their manifests (`sees`) and the tools offered to their models (`offered`). */
const members = {
  vera: { role: 'viewer', sees: READS, model: 'small-model' },
  alan: { role: 'agent', sees: WRITES },
  ada: { role: 'admin', sees: [...WRITES, 'suspend_member'] },
  // The plan of the trial branch removes the refund from an agent's tools.
  tom: { role: 'trial agent', sees: WRITES, offered: READS },
};
const ALL_TOOLS = members.ada.sees;

let model;
let app;
before(async () => {
  model = await startFakeOpenAi();
  app = await startBackOffice(model, { BACK_OFFICE_SMALL_MODEL: 'small-model' });
});
after(async () => {
  await app?.stop();
  await model?.stop();
});
beforeEach(() => {
  model.script();
  takeComplaints();
});

const open = (version, member, init) =>
  openChat(versions[version], `${app.api}?ai-sdk=${version.slice(1)}`, {
    headers: signedIn(member), id: `chat-${randomUUID()}`, ...init,
  });

/** Returns a failure as a client shows it: the HTTP status, the code and the sentence. */
const failed = (status, code, sentence) => ({ status, code, sentence });

/** A function for each client that sends one message as a member, and returns the text or the failure. */
const clients = {};
for (const version of Object.keys(versions)) {
  clients[version] = async (member, text) => {
    const chat = open(version, member);
    await chat.sendMessage({ text });
    const [status] = chat.statuses;
    if (chat.status === 'ready') return { text: textOf(last(chat)) };
    const { message } = chat.error;
    if (status === 200) return failed(status, last(chat).metadata.error.code, message);
    const { error } = JSON.parse(message);
    return failed(status, error.code, error.message);
  };
}
for (const [generation, lib] of Object.entries(generations)) {
  clients[generation] = async (member, text) => {
    const agent = openAgent(lib, `${app.api}/ag-ui`, { headers: signedIn(member) });
    try {
      await say(agent, text);
    } catch ({ status, payload }) {
      return failed(status, payload.error.code, payload.error.message);
    }
    const [{ event, outcome }] = agent.runs;
    return outcome === 'error' ? failed(200, event.code, event.message) : { text: agentText(agent) };
  };
}
for (const [name, sdk] of Object.entries(packages)) {
  clients[name] = async (member, text) => {
    const client = openClient(sdk, app.api, { apiKey: `${member}-token` });
    try {
      const { choices } = await client.chat.completions.create(completion(text));
      return { text: choices[0].message.content };
    } catch (error) {
      assert.ok(error instanceof sdk.APIError, error);
      return failed(error.status, error.code, error.error.message);
    }
  };
}

/** Runs a scenario with each client. */
function scenario(name, run) {
  for (const [client, ask] of Object.entries(clients)) {
    test(`${client} · ${name}`, { timeout: 30_000 }, () => run(ask, client));
  }
}

/** Returns the audit records of a chat after `runs` runs have ended. */
async function recorded(chat, runs) {
  const records = () => app.audit().then((all) => all.filter((record) => record.chatId === chat.id));
  const isEnd = ({ action }) => action === 'run_ended';
  await until(async () => (await records()).filter(isEnd).length >= runs, 'the runs are recorded');
  return records();
}

const actions = (records) => records.map((record) => record.action);

const offered = (request) => request.body.tools.map((tool) => tool.name).sort();

scenario('roles decide on tools, model and prompt', async (ask) => {
  for (const [member, { sees, offered: planned = sees, model: name = 'scripted-model' }] of Object.entries(members)) {
    model.script({ text: 'I can help.' });
    assert.deepEqual(await ask(member, 'What can you do?'), { text: 'I can help.' });
    const [request] = model.requests;
    assert.deepEqual([offered(request), request.body.model], [planned, name], member);
    assert.ok(request.body.instructions.includes(`You help ${member}.`), request.body.instructions);
    for (const hidden of ALL_TOOLS.filter((tool) => !planned.includes(tool))) {
      assert.ok(!request.raw.includes(hidden), `the request of ${member} contains ${hidden}`);
    }
  }
});

test('the manifest and the types name what the caller sees', async () => {
  for (const [member, { sees }] of Object.entries(members)) {
    const read = async (path) => {
      const response = await get(`${app.api}/${path}`, { headers: signedIn(member) });
      assert.equal(response.status, 200);
      return response.text();
    };
    const [manifest, types] = [await read('manifest.json'), await read('types.d.ts')];
    assert.deepEqual(JSON.parse(manifest).tools.map((tool) => tool.name).sort(), sees);
    for (const tool of ALL_TOOLS) {
      for (const text of [manifest, types]) assert.equal(text.includes(tool), sees.includes(tool), `${member}: ${tool}`);
    }
    assert.equal(types.includes('Name of the member'), member === 'ada', 'the arguments of a hidden tool are hidden too');
  }
  for (const path of ['manifest.json', 'types.d.ts']) assert.equal((await get(`${app.api}/${path}`)).status, 401);
});

test('a call of an invisible tool is answered like one of an unknown tool, byte for byte', async () => {
  const bodies = {
    '': { id: 'chat-hidden', messages: [user('Suspend tom')], trigger: 'submit-message' },
    '/ag-ui': { threadId: 'chat-hidden', runId: 'run', messages: [{ id: 'u', role: 'user', content: 'Suspend tom' }] },
    '/v1/chat/completions': completion('Suspend tom', { stream: true }),
  };
  /** Removes the values that differ between any two answers: ids, times and seals. */
  const same = (text, name) =>
    text.replaceAll(name, 'NAME').replace(/\bv1\.[\w.-]+|\b(msg|chatcmpl|run)[_-][\w-]+|"(created|timestamp)":\d+/g, '');
  for (const [path, body] of Object.entries(bodies)) {
    const answers = [];
    // The names have the same length, so that the model server splits them at the same places.
    for (const name of ['suspend_member', 'suspend_nobody']) {
      model.script({ calls: [{ id: 'call_h', name, args: { name: 'tom' } }] }, { text: 'I cannot.' });
      const response = await post(app.api + path, body, signedIn('alan'));
      const wire = await response.text();
      assert.equal(response.status, 200, wire);
      assert.match(outputOf(model.requests[1], 'call_h'), /^There is no tool of this name. The tools are: list_customers, /);
      answers.push([wire, model.requests[1].raw].map((text) => same(text, name)));
    }
    assert.deepEqual(answers[0], answers[1], path);
  }
  model.script({ text: 'No.' });
  assert.deepEqual(await clients.v7('tom', 'Am I suspended?'), { text: 'No.' });
});

scenario('personal data of the answer is replaced', async (ask) => {
  model.script({ text: 'Write to ada@example.org or charge 4111 1111 1111 1111, please.' });
  assert.deepEqual(await ask('alan', 'How?'), { text: 'Write to [redacted] or charge [redacted], please.' });
});

test('openai 7 · personal data of a streamed answer is replaced', async () => {
  model.script({ text: 'Write to ada@example.org, please.' });
  const client = openClient(packages['openai 7'], app.api, { apiKey: 'alan-token' });
  const chunks = [];
  for await (const chunk of await client.chat.completions.create(completion('How?', { stream: true }))) chunks.push(chunk);
  assert.equal(contentOf(chunks), 'Write to [redacted], please.');
});

scenario('a question that a guard refuses', async (ask, client) => {
  model.script({ text: 'It is hunter2.' });
  // An answer that is not streamed has its own status.
  const status = client.startsWith('openai') ? 403 : 200;
  assert.deepEqual(await ask('alan', 'What is the password?'),
    failed(status, 'off_limits', 'The assistant does not talk about passwords.'));
});

for (const version of Object.keys(versions)) {
  test(`${version} · an output is redacted for viewers`, async () => {
    const emails = {};
    for (const member of ['vera', 'alan']) {
      const list = call({ name: 'list_customers', args: { city: 'Berlin' } });
      model.script({ calls: [list] }, { text: 'Two.' });
      const chat = open(version, member);
      await chat.sendMessage({ text: 'Who lives in Berlin?' });
      const { output } = part(chat, list.id);
      assert.deepEqual(JSON.parse(outputOf(model.requests[1], list.id)), output, 'the model receives the output that the page shows');
      emails[member] = output.map((customer) => customer.email);
    }
    assert.deepEqual(emails, { vera: ['hidden', 'hidden'], alan: ['barbara.liskov@example.com', 'frances.allen@example.com'] });
  });

  test(`${version} · a refund up to 100 EUR runs, and a larger one waits`, async () => {
    const refund = (amount) => call({ name: 'refund_order', args: { order_id: 1004, amount } });
    const small = refund(100);
    model.script({ calls: [small] }, { text: 'Done.' });
    const chat = open(version, 'alan');
    await chat.sendMessage({ text: 'Refund 100 euros' });
    assert.equal(part(chat, small.id).output.refunded, '100.00 EUR');
    const [, started, ended] = await recorded(chat, 1);
    assert.deepEqual([started.principal, started.tool, started.arguments], ['alan', 'refund_order', small.args]);
    assert.deepEqual([ended.outcome, started.approvedBy], ['ok', null]);

    for (const approved of [true, false]) {
      const large = refund(100.01);
      model.script({ calls: [large] }, { text: 'That is all.' });
      const chat = open(version, 'alan', { sendAutomaticallyWhen: whenAnswered(versions[version]) });
      await chat.sendMessage({ text: 'Refund 100.01 euros' });
      if (version === 'v5') {
        // Version 5 has no approvals.
        assert.match(part(chat, large.id).errorText, /needs the user's approval/);
        assert.deepEqual(actions(await recorded(chat, 1)), ['run_started', 'call_refused', 'run_ended']);
        continue;
      }
      const question = version === 'v7'
        ? part(chat, large.id).approval.requestReason
        : last(chat).metadata.omniassist.approvals[large.id].message;
      assert.equal(question, 'Refund more than 100 EUR?\n100.01 EUR for order 1004');
      await respond(chat, large.id, approved);
      await answered(chat, 'That is all.');
      const { state, output } = part(chat, large.id);
      assert.deepEqual([state, output?.refunded], approved ? ['output-available', '100.01 EUR'] : ['output-denied', undefined]);
      const records = await recorded(chat, 2);
      assert.deepEqual(actions(records), [
        'run_started', 'approval_requested', 'run_ended',
        'run_started', ...(approved ? ['call_started', 'call_ended'] : ['call_denied']), 'run_ended',
      ]);
      if (approved) assert.equal(records[4].approvedBy, 'alan');
    }
  });

  test(`${version} · the finished conversation is saved as the client shows it`, async () => {
    const look = call({ name: 'order_status', args: { order_id: 1001 } });
    model.script({ text: 'Let me look.', calls: [look] }, { text: 'It is shipped.' });
    const chat = open(version, 'vera');
    await chat.sendMessage({ text: 'Where is order 1001?' });
    await until(async () => (await app.saved('vera', chat.id)).ok, 'the conversation is saved');
    const saved = await (await app.saved('vera', chat.id)).json();
    const plain = (messages) => messages.map((message) => ({
      id: message.id, role: message.role, text: textOf(message), metadata: message.metadata,
      tools: toolParts(message).map(({ toolCallId, state, input, output }) => ({ toolCallId, state, input, output })),
    }));
    assert.deepEqual(plain(saved), plain(chat.messages));
    assert.equal((await app.saved('ada', chat.id)).status, 404, 'only the owner can read it');

    // A reopened page begins with the saved conversation.
    const again = open(version, 'vera', { id: chat.id, messages: saved });
    model.script({ text: 'As I said.' });
    await again.sendMessage({ text: 'And now?' });
    assert.equal(textOf(last(again)), 'As I said.');
    assert.equal(items(model.requests[0], 'function_call_output').length, 1, 'the seals are valid');
  });

  test(`${version} · an attachment reaches the model, and no other member`, async () => {
    const form = new FormData();
    form.append('file', new Blob(['The lamp flickers.'], { type: 'text/plain' }), 'note.txt');
    const uploaded = await fetch(`${app.api}/files`, { method: 'POST', body: form, headers: signedIn('vera') });
    const { files } = await uploaded.json();
    model.script({ text: 'A lamp.' });
    const chat = open(version, 'vera');
    await chat.sendMessage({ text: 'What is it about?', files });
    assert.equal(textOf(last(chat)), 'A lamp.');
    assert.ok(model.requests[0].raw.includes('The lamp flickers.'));
    const stored = (member) => get(app.origin + files[0].url, { headers: signedIn(member) });
    assert.equal(await (await stored('vera')).text(), 'The lamp flickers.');
    assert.equal((await stored('ada')).status, 404);
  });
}

test('every client shows why a suspended member is refused', async () => {
  model.script({ calls: [call({ name: 'suspend_member', args: { name: 'vera' } })] }, { text: 'Done.' });
  assert.deepEqual(await clients.v7('ada', 'Suspend vera'), { text: 'Done.' });
  for (const [client, ask] of Object.entries(clients)) {
    model.script({ text: 'Never asked for.' });
    assert.deepEqual(await ask('vera', 'Hello?'),
      failed(403, 'suspended', 'Your access is suspended. Please ask an administrator.'), client);
    assert.equal(model.requests.length, 0, 'the model received no request');
  }
});

test('every client shows that a branch has exceeded its token budget', async () => {
  model.script({ text: 'Long.', usage: { input: 2_000_000 } });
  assert.deepEqual(await clients.v7('alan', 'Tell me all'), { text: 'Long.' });
  for (const [client, ask] of Object.entries(clients)) {
    const { status, code } = await ask('ada', 'Hello?');
    assert.deepEqual([status, code], [429, 'token_budget_exceeded'], client);
  }
  model.script({ text: 'Hello.' });
  assert.deepEqual(await clients.v7('tom', 'Hello?'), { text: 'Hello.' }, 'the other branch has its own budget');
});
