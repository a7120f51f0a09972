/** The most columns of a table. */
const COLUMN_LIMIT = 64;

/** Splits a row at each `|` without a backslash. */
export function cells(row: string): string[] {
  const found = [];
  let cell = '';
  row = row.trim();
  for (let at = row[0] === '|' ? 1 : 0; at < row.length; at++) {
    if (row[at] === '|') {
      found.push(cell.trim());
      cell = '';
      continue;
    }
    if (row[at] === '\\' && row[at + 1] === '|') at++;
    else if (row[at] === '\\' && at + 1 < row.length) cell += row[at++];
    cell += row[at];
  }
  if (cell.trim() || !row.endsWith('|')) found.push(cell.trim());
  return found;
}

export type Alignment = '' | 'left' | 'center' | 'right';

/** Returns the alignments of the columns if the two lines begin a table. */
export function alignments(header: string, rule: string): Alignment[] | undefined {
  if (!/^[\s|:-]+$/.test(rule) || !/[|:]/.test(rule) || rule.length > 4_096) return undefined;
  const marks = cells(rule);
  if (marks.length > COLUMN_LIMIT || !marks.every((mark) => /^:?-+:?$/.test(mark))) return undefined;
  if (cells(header).length !== marks.length) return undefined;
  return marks.map((mark) => (mark.endsWith(':') ? (mark[0] === ':' ? 'center' : 'right') : mark[0] === ':' ? 'left' : ''));
}
