// What the modules contain of the files that are no code: style sheets, schemas and texts, in a short form.

import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

/** Style sheets become strings, since a page may allow no style elements. */
export const styles = {
  name: 'styles',
  setup(here) {
    here.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      return { contents: await minified(path), loader: 'text' };
    });
  },
};

/** The style sheets of the widget, whose window sets the colours, the font and the radius of the components. */
export const withColours = {
  name: 'colours',
  setup(here) {
    here.onLoad({ filter: /components\W+style\.css$/ }, async ({ path }) => {
      const css = await minified(path);
      return { contents: css.replace(/--o-[\w-]+: ?var\(--omni-[^;]*;/g, ''), loader: 'text' };
    });
  },
};

/** The style sheets, schemas without the descriptions for models, and texts without their names. */
export const data = {
  name: 'data',
  setup(here) {
    styles.setup(here);
    here.onLoad({ filter: /schemas\.json$/ }, ({ path }) => {
      const schemas = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
      const members = schemas.map(([name, { schema }]) => `${name}:{schema:${written(schema)}}`);
      return { contents: `${COMMON}export default {${members}};`, loader: 'js' };
    });
    here.onLoad({ filter: /\bi18n\W\w+\.json$/ }, ({ path }) => {
      const groups = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
      const contents = groups.map(([name, texts]) => `export const ${name} = ${JSON.stringify(lines(texts))};`).join('');
      return { contents, loader: 'js' };
    });
  },
};

async function minified(path) {
  const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true, target: 'es2022' });
  return withUnit(code.trim());
}

/**
 * Returns a style sheet whose `rem` is the size of letters of the element, where an element sets it. That of the page is 10
 * pixels in many pages. Conditions of `@` rules allow no `var`, and use `em`.
 */
function withUnit(css) {
  return css.replace(/(?<![\w.-])(-?[\d.]+)rem\b/g, 'calc(var(--o-rem,1rem)*$1)');
}

/** What the schemas have in common. A member of an object is required unless it can be null. */
const COMMON = `
const text = { type: 'string' };
const either = (type, isNull) => (isNull ? [type, 'null'] : type);
const array = (items, isNull) => ({ type: either('array', isNull), items });
const object = (properties, isNull) => ({
  type: either('object', isNull),
  properties,
  required: Object.keys(properties).filter((name) => !properties[name].type.includes('null')),
});
`;

/** Returns the code of a schema without descriptions. */
function written({ description, ...schema }) {
  const { items, properties, required = [], ...rest } = schema;
  const [type, isNull] = [rest.type].flat();
  const end = isNull ? ',true' : '';
  if (items) return `array(${written(items)}${end})`;
  if (properties) {
    const members = Object.entries(properties);
    const known = members.filter(([, one]) => ![one.type].flat().includes('null')).map(([name]) => name);
    if (String(required.toSorted()) !== String(known.sort())) throw new Error(`These are required: ${known}`);
    return `object({${members.map(([name, one]) => `${name}:${written(one)}`)}}${end})`;
  }
  return type === 'string' && !isNull && Object.keys(rest).length === 1 ? 'text' : JSON.stringify(rest);
}

/** Returns texts without their names: lines in the order of the names, as `named` in `src/i18n/named.ts` reads them. */
function lines(texts) {
  const names = Object.keys(texts).sort();
  return names.map((name) => texts[name]).join('\n');
}
