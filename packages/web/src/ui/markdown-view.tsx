import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "./code-block.tsx";
import { safeLink } from "./safe-link.ts";

/** What a model or a user wrote is never trusted: a link that is not one stays text, an image is a link to it. */
function SafeLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  const safe = safeLink(href);
  if (!safe) return <span>{children}</span>;
  return (
    <a
      href={safe}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="break-words text-accent underline underline-offset-2"
    >
      {children}
    </a>
  );
}

function Heading({ children }: { children: ReactNode }) {
  return <h3 className="mt-4 mb-2 text-lg font-semibold first:mt-0">{children}</h3>;
}

function Subheading({ children }: { children: ReactNode }) {
  return <h4 className="mt-3 mb-1 font-semibold first:mt-0">{children}</h4>;
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  img: ({ src, alt }) => (
    <SafeLink href={typeof src === "string" ? src : undefined}>
      Image: {alt || "without a description"}
    </SafeLink>
  ),
  pre: ({ node, children }) => {
    const code = node?.children[0];
    const text =
      code?.type === "element"
        ? code.children.map((part) => ("value" in part ? part.value : "")).join("")
        : "";
    return text ? <CodeBlock code={text.replace(/\n$/, "")} className="my-2" /> : <pre>{children}</pre>;
  },
  code: ({ children }) => (
    <code className="rounded-sm bg-sunken px-1 font-mono text-sm break-words">{children}</code>
  ),
  p: ({ children }) => <p className="my-2 first:mt-0 last:mb-0">{children}</p>,
  // Two levels, below the headings of any page that shows it.
  h1: ({ children }) => <Heading>{children}</Heading>,
  h2: ({ children }) => <Heading>{children}</Heading>,
  h3: ({ children }) => <Subheading>{children}</Subheading>,
  h4: ({ children }) => <Subheading>{children}</Subheading>,
  h5: ({ children }) => <Subheading>{children}</Subheading>,
  h6: ({ children }) => <Subheading>{children}</Subheading>,
  ul: ({ children }) => <ul className="my-2 list-disc pl-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="my-2 list-decimal pl-5">
      {children}
    </ol>
  ),
  li: ({ children }) => <li className="my-1">{children}</li>,
  blockquote: ({ children }) => (
    <blockquote className="my-2 border-l-2 border-line pl-3 text-muted">{children}</blockquote>
  ),
  hr: () => <hr className="my-4 border-line" />,
  table: ({ children }) => (
    <div className="my-2 overflow-x-auto">
      <table className="border-collapse text-sm">{children}</table>
    </div>
  ),
  th: ({ children }) => <th className="border border-line px-2 py-1 text-left font-medium">{children}</th>,
  td: ({ children }) => <td className="border border-line px-2 py-1">{children}</td>,
  input: ({ checked }) => <span>{checked ? "☑ " : "☐ "}</span>,
};

const PLUGINS = [remarkGfm];
const keepAddress = (url: string) => safeLink(url) ?? "";

/** Raw HTML is shown as the text it is. */
export default function MarkdownView({ text }: { text: string }) {
  return (
    <div className="measure min-w-0 break-words">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={keepAddress}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
