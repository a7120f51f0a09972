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

/** The words that languages share come first and in one order, which a compressor finds. */
const words = (list: string): string => String.raw`\b(?:${list.replaceAll(' ', '|')})\b`;

/** A language with names, calls and capitalised types. */
const program = (comment: string, string: string, keywords: string): RegExp =>
  tokens({ comment, string, number: NUMBER, keyword: words(keywords), type: TYPE, call: CALL });

const SCRIPT = program(
  `${BLOCK_COMMENT}|${LINE_COMMENT}`,
  `${DOUBLE}|${SINGLE}|${BACKTICK}`,
  'else if break continue for return false true const type as in async await while enum let static super case import default any interface string switch var from is class finally try yield boolean delete null set abstract catch debugger declare do export extends function get implements infer instanceof keyof namespace never new number object of private protected public readonly satisfies this throw typeof undefined unknown void',
);
const PYTHON = program(
  HASH_COMMENT,
  String.raw`[bfruBFRU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${DOUBLE}|${SINGLE})`,
  'else if break continue for return as in async await while case import from is class finally try yield match self and not or with False None True assert def del elif except global lambda nonlocal pass raise',
);
const RUST = program(
  `${BLOCK_COMMENT}|${LINE_COMMENT}`,
  String.raw`b?r#*"[^]*?(?:"#*|$)|b?"(?:\\[^]|[^"\\])*"?|b?'(?:\\[^\n]{1,9}|[^\\'\n])'`,
  'else if break continue for return false true const type as in async await while enum let static super bool struct match self union where Self char crate dyn extern f32 f64 fn i128 i16 i32 i64 i8 impl isize loop mod move mut pub ref str trait u128 u16 u32 u64 u8 unsafe use usize',
);
const GO = program(
  `${BLOCK_COMMENT}|${LINE_COMMENT}`,
  `${DOUBLE}|${SINGLE}|${BACKTICK}`,
  'else if break continue for return false true const type case import default any interface string switch var bool struct int select byte chan defer error fallthrough float32 float64 func go goto int32 int64 iota map nil package range rune uint uint64',
);
const SQL = tokens({
  comment: `${BLOCK_COMMENT}|--.*`,
  string: `'(?:''|[^'])*'?|"[^"\n]*"?`,
  number: NUMBER,
  keyword: words(
    'else if false true as in case default from is boolean delete null set union where int select and not or with add all alter asc begin between bigint by check column commit constraint create cross date desc distinct drop end exists foreign full group having index inner insert integer into join key left like limit numeric offset on order outer over partition primary references returning right rollback row rows sum table text then timestamp unique update using values varchar view when',
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
