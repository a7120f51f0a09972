// Texts that make a careless parser slow. Each one is about `size` characters long.

const fill = (piece, size) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
const halves = (first, second, size) => fill(first, size / 2) + fill(second, size / 2);
/** `width` grows from 1, so that no two runs have the same width. */
function growing(char, gap, size) {
  let text = '';
  for (let width = 1; text.length < size; width++) text += char.repeat(width) + gap;
  return text.slice(0, size);
}

/** Returns the texts by name. Each one is made when it is read. */
export const hostile = (size) => ({
  get 'open brackets'() {
    return fill('[', size);
  },
  get 'brackets that close'() {
    return halves('[', ']', size);
  },
  get 'labels without a definition'() {
    return fill('[a] ', size);
  },
  get 'labels with a definition'() {
    return '[a]: /b\n\n' + fill('[a] ', size);
  },
  get 'open links'() {
    return fill('[a](', size);
  },
  get 'open links with quotes'() {
    return fill('[a](b "', size);
  },
  get 'open links with angles'() {
    return fill('[a](<b', size);
  },
  get 'open links with titles in parentheses'() {
    return fill('[a](b (c', size);
  },
  get links() {
    return fill('[a](b)', size);
  },
  get 'links within brackets'() {
    return halves('[', '[a](b)', size);
  },
  get 'images in images'() {
    return halves('![', '](a)', size);
  },
  get 'images of another origin'() {
    return fill('![a](https://example.com/b)', size);
  },
  get 'elements that open'() {
    return fill('<b>', size);
  },
  get 'elements that open and close'() {
    return halves('<b>', '</b>', size);
  },
  get 'elements that overlap'() {
    return fill('<b><i></b></i>', size);
  },
  get 'elements, brackets and stars'() {
    return fill('<b>[*', size / 2) + fill('</b>](c)*', size / 2);
  },
  get 'elements before links'() {
    return halves('<b>', '[a](b)', size);
  },
  get 'elements before ends of others'() {
    return halves('<b>', '</i>', size);
  },
  get 'stars before links'() {
    return halves('*a ', '[a](b)', size);
  },
  get 'stars before elements'() {
    return halves('*a ', '<b></b>', size);
  },
  get 'addresses with underscores'() {
    return fill('_www.a', size);
  },
  get 'comments in a row'() {
    return fill('<!---->', size);
  },
  get 'math without letters'() {
    return halves('\\(', '\\)', size);
  },
  get 'open math in brackets'() {
    return fill('\\[a', size);
  },
  get 'open comments'() {
    return fill('a <!-- ', size);
  },
  get 'beginnings of HTML'() {
    return fill('a <? <!b <![CDATA[ ', size);
  },
  get 'open attributes'() {
    return fill('a <b c="', size);
  },
  get 'open attributes of both quotes'() {
    return fill('a <b c="', size / 2) + fill("<b c='", size / 2);
  },
  get 'attributes without an end'() {
    return 'a <b' + fill(' c', size);
  },
  get 'blocks of HTML'() {
    return fill('<div>\n\n', size);
  },
  get 'a block of HTML'() {
    return '<pre>\n' + fill('<pre>\n\n', size);
  },
  get stars() {
    return fill('*', size);
  },
  get 'stars that open'() {
    return fill('*a ', size);
  },
  get 'stars that close'() {
    return fill(' a*', size);
  },
  get 'stars of each width'() {
    return growing('*', 'a', size);
  },
  get 'nested emphasis'() {
    return halves('*a ', 'b* ', size);
  },
  get 'alternating marks'() {
    return fill('*a _b ', size);
  },
  get 'stars that do both'() {
    return fill('a*b**c***', size);
  },
  get underscores() {
    return fill('_a', size);
  },
  get tildes() {
    return fill('~a ~~b ', size);
  },
  get 'emphasis in brackets'() {
    return fill('[*a', size);
  },
  get 'wide text in deep emphasis'() {
    return '*'.repeat(100) + fill('`a` ', size / 2) + fill('b* ', size / 2);
  },
  get backticks() {
    return fill('`', size);
  },
  get 'backticks of each width'() {
    return growing('`', 'a', size);
  },
  get 'code spans'() {
    return fill('`a` ', size);
  },
  get 'open backticks'() {
    return fill('`a``', size);
  },
  get dollars() {
    return fill('$a ', size);
  },
  get 'open display math'() {
    return fill('$$a $', size);
  },
  get 'less-than signs'() {
    return fill('<', size);
  },
  get 'open addresses in angles'() {
    return fill('<a:', size);
  },
  get 'open mail addresses in angles'() {
    return fill('<a@', size);
  },
  get 'open tags'() {
    return fill('<a b="', size);
  },
  get ampersands() {
    return fill('&', size);
  },
  get 'open references'() {
    return fill('&a', size);
  },
  get backslashes() {
    return fill('\\', size);
  },
  get 'one word'() {
    return fill('a', size);
  },
  get 'one word with w'() {
    return fill('w', size);
  },
  get colons() {
    return fill(':', size);
  },
  get 'addresses without a host'() {
    return fill('http://', size);
  },
  get 'address with references'() {
    return 'http://a.b/' + fill('&a;', size);
  },
  get 'address with parentheses'() {
    return 'http://a.b/' + fill(')', size);
  },
  get 'at signs'() {
    return fill('a@', size);
  },
  get 'mail addresses'() {
    return fill('a@b.', size);
  },
  get 'dots and underscores'() {
    return 'www.' + fill('a_.', size);
  },
  get spaces() {
    return fill(' ', size);
  },
  get 'spaces in a paragraph'() {
    return 'a' + fill(' ', size) + 'b';
  },
  get 'lines of spaces'() {
    return fill(' '.repeat(99) + '\n', size);
  },
  get tabs() {
    return fill('\t', size);
  },
  get 'empty lines'() {
    return fill('\n', size);
  },
  get 'carriage returns'() {
    return fill('\r', size);
  },
  get 'empty lines in indented code'() {
    return '    a' + fill('\n', size);
  },
  get 'empty lines in a list'() {
    return '- a\n' + fill('\n', size) + '  b';
  },
  get quotes() {
    return fill('>', size);
  },
  get 'quotes with spaces'() {
    return fill('> ', size);
  },
  get 'quoted lines'() {
    return fill('> a\n', size);
  },
  get 'quotes that grow'() {
    return growing('>', ' a\n', size);
  },
  get 'lists in a line'() {
    return fill('- ', size);
  },
  get 'lists of each kind in a line'() {
    return fill('- 1. * ', size);
  },
  get 'list items'() {
    return fill('- a\n', size);
  },
  get 'empty list items'() {
    return fill('-\n', size);
  },
  get 'list items of changing kind'() {
    return fill('- a\n* b\n', size);
  },
  get 'lists that grow'() {
    return growing(' ', '- a\n', size);
  },
  get 'numbers of lists'() {
    return fill('1. a\n', size);
  },
  get 'numbers without a list'() {
    return fill('1', size);
  },
  get headings() {
    return fill('# a\n', size);
  },
  get hashes() {
    return '# ' + fill('#', size);
  },
  get 'hashes after text'() {
    return '# a ' + fill('# ', size);
  },
  get rules() {
    return fill('***\n', size);
  },
  get 'open rule'() {
    return fill('* ', size) + 'a';
  },
  get underlines() {
    return fill('a\n-\n', size);
  },
  get 'open underline'() {
    return 'a\n' + fill('-', size) + 'b';
  },
  get fences() {
    return fill('```\n', size);
  },
  get 'open fence'() {
    return '```\n' + fill('a\n', size);
  },
  get 'one wide fence'() {
    return fill('~', size);
  },
  get 'fences in code'() {
    return '````\n' + fill('```\n', size);
  },
  get pipes() {
    return fill('|', size);
  },
  get 'rule of a table'() {
    return 'a\n' + fill('|-', size);
  },
  get 'wide table'() {
    return fill('|a', size / 2) + '|\n' + fill('|-', size / 2) + '|\n';
  },
  get 'long table'() {
    return '|a|b|\n|-|-|\n' + fill('|c|d|\n', size);
  },
  get 'short rows of a wide table'() {
    return '|' + 'a|'.repeat(60) + '\n|' + '-|'.repeat(60) + '\n' + fill('|\n', size);
  },
  get 'cells of a row'() {
    return '|a|\n|-|\n' + fill('|b', size);
  },
  get 'rows without a table'() {
    return fill('|a|b|\n', size);
  },
  get definitions() {
    return fill('[a]: b\n', size);
  },
  get 'definitions of different labels'() {
    return Array.from({ length: size / 12 }, (_, index) => `[${index}]: /b\n`).join('');
  },
  get 'open definitions'() {
    return fill('[a]: b "c\n', size);
  },
  get 'open definition'() {
    return '[a]: b "' + fill('c\n', size);
  },
  get 'one label'() {
    return '[' + fill('a', size) + ']: b';
  },
  get 'tasks'() {
    return fill('- [ ] a\n', size);
  },
  get 'line breaks'() {
    return fill('a  \n', size);
  },
  get 'line breaks by a backslash'() {
    return fill('a\\\n', size);
  },
  get paragraphs() {
    return fill('a\n\n', size);
  },
  get surrogates() {
    return fill('*\u{1f600}', size);
  },
  get 'null characters'() {
    return fill('\0', size);
  },
});
