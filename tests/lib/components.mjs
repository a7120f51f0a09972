// The components that a model was told of.

/** Returns the instances of components in a request to the model: `{ instanceId, component, state, server }`. */
export function instancesIn({ input }) {
  const texts = input.flatMap((item) => item.content ?? []).map(({ text }) => text ?? '');
  const line = texts.join('\n').match(/^- shown-components: (.*)$/m)?.[1] ?? '';
  const entries = JSON.parse(`{${line.replace(/(^|, )([\w-]+) = (?=\{)/g, '$1"$2":')}}`);
  return Object.entries(entries).map(([instanceId, entry]) => ({ instanceId, ...entry }));
}
