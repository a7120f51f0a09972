import DOMPurify from 'dompurify';
import { marked } from 'marked';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { Streamdown } from 'streamdown';
import '../markdown-client.js';

window.ways = {
  'marked, DOMPurify': (node) => (text) => (node.innerHTML = DOMPurify.sanitize(marked.parse(text))),
  'Streamdown, React': (node) => {
    const root = createRoot(node);
    return (text) => root.render(createElement(Streamdown, null, text));
  },
};
