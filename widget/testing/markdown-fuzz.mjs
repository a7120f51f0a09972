// Random documents of pieces that meet in real answers, and of pieces that are hard to read.

const PIECES = [
  'word', 'two words', ' ', '  ', '    ', '\t', '\n', '\n', '\n\n', '\r\n', '\r', '\\', '\\\n', '  \n', 'é', '\u{1f600}', '\0',
  '# ', '## ', '#', '- ', '* ', '+ ', '1. ', '2) ', '10. ', '-', '> ', '>', '>> ', '---', '***', '===', '```', '```js\n', '~~~', '`', '``',
  '*', '**', '***', '_', '__', '~', '~~', '[', ']', '![', '](', ')', '(', '](/a)', '](/b "title")', '[a]', '[a][b]', '[a]: /c\n', '\n[b]: /d "e"\n',
  '<', '>', '<br>', '<https://a.example>', '<b>', '</b>', '<sub>', '</sub>', '<i a="', '<a b>', '<!--', '-->', '<div>\n', '<pre>\n', '</pre>', '<?', '<x-y>\n', '&amp;', '&', '&#35;', 'https://a.example/b_c', 'www.a.example', 'a@b.example', ':',
  '| a | b |\n', '|---|---|\n', '|:-:|--|\n', '| c |\n', '|', '\\|', '$', '$$', '$$\n', '$x$', '- [ ] ', '- [x] ', '"', "'", '.', '!', '{', '\n    code\n',
];

/** Returns a source of random numbers below a bound. */
export function random(seed) {
  let state = seed + 0x6d2b79f5;
  return (bound) => {
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) % bound;
  };
}

export function document(next) {
  let text = '';
  for (let count = 1 + next(40); count > 0; count--) text += PIECES[next(PIECES.length)];
  return text;
}

/** Returns where the steps of a text end: after each character, at random places, or in the middle of line ends and pairs. */
export function steps(text, next) {
  const width = [1, 1 + next(4), 1 + next(20)][next(3)];
  const ends = [];
  for (let end = 1 + next(width); end < text.length; end += 1 + next(width)) ends.push(end);
  return ends;
}
