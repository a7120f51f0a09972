// OpenAI's own client for Node.js in each version, for one quickstart.

import * as openai6 from 'openai6';
import * as zod6 from 'openai6/helpers/zod';
import * as openai7 from 'openai7';
import * as zod7 from 'openai7/helpers/zod';

export const packages = { 'openai 6': { ...openai6, ...zod6 }, 'openai 7': { ...openai7, ...zod7 } };

/** The model name of the assistant. */
export const MODEL = 'omniassist';

/** Opens a client without automatic retries, unless `options` enables them. `posts` records its requests. */
export function openClient({ OpenAI }, api, options = {}) {
  const posts = [];
  const client = new OpenAI({
    baseURL: `${api}/v1`,
    apiKey: 'not-looked-at',
    maxRetries: 0,
    timeout: 20_000,
    fetch: (url, init) => {
      posts.push({ url: String(url), body: init?.body && JSON.parse(init.body) });
      return fetch(url, init);
    },
    ...options,
  });
  return Object.assign(client, { posts });
}

export const ask = (content, more = {}) => ({ model: MODEL, messages: [{ role: 'user', content }], ...more });

/** A tool of the caller. */
export const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** Returns the text of a stream's chunks. */
export const contentOf = (chunks) => chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? '').join('');

export async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
