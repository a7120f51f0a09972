// An MCP server with apps, by the official packages: `shop`, and `other` whose tools are not those of the apps of `shop`.

import { readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { registerAppResource, registerAppTool, RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/server';
import { z } from 'zod';

const page = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const text = (text) => ({ content: [{ type: 'text', text }] });

/** What apps may reach. The rest of the lists is hostile, and must not become part of a policy. */
const csp = {
  connectDomains: ['https://api.declared.test', '*', "'unsafe-eval'", 'https://x.test; script-src *', 'http://evil.test'],
  resourceDomains: ['https://cdn.declared.test', 'https://*', 'https://x.test\r\nx-evil: 1', 'data:'],
};

function server() {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  const app = (name, meta, annotations, run, inputSchema = z.object({})) =>
    registerAppTool(server, name, { description: `Does ${name}`, inputSchema, annotations, _meta: { ui: meta } }, run);
  const readOnly = { readOnlyHint: true };
  app('dashboard', { resourceUri: 'ui://shop/dashboard.html' }, readOnly, ({ region }) => ({
    content: [{ type: 'text', text: `Sales in ${region}` }],
    structuredContent: { region, total: 42 },
    _meta: { cursor: 'page-2' },
  }), z.object({ region: z.string() }));
  app('hostile', { resourceUri: 'ui://shop/hostile.html' }, readOnly, () => text('shown'));
  app('refresh', { visibility: ['app'] }, readOnly, () => text('refreshed'));
  app('pay', { visibility: ['app'] }, {}, ({ cents }) => text(`paid ${cents}`), z.object({ cents: z.number() }));
  app('internal', { visibility: ['model'] }, readOnly, () => text('internal ran'));
  for (const [name, uri, html] of [
    ['Dashboard', 'ui://shop/dashboard.html', page('out/dashboard.html')],
    ['Hostile', 'ui://shop/hostile.html', page('hostile.html')],
  ]) {
    registerAppResource(server, name, uri, {}, () => ({
      contents: [{ uri, mimeType: RESOURCE_MIME_TYPE, text: html, _meta: { ui: { csp } } }],
    }));
  }
  server.registerResource('note', 'shop://note', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'a note' }] }));
  return server;
}

await serveStdio(server);
