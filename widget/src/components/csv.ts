/**
 * Returns rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe. Tabs and line breaks
 * become spaces, since a spreadsheet splits a pasted text at them.
 */
export function csv(
  labels: readonly string[],
  rows: readonly (readonly (string | number | boolean | null)[])[],
): string {
  const field = (cell: string | number | boolean | null | undefined) => {
    let text = String(cell ?? '').replace(/[\t-\r]+/g, ' ');
    if (/^ *[=+\-@]/.test(text) && !Number.isFinite(Number(text))) text = `'${text}`;
    return /[",]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [labels, ...rows].map((row) => labels.map((_, column) => field(row[column])).join(',')).join('\r\n');
}
