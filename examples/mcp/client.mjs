// The official client against the assistant: node client.mjs http://127.0.0.1:3000/assistant/mcp
// It lists the tools of both servers, and calls one of each.

import { createRequire } from 'node:module';

const require = createRequire(new URL('servers/', import.meta.url));
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');

const client = new Client({ name: 'example', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));

const wanted = ['everything_get-sum', 'time_get_current_time'];
let names = [];
// The servers connect beside the start of the assistant.
for (const end = Date.now() + 30_000; Date.now() < end && !wanted.every((name) => names.includes(name));) {
  names = (await client.listTools()).tools.map((tool) => tool.name);
  await new Promise((wake) => { setTimeout(wake, 100); });
}
console.log(`${names.length} tools: ${names.join(', ')}`);

const sum = await client.callTool({ name: wanted[0], arguments: { a: 2, b: 3 } });
console.log('2 + 3:', JSON.stringify(sum.content));
const time = await client.callTool({ name: wanted[1], arguments: { timezone: 'Europe/Rome' } });
console.log('Rome:', JSON.stringify(time.content));
await client.close();
if (sum.isError || time.isError) process.exitCode = 1;
