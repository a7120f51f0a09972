// Examples that answer with the model of `OMNIASSIST_E2E_BASE_URL`, and questions that even a small model
// answers with the right tool when it has seen examples (examples.json, in tests/real-model).

import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

import { startQuickstart } from './quickstart.mjs';
import { startResearchDesk } from './research-desk.mjs';

export const real = {
  lookUp: { question: 'What is the status of order 1012?', tool: 'order_status', order: 1012 },
  navigate: { question: 'Open the customers page.', tool: 'navigate', page: 'customers' },
  list: { question: 'Which customers live in Hamburg?', tool: 'list_customers', city: 'Hamburg' },
  long: { question: 'Tell me a long story' },
};

/** Starts the quickstart with the real model and further settings. `stop` also stops the relay. */
export const startWithRealModel = (settings = {}) =>
  startOnRelay((model) => startQuickstart({ OMNIASSIST_PROVIDER: 'openai-chat', ...model, ...settings }));

/** Starts the research desk with the real model, whose answers have at most `most` tokens. */
export const startDeskWithRealModel = (most) => startOnRelay(
  (model) => startResearchDesk({ OMNIASSIST_CONSTRAINED_TOOLS: '1', ...model }), { max_tokens: most });

async function startOnRelay(start, fields = {}) {
  const { OMNIASSIST_E2E_BASE_URL: url, OMNIASSIST_E2E_MODEL: model, OMNIASSIST_E2E_API_KEY: key } = process.env;
  if (!url) throw new Error('OMNIASSIST_E2E_BASE_URL is not set');
  const steady = await startSteadyRelay(new URL(url), { temperature: 0, ...fields });
  try {
    const app = await start({
      OPENAI_BASE_URL: steady.baseUrl,
      ...(model && { OMNIASSIST_MODEL: model }),
      ...(key && { OPENAI_API_KEY: key }),
    });
    return { ...app, stop: () => app.stop().finally(steady.stop) };
  } catch (error) {
    await steady.stop();
    throw error;
  }
}

/**
 * Starts a relay that forwards requests to the model's server with further fields, and answers unchanged. The examples
 * send no temperature, and tests need repeatable answers. The relay also forwards disconnects of the client.
 */
async function startSteadyRelay(upstream, fields) {
  const send = upstream.protocol === 'https:' ? httpsRequest : httpRequest;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    let body = Buffer.concat(chunks);
    if (body.length > 0) body = Buffer.from(JSON.stringify({ ...JSON.parse(body), ...fields }));
    const target = new URL(upstream.pathname.replace(/\/v1\/?$/, '') + request.url, upstream);
    const headers = { ...request.headers, host: upstream.host };
    if (body.length > 0) headers['content-length'] = body.length;
    const asked = send(target, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    asked.on('error', () => response.destroy());
    response.on('close', () => asked.destroy());
    asked.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
