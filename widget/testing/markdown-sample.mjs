/** A part of a long answer: a list, a table of 20 rows, and code. */
export const SECTION = `## Results of the quarter

The revenue **grew by 12 %** over the last quarter, while the costs stayed *almost* the same. See [the report](/report) or
run \`report --quarter 3\` for the figures of each region, and note that \`north\` has no data for July yet.

- The first point has a sentence of usual length.
- The second one has **two** marks and \`code\`.
  1. A nested point.
  2. Another one.

| Region | Revenue | Change | Note |
|---|--:|--:|---|
${Array.from({ length: 20 }, (_, row) => `| Region ${row} | ${1_000 + row * 37} | ${row % 7} % | *stable* since \`week ${row}\` |`).join('\n')}

\`\`\`rust
${Array.from({ length: 14 }, (_, row) => `    let value_${row} = compute("north", ${row}, &options)?; // the value of a region`).join('\n')}
\`\`\`

> The figures are not audited.

`;
