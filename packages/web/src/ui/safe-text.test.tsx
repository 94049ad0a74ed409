import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { writtenOut } from "./json-rows.ts";
import { JsonView } from "./json-view.tsx";
import MarkdownView from "./markdown-view.tsx";
import { safeLink, samePath } from "./safe-link.ts";

const markdown = (text: string) => renderToStaticMarkup(<MarkdownView text={text} />);

/** Addresses that must never be clickable, as people have hidden them. */
const BAD_ADDRESSES = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "java\nscript:alert(1)",
  "java\tscript:alert(1)",
  "\u0001javascript:alert(1)",
  "javascript&colon;alert(1)",
  "&#106;avascript:alert(1)",
  "&#x6A&#x61vascript:alert(1)",
  "javascript://example.com/%0aalert(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
  "data:image/svg+xml,<svg onload=alert(1)>",
  "vbscript:msgbox(1)",
  "VBSCRIPT:msgbox(1)",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "view-source:https://example.com",
  "about:blank",
  "ws://example.com",
  "intent://example.com#Intent;end",
];

const BAD_HTML = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  "<iframe src=javascript:alert(1)></iframe>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<object data=javascript:alert(1)></object>",
  "<embed src=javascript:alert(1)>",
  "<a href=javascript:alert(1)>x</a>",
  "<form action=javascript:alert(1)><button>x</button></form>",
  "<details open ontoggle=alert(1)>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "<base href=https://evil.example/>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "<link rel=stylesheet href=https://evil.example/x.css>",
  "<style>@import 'https://evil.example/x.css'</style>",
  "<video><source onerror=alert(1)></video>",
  "<!--><script>alert(1)</script>-->",
  "<![CDATA[<script>alert(1)</script>]]>",
  "<scr<script>ipt>alert(1)</script>",
  "</div><script>alert(1)</script>",
];

/** Elements that may come out of markdown; all else would be the writer's doing. */
const OURS = new Set(
  "div p span a code pre h3 h4 ul ol li blockquote hr table thead tbody tr th td em strong del br figure button svg path rect sup input".split(
    " ",
  ),
);

function elementsOf(html: string): { name: string; attributes: string }[] {
  return [...html.matchAll(/<([a-z0-9]+)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*\/?>/gi)].map(
    ([, name = "", attributes = ""]) => ({
      name: name.toLowerCase(),
      attributes,
    }),
  );
}

function expectHarmless(html: string): void {
  for (const { name, attributes } of elementsOf(html)) {
    expect(OURS, html).toContain(name);
    expect(attributes, html).not.toMatch(/\son\w+=|\ssrc=|\sstyle=|\ssrcdoc=|\sformaction=/i);
    const href = /\shref="([^"]*)"/.exec(attributes)?.[1];
    if (href !== undefined) expect(href, html).toMatch(/^(https?|mailto):/);
  }
}

describe("links", () => {
  test.each(BAD_ADDRESSES)("%j is no link", (address) => {
    const html = markdown(
      `[click](<${address.replaceAll("\n", "")}>) and [ref][1]\n\n[1]: ${address}\n\n<${address}>`,
    );
    expectHarmless(html);
    expect(html).not.toMatch(/href="[^"]*(script|data|file|blob|view-source|about|intent|wss?):/i);
  });

  test("the browser's own reading decides what a scheme is", () => {
    for (const address of [
      "java\nscript:alert(1)",
      "java\tscript:alert(1)",
      " javascript:alert(1)",
      "\u0001javascript:x",
    ])
      expect(safeLink(address), JSON.stringify(address)).toBeUndefined();
    expect(safeLink("https://example.com/a?b#c")).toBe("https://example.com/a?b#c");
    expect(safeLink("mailto:a@example.com")).toBe("mailto:a@example.com");
    expect(safeLink("/api/v1/session")).toBeUndefined();
    expect(safeLink("//example.com")).toBeUndefined();
    expect(safeLink("http://[bad")).toBeUndefined();
  });

  test("a link opens elsewhere and tells nothing of us", () => {
    const html = markdown("[docs](https://example.com) https://example.org <mailto:a@example.com>");
    expect(html.match(/target="_blank" rel="noopener noreferrer nofollow"/g)).toHaveLength(3);
  });
});

describe("raw HTML", () => {
  test.each(BAD_HTML)("%j is text", (html) => {
    for (const text of [html, `before ${html} after`, `| a |\n|---|\n| ${html} |`, `- ${html}`, `# ${html}`])
      expectHarmless(markdown(text));
  });

  test("code shows it as it is", () => {
    expect(markdown("```html\n<script>alert(1)</script>\n```")).toContain(
      "&lt;script&gt;alert(1)&lt;/script&gt;",
    );
  });
});

describe("images", () => {
  test.each([
    "![alt](https://evil.example/pixel.png)",
    "![alt][ref]\n\n[ref]: https://evil.example/pixel.png",
    "[![alt](https://evil.example/pixel.png)](https://example.com)",
    "![a](data:image/svg+xml;base64,AAAA)",
    "![a](//evil.example/x.png)",
  ])("%j is never loaded", (text) => {
    const html = markdown(text);
    expect(html).not.toContain("<img");
    expect(html).not.toMatch(/\ssrc(set)?=/);
    expectHarmless(html);
  });

  test("it is a link that says what it is", () => {
    expect(markdown("![chart of sales](https://example.com/x.png)")).toMatch(
      /href="https:\/\/example.com\/x.png".*Image: chart of sales/,
    );
  });
});

describe("values", () => {
  test("what cannot be seen is spelled out, line breaks are breaks, and backslashes stay", () => {
    expect(writtenOut("a\nb")).toBe('"a\nb"');
    expect(writtenOut("a\\nb")).toBe('"a\\\\nb"');
    expect(writtenOut("safe\u202etxt.exe")).toBe('"safe\\u{202e}txt.exe"');
    expect(writtenOut("zero\u200bwidth\ufeff")).toBe('"zero\\u{200b}width\\u{feff}"');
    expect(writtenOut("naïve 😀 \u0007")).toBe('"naïve 😀 \\u0007"');
  });

  test("a value of a model is text, however it looks", () => {
    const html = renderToStaticMarkup(
      <JsonView label="Arguments" value={{ "<b>": ["<img src=x onerror=alert(1)>"] }} />,
    );
    expect(html).not.toMatch(/<img|<b>/);
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
  });

  test("a long string is whole", () => {
    const long = "x".repeat(50_000);
    expect(renderToStaticMarkup(<JsonView label="Arguments" value={{ long }} />)).toContain(long);
  });
});

describe("where sign-in leads", () => {
  test.each([
    ["/inbox/7?tab=why#x", "/inbox/7?tab=why#x"],
    ["/", "/"],
    [undefined, "/"],
    ["", "/"],
    ["https://evil.example/", "/"],
    ["//evil.example/", "/"],
    ["/\\evil.example/", "/"],
    ["/\t/evil.example", "/"],
    ["/\n/evil.example", "/"],
    ["\\\\evil.example", "/"],
    ["javascript:alert(1)", "/"],
    ["/sign-in?redirect=/sign-in", "/"],
    ["/setup", "/"],
    [["/a", "/b"], "/"],
    ["runs", "/"],
  ])("%j goes to %j", (given, path) => {
    expect(samePath(given)).toBe(path);
  });
});
