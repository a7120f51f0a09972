// The generated TypeScript of components. Right programs must compile under `strict`, and each wrong one must fail with an
// error that names the mistake. The declarations are those that a server test compares with its answer.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const FILE = new URL('../../omniassist-server/tests/components/types.d.ts', import.meta.url);

let declarations;
before(async () => {
  declarations = await readFile(FILE, 'utf8');
});

/** Compiles programs with the declarations, and returns the errors of the compiler for each. */
async function compile(programs) {
  const folder = await mkdtemp(join(fileURLToPath(new URL('.', import.meta.url)), 'types-'));
  try {
    const file = (index) => join(folder, `program${index}.ts`);
    await writeFile(join(folder, 'components.d.ts'), declarations);
    await Promise.all(programs.map((program, index) => writeFile(file(index), program)));
    const declared = join(folder, 'components.d.ts');
    const compiled = ts.createProgram([declared, ...programs.map((_, index) => file(index))], {
      noEmit: true,
      strict: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ES2022,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    });
    const errors = (path) => {
      const source = compiled.getSourceFile(path);
      return [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)].map((diagnostic) =>
        ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'),
      );
    };
    assert.deepEqual(errors(declared), []);
    return programs.map((_, index) => errors(file(index)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const HEAD = `
  import type { AssistantData, AssistantTools, ComponentContext, OmniComponents, UiActionBody, UiShown, UiState } from './components';
  import { registerComponent } from './components';
  type Weather = OmniComponents['weather-card']['props'];
  declare const cart: ComponentContext<'cart'>;
  declare const weather: ComponentContext<'weather-card'>;
  declare const slot: ComponentContext<'pick-slot'>;
  declare const state: UiState;
  declare const shown: UiShown;
`;

const RIGHT = [
  `export const props: Weather = { city: 'Graz', sky: 'partly-cloudy', days: [{ date: '2026-11-27', highCelsius: 3.5 }] };`,
  `registerComponent('weather-card', {
     schema: {},
     render(root, context) {
       root.textContent = context.complete ? context.props.city : (context.props.city ?? '…');
       if (context.status('sky') === 'done') root.title = context.props.sky ?? '';
     },
     update(context) { context.props.days?.forEach((day) => day.date?.length); },
     unmount() {},
   });`,
  `cart.setState({ ticked: ['tea'] });
   export const paid: number | undefined = cart.complete ? cart.props.articles.length : cart.state.ticked?.length;`,
  `cart.dispatch('checkout', { cents: 250 });
   cart.dispatch('checkout', { cents: 250, coupon: 'TEA' });
   cart.dispatch('clear');`,
  `slot.respond({ time: '9:00' });`,
  `export const body: UiActionBody<'cart', 'checkout'> =
     { chatId: 'c', component: 'cart', rev: 1, state: { ticked: [] }, payload: { cents: 1 }, seal: 'v1' };`,
  `export const total = state.component === 'cart' ? state.server?.paid : undefined;`,
  `export const city = shown.status === 'complete' && shown.component === 'weather-card' ? shown.props.city : shown.status;`,
  `export const output = (part: AssistantTools['ui_pick-slot']): string => part.output.time;
   export const event = (data: AssistantData['ui-event']): string => data.instanceId;
   export const rendered = (part: AssistantTools['ui_cart']): string => part.output.instanceId;`,
];

/** A program with a mistake, and the name that its error mentions. */
const WRONG = [
  [`export const props: Weather = { city: 1, sky: 'clear', days: [] };`, "'string'"],
  [`export const props: Weather = { city: 'Graz', days: [] };`, "'sky'"],
  [`export const props: Weather = { city: 'Graz', sky: 'rainy', days: [] };`, '"rainy"'],
  [`export const props: Weather = { city: 'Graz', sky: 'clear', days: [{ date: '2026', high: 1 }] };`, "'high'"],
  [`export const length = weather.props.city.length;`, "'weather.props.city'"],
  [`registerComponent('weather', { schema: {}, render() {} });`, '"weather"'],
  [`registerComponent('weather-card', { schema: {}, render(root, context) { context.props.town; } });`, "'town'"],
  [`cart.setState({ paid: 1 });`, "'paid'"],
  [`cart.state.ticked = [1];`, "'number'"],
  [`cart.dispatch('steal', { cents: 1 });`, '"steal"'],
  [`cart.dispatch('checkout', { euros: 1 });`, "'euros'"],
  [`cart.dispatch('checkout');`, 'Expected 2 arguments'],
  [`weather.dispatch('checkout', { cents: 1 });`, "'never'"],
  [`slot.respond({ hour: 9 });`, "'hour'"],
  [`weather.respond({ instanceId: 'x', componentName: 'weather-card', rendered: true });`, "'never'"],
  [`export const body: UiActionBody<'cart', 'checkout'> = { component: 'cart', rev: 1 };`, "'chatId'"],
  [`export const total = state.component === 'cart' ? state.server?.payed : undefined;`, "'payed'"],
  [`export const city = shown.status === 'complete' && shown.component === 'cart' ? shown.props.city : undefined;`, "'city'"],
];

const withUseChat = (version, field) => `
  import type { UIMessage } from 'ai${version}';
  import type { AssistantData, AssistantTools } from './components';
  type Message = UIMessage<unknown, AssistantData, AssistantTools>;
  export function paid(part: Message['parts'][number]): number | string | undefined {
    if (part.type === 'tool-ui_pick-slot' && part.state === 'output-available') return part.output.time;
    return part.type === 'data-ui-state' && part.data.component === 'cart' ? part.data.server?.${field} : undefined;
  }`;

test("types of components fit the official UIMessage of 'ai' 5, 6 and 7", async () => {
  const versions = [5, 6, 7];
  const right = await compile(versions.map((version) => withUseChat(version, 'paid')));
  assert.deepEqual(right, [[], [], []]);
  const wrong = await compile(versions.map((version) => withUseChat(version, 'payed')));
  for (const errors of wrong) assert.match(errors.join(), /'payed'/);
});

test('right programs compile', async () => {
  const errors = await compile(RIGHT.map((program) => HEAD + program));
  assert.deepEqual(
    errors.map((of, index) => [RIGHT[index], of]).filter(([, of]) => of.length),
    [],
  );
});

test('each wrong program fails, and the error names the mistake', async () => {
  const errors = await compile(WRONG.map(([program]) => HEAD + program));
  for (const [index, [program, name]] of WRONG.entries()) {
    assert.equal(errors[index].length, 1, `${program}: ${errors[index]}`);
    assert.ok(errors[index][0].includes(name), `${program}: ${errors[index][0]}`);
  }
});
