// The tokens of languages, as one expression for each family. Each alternative takes what is not closed to its end, so
// that the time is linear in the code.

const BLOCK_COMMENT = String.raw`\/\*[^]*?(?:\*\/|$)`;
const LINE_COMMENT = String.raw`\/\/.*`;
const HASH_COMMENT = String.raw`(?<!\S)#.*`;
const DOUBLE = String.raw`"(?:\\[^]|[^"\\\n])*"?`;
const SINGLE = String.raw`'(?:\\[^]|[^'\\\n])*'?`;
const BACKTICK = '`(?:\\\\[^]|[^`\\\\])*`?';
const NUMBER = String.raw`\b(?:0[xob][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w*\b`;
const CALL = String.raw`\b[a-zA-Z_$][\w$]*(?=!?\()`;
const TYPE = String.raw`\b[A-Z]\w*\b`;

/** Makes an expression. Each kind of token is a group with its name. */
function tokens(groups: Record<string, string>, flags = 'g'): RegExp {
  const sources = Object.entries(groups).map(([name, source]) => `(?<${name}>${source})`);
  return new RegExp(sources.join('|'), flags);
}

const words = (list: string): string => String.raw`\b(?:${list.replaceAll(' ', '|')})\b`;

/** A language with names, calls and capitalised types. */
const program = (comment: string, string: string, keywords: string): RegExp =>
  tokens({ comment, string, number: NUMBER, keyword: words(keywords), type: TYPE, call: CALL });

const SCRIPT = program(
  `${BLOCK_COMMENT}|${LINE_COMMENT}`,
  `${DOUBLE}|${SINGLE}|${BACKTICK}`,
  'abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number object of private protected public readonly return satisfies set static string super switch this throw true try type typeof undefined unknown var void while yield',
);
const PYTHON = program(
  HASH_COMMENT,
  String.raw`[bfruBFRU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${DOUBLE}|${SINGLE})`,
  'False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield',
);
const RUST = program(
  `${BLOCK_COMMENT}|${LINE_COMMENT}`,
  String.raw`b?r#*"[^]*?(?:"#*|$)|b?"(?:\\[^]|[^"\\])*"?|b?'(?:\\[^\n]{1,9}|[^\\'\n])'`,
  'Self as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i128 i16 i32 i64 i8 if impl in isize let loop match mod move mut pub ref return self static str struct super trait true type u128 u16 u32 u64 u8 union unsafe use usize where while',
);
const GO = program(
  `${BLOCK_COMMENT}|${LINE_COMMENT}`,
  `${DOUBLE}|${SINGLE}|${BACKTICK}`,
  'any bool break byte case chan const continue default defer else error fallthrough false float32 float64 for func go goto if import int int32 int64 interface iota map nil package range return rune select string struct switch true type uint uint64 var',
);
const SQL = tokens({
  comment: `${BLOCK_COMMENT}|--.*`,
  string: `'(?:''|[^'])*'?|"[^"\n]*"?`,
  number: NUMBER,
  keyword: words(
    'add all alter and as asc begin between bigint boolean by case check column commit constraint create cross date default delete desc distinct drop else end exists false foreign from full group having if in index inner insert int integer into is join key left like limit not null numeric offset on or order outer over partition primary references returning right rollback row rows select set sum table text then timestamp true union unique update using values varchar view when where with',
  ),
  call: CALL,
}, 'gi');
const BASH = tokens({
  comment: HASH_COMMENT,
  string: String.raw`"(?:\\[^]|[^"\\])*"?|'[^']*'?`,
  type: String.raw`\$(?:\w+|\{[^}\n]*\}?|[?#@*!$])`,
  keyword: String.raw`(?<![\w-])(?:case|cd|do|done|echo|elif|else|esac|exit|export|fi|for|function|if|in|local|return|set|source|sudo|then|unset|until|while)(?![\w-])`,
  call: String.raw`(?<=(?<![^\n])|[|;&]\s{0,8}|\$\()[\w./-]+`,
  number: String.raw`(?<=\s)--?[a-zA-Z][\w-]*`,
});
const JSON_TEXT = tokens({
  comment: `${BLOCK_COMMENT}|${LINE_COMMENT}`,
  property: String.raw`"(?:\\.|[^"\\\n])*"(?=\s*:)`,
  string: DOUBLE,
  number: `-?${NUMBER}`,
  keyword: words('false null true'),
});
const CSS_TEXT = tokens({
  comment: BLOCK_COMMENT,
  string: `${DOUBLE}|${SINGLE}`,
  keyword: String.raw`@[\w-]+|!important`,
  property: String.raw`(?<![\w-])[\w-]+(?=\s*:\s)`,
  number: String.raw`#[\da-fA-F]{3,8}\b|(?<![\w-])-?(?:\d+\.?\d*|\.\d+)(?:%|[a-z]+)?`,
  call: String.raw`(?<![\w-])[a-z-]+(?=\()`,
  type: String.raw`[.#][a-zA-Z][\w-]*`,
});
const HTML = tokens({
  comment: String.raw`<!--[^]*?(?:-->|$)|<![^>\n]*>?`,
  keyword: String.raw`<\/?[a-z][\w:-]*|\/?>`,
  property: String.raw`(?<=\s)[\w:@.-]+(?==)`,
  string: `(?<==)(?:${DOUBLE}|${SINGLE})`,
  number: String.raw`&#?\w+;`,
}, 'gi');

const NAMES: [names: string, expression: RegExp][] = [
  ['js javascript jsx mjs cjs ts typescript tsx java c cpp c++ cs csharp kotlin swift php', SCRIPT],
  ['py python python3', PYTHON],
  ['rs rust', RUST],
  ['go golang', GO],
  ['sql postgres postgresql mysql sqlite', SQL],
  ['sh bash shell zsh console', BASH],
  ['json jsonc json5', JSON_TEXT],
  ['css scss', CSS_TEXT],
  ['html xml svg vue', HTML],
];
const languages = new Map(NAMES.flatMap(([names, expression]) => names.split(' ').map((name) => [name, expression])));

/** Returns the expression for the tokens of a language, or `undefined` if the language is unknown. */
export const tokensOf = (language: string): RegExp | undefined => languages.get(language.toLowerCase());
