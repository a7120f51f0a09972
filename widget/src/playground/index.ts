// The page of the playground. Its script is `playground/page.js` below the assistant, beside `widget.js`.

import '../widget.js';
import { write } from '../components/clipboard.js';
import { button } from '../ui/button.js';
import { element, setHidden, setText } from '../ui/dom.js';
import type { OmniAssistChat } from '../widget.js';
import { CallsView } from './calls-view.js';
import { rustTest } from './export.js';
import { groupOf, messageOf, Recorder, type Run } from './recorder.js';
import { Replay } from './replay.js';
import { RunsView } from './runs-view.js';
import { type Manifest, Settings } from './settings.js';
import style from './style.css';

const place = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const api = new URL('.', document.baseURI).pathname.replace(/\/$/, '');

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets = [sheet];

const settings = new Settings(place('settings'));
/** Turns of the model for the next question, and for the requests that go on with the present one. */
let planned: Record<string, unknown>[][] = [];
let playing: Record<string, unknown>[][] = [];
const recorder = new Recorder(api, {
  headers: () => settings.headers,
  members({ context = [] }, continues) {
    if (!continues) [playing, planned] = [planned, []];
    const turns = playing.shift() ?? [];
    const playground = { ...settings.asked, ...(turns.length ? { turns } : {}) };
    const all = [...context, ...settings.context];
    return { ...(Object.keys(playground).length ? { playground } : {}), ...(all.length ? { context: all } : {}) };
  },
  messages: () => chat.chat.messages,
});
const replay = new Replay(api);
recorder.replay = (url) => replay.answer(url);

const stage = place('conversation');
let chat = makeChat();
const runs = new RunsView(
  place('runs'),
  recorder.runs,
  (run) => calls.show(run),
  button('Replay', 'replay', () => showReplay(false)),
  button('Replay at once', 'replay-at-once', () => showReplay(true)),
  button('Export a test', 'export', () => showTest()),
);
const calls = new CallsView(place('calls'), {
  runs: recorder.runs,
  chat: () => chat.chat,
  again(run, turns) {
    planned = turns;
    endReplay();
    // Turns that no request took are not for the next question.
    void chat.chat.regenerate(messageOf(run)).finally(() => {
      if (planned === turns) planned = [];
    });
  },
});
recorder.onChange = (run) => {
  runs.update(run);
  requestCalls();
};

settings.agent.addEventListener('change', () => {
  endReplay();
  chat.remove();
  chat = makeChat();
  requestCalls();
  void showManifest();
});
void showManifest();

function makeChat(): OmniAssistChat {
  const agent = settings.agent.value || undefined;
  const made = element('omniassist-chat' as 'div', { mode: 'panel', heading: 'Conversation', agent }) as unknown as OmniAssistChat;
  made.chat.subscribe(() => requestCalls());
  stage.prepend(made);
  return made;
}

let isDue = false;
function requestCalls(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    calls.update();
  });
}

async function showManifest(): Promise<void> {
  const agent = settings.agent.value;
  try {
    const url = agent ? `${api}/agents/${encodeURIComponent(agent)}/manifest.json` : `${api}/manifest.json`;
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    const manifest = (await response.json()) as Manifest;
    settings.show(manifest);
    setText(place('model'), [manifest.provider, manifest.model].filter(Boolean).join(' · '));
  } catch (error) {
    setText(place('status'), `The manifest was not loaded. ${(error as Error).message}`);
  }
}

let replayed: HTMLElement | undefined;
function endReplay(): void {
  replayed?.remove();
  replayed = undefined;
  setHidden(chat, false);
}

function showReplay(atOnce: boolean): void {
  const run = runs.shown;
  if (!run) return;
  endReplay();
  setHidden(chat, true);
  const back = button('Back to the conversation', 'back', endReplay);
  replayed = element('div', { class: 'replay' }, back, replay.show(groupOf(run, recorder.runs), atOnce));
  stage.append(replayed);
}

function showTest(): void {
  const run = runs.shown as Run;
  const isWhole = run.state === 'ended' && !run.isResumed;
  const text = isWhole ? rustTest(run) : '';
  const area = element('textarea', { class: 'code', readonly: true, rows: '24', 'aria-label': 'Test' }, text);
  const note = isWhole
    ? 'Put it into a module beside a function `assistant(model)` that builds your assistant.'
    : 'Only a run that has ended without a failure, and whose request this page has sent, becomes a test.';
  const dialog = element('dialog', { 'aria-label': 'Test of this run' }, element('p', {}, note), isWhole && area);
  const close = button('Close', 'close', () => dialog.close());
  const copy = button('Copy', 'copy-test', () => void write(text, dialog));
  dialog.append(element('div', { class: 'tools' }, isWhole && copy, close));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
