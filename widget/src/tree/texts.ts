import type { Texts as SharedTexts } from '../ui/texts.js';

/** The texts of the tree, in English. `{name}` marks a value. */
export const ENGLISH = {
  agents: 'Agents',
  answer: 'Answer',
  answerNow: 'Answer now',
  asks: '{title} asks: {prompt}',
  cancelled: 'cancelled',
  completed: 'completed',
  connected: 'connected',
  failed: 'failed',
  finalAnswer: 'Final answer',
  interrupted: 'The connection broke, and the agents ended. Start again.',
  notConnected: 'not connected',
  pause: 'Pause',
  paused: 'paused',
  pending: 'pending',
  prompt: 'Task for the agents',
  remark: 'Remark for this agent',
  resume: 'Resume',
  running: 'running',
  start: 'Start',
  'waiting-for-user': 'waiting for you',
  yourRemark: 'Your remark: {text}',
};

export type Texts = Record<keyof typeof ENGLISH, string>;

/** The texts of the tree, and those that it shares with the chat. */
export interface TreeContext {
  readonly texts: Texts;
  readonly shared: SharedTexts;
  readonly locale: string;
}
