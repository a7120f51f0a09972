// The generated TypeScript. It must compile under `strict`, and a program with a type error must not.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

import { DEMO, startQuickstart } from '../lib/quickstart.mjs';

let app;
let declarations;
before(async () => {
  app = await startQuickstart(DEMO);
  const response = await fetch(`${app.api}/types.d.ts`);
  assert.equal(response.status, 200);
  declarations = await response.text();
});
after(() => app?.stop());

/** Compiles a program with the declarations, and returns the errors of the compiler. The folder is below this one, so
 * that the program can import the official package. */
async function compile(program) {
  const folder = await mkdtemp(join(fileURLToPath(new URL('.', import.meta.url)), 'types-'));
  try {
    await writeFile(join(folder, 'types.d.ts'), declarations);
    await writeFile(join(folder, 'program.ts'), program);
    const compiled = ts.createProgram([join(folder, 'program.ts'), join(folder, 'types.d.ts')], {
      noEmit: true,
      strict: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ES2022,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    });
    // Only errors in the program and the declarations count, since the official package's types are not under test.
    return [join(folder, 'program.ts'), join(folder, 'types.d.ts')].flatMap((file) => {
      const source = compiled.getSourceFile(file);
      return [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)].map((diagnostic) =>
        ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('the declarations compile', async () => {
  assert.match(declarations, /order_status/);
  assert.deepEqual(await compile('import type * as T from "./types";\nexport type All = typeof T;\n'), []);
});

const body = (message) => `
  import type { RunRequestBody } from './types';
  export const body: RunRequestBody = { messages: [${message}] };`;

test('a request body is checked', async () => {
  assert.deepEqual(await compile(body('{ id: "m", role: "user", content: "Hi" }')), []);
  assert.deepEqual(await compile(body('{ id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] }')), []);
  assert.notDeepEqual(await compile(body('{ id: "m", role: "alien", content: "Hi" }')), []);
  assert.notDeepEqual(await compile(body('{ role: "user", content: "Hi" }')), []);
});

test("a tool's arguments are checked", async () => {
  const program = (args) => `
    import type { ToolInputs } from './types';
    export const input: ToolInputs['order_status'] = ${args};`;
  assert.deepEqual(await compile(program('{ order_id: 1001 }')), []);
  assert.notDeepEqual(await compile(program('{ order_id: "1001" }')), []);
  assert.notDeepEqual(await compile(program('{}')), []);
});

for (const version of ['v5', 'v6', 'v7']) {
  test(`${version} · types of the tools fit the official UIMessage`, async () => {
    const program = (name) => `
      import type { UIMessage, UIDataTypes } from 'ai${version.slice(1)}';
      import type { AssistantTools } from './types';
      type Message = UIMessage<unknown, UIDataTypes, AssistantTools>;
      export const order = (part: Message['parts'][number]): number | undefined =>
        part.type === '${name}' && part.state === 'output-available' ? part.input.order_id : undefined;`;
    assert.deepEqual(await compile(program('tool-order_status')), []);
    assert.notDeepEqual(await compile(program('tool-no_such_tool')), []);
  });

  test(`${version} · the data of agents fits the official UIMessage`, async () => {
    const program = (field) => `
      import type { UIMessage } from 'ai${version.slice(1)}';
      import type { AssistantData, AssistantTools } from './types';
      type Message = UIMessage<unknown, AssistantData, AssistantTools>;
      export const status = (part: Message['parts'][number]): 'running' | 'completed' | undefined =>
        part.type === 'data-agent' && (part.data.status === 'running' || part.data.status === 'completed')
          ? part.data.${field}
          : undefined;`;
    assert.deepEqual(await compile(program('status')), []);
    assert.notDeepEqual(await compile(program('task')), []);
  });
}
