// Renders Markdown as elements: paragraphs, headings, lists, tables, quotes, code, bold, italics and links. The text of
// a model becomes text nodes only, never markup. An image becomes a link, so that no answer makes the browser load
// something from another server.

import { element } from "/dom.js";

const INLINE =
  /(`+)(.+?)\1|\*\*(.+?)\*\*|\*(?![\s*])([^*]+)\*|!?\[([^\]]*)\]\(([^\s)]+)[^)]*\)|(https?:\/\/[^\s<>()*`|"']*[^\s<>()*`|"'.,;:!?])/;
const ITEM = /^(\s*)(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const FENCE = /^\s*```/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** A link that shows its host. Other schemes than http and https stay text. */
function link(text, href) {
  const url = /^https?:\/\//.test(href) ? URL.parse(href) : null;
  if (!url) return `${text} (${href})`;
  const anchor = element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, text || url.host);
  return text === href || text === url.host ? anchor : element("span", {}, anchor, ` (${url.host})`);
}

/** The text of one block as text nodes and elements. */
function inline(text) {
  const nodes = [];
  let rest = text;
  for (let found; (found = INLINE.exec(rest)); rest = rest.slice(found.index + found[0].length)) {
    const [, , code, bold, italic, label, target, url] = found;
    nodes.push(rest.slice(0, found.index));
    if (code !== undefined) nodes.push(element("code", {}, code));
    else if (bold !== undefined) nodes.push(element("strong", {}, ...inline(bold)));
    else if (italic !== undefined) nodes.push(element("em", {}, ...inline(italic)));
    else nodes.push(url === undefined ? link(label, target) : link(url, url));
  }
  return [...nodes, rest].filter((node) => node !== "");
}

/** The kind of block that a line belongs to. */
function kindOf(line) {
  if (FENCE.test(line)) return "code";
  if (line.trim() === "") return "gap";
  if (/^#{1,6}\s/.test(line)) return "heading";
  if (/^\s*(-\s*){3,}$|^\s*(\*\s*){3,}$/.test(line)) return "rule";
  if (ITEM.test(line)) return "list";
  if (/^\s*\|/.test(line)) return "table";
  return line.startsWith(">") ? "quote" : "text";
}

const CONTINUED = ["list", "table", "quote", "text"];

/** Splits a text into blocks: [{ kind, lines }]. A code block may still be open, while the model writes it. */
function split(text) {
  const blocks = [];
  let open;
  for (const line of text.split(/\r?\n/)) {
    if (open?.kind === "code") {
      if (FENCE.test(line)) open = undefined;
      else open.lines.push(line);
      continue;
    }
    const kind = kindOf(line);
    const isItemText = open?.kind === "list" && kind === "text" && /^\s/.test(line);
    if (open && (isItemText || (open.kind === kind && CONTINUED.includes(kind)))) {
      open.lines.push(line);
    } else if (kind === "gap") {
      open = undefined;
    } else {
      open = { kind, lines: kind === "code" ? [] : [line] };
      blocks.push(open);
    }
  }
  return blocks;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

function list(lines) {
  const stack = [];
  let root;
  for (const line of lines) {
    const found = ITEM.exec(line);
    if (!found) {
      stack.at(-1)?.node.lastChild?.append("\n", ...inline(line.trim()));
      continue;
    }
    const [, indent, number, text] = found;
    while (stack.length > 1 && indent.length < stack.at(-1).indent) stack.pop();
    if (stack.length === 0 || indent.length > stack.at(-1).indent + 1) {
      const node = element(number ? "ol" : "ul", { start: number > 1 ? number : undefined });
      if (stack.length > 0) stack.at(-1).node.lastChild.append(node);
      else root = node;
      stack.push({ node, indent: indent.length });
    }
    stack.at(-1).node.append(element("li", {}, ...inline(text)));
  }
  return root;
}

const make = {
  code: (lines) => element("pre", {}, element("code", {}, lines.join("\n"))),
  heading: ([line]) => element("p", { class: "heading" }, ...inline(line.replace(/^#+\s+/, ""))),
  rule: () => element("hr"),
  list,
  table(lines) {
    const [head, ...rows] = lines.filter((line) => !TABLE_RULE.test(line)).map(cells);
    const row = (tag) => (texts) => element("tr", {}, ...texts.map((text) => element(tag, {}, ...inline(text))));
    const body = element("tbody", {}, ...rows.map(row("td")));
    return element("div", { class: "table" }, element("table", {}, element("thead", {}, row("th")(head ?? [])), body));
  },
  quote: (lines) => element("blockquote", {}, ...inline(lines.map((line) => line.replace(/^>\s?/, "")).join("\n"))),
  text: (lines) => element("p", {}, ...inline(lines.join("\n"))),
};

/** A view of a Markdown text: { node, update(text) }. Blocks that did not change stay, with what is selected in them. */
export function markdownView(attributes) {
  const node = element("div", attributes);
  let shown = [];
  return {
    node,
    update(text) {
      shown = split(text).map(({ kind, lines }, index) => {
        const source = `${kind}\n${lines.join("\n")}`;
        const old = shown[index];
        if (old?.source === source) return old;
        return { source, node: make[kind](lines) };
      });
      shown.forEach((block, index) => {
        const there = node.childNodes[index];
        if (there === block.node) return;
        if (there) there.replaceWith(block.node);
        else node.append(block.node);
      });
      while (node.childNodes.length > shown.length) node.lastChild.remove();
    },
  };
}
