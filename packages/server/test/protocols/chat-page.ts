import { setImmediate as turn } from "node:timers/promises";
import { useChat } from "@ai-sdk/react";
import { type ChatInit, DefaultChatTransport, type UIMessage } from "ai";
import { JSDOM } from "jsdom";
import { createElement } from "react";
import { onTestFinished } from "vitest";
import { afterFile } from "../../../../scripts/testing/after-file.ts";

type Chat = ReturnType<typeof useChat<UIMessage>>;
type Init = ChatInit<UIMessage> & { readonly resume?: boolean };

function Screen({ init, shown }: { init: Init; shown: (chat: Chat) => void }) {
  const chat = useChat<UIMessage>(
    init as Parameters<typeof useChat<UIMessage>>[0] & object,
  ) /* its options differ in what may be undefined only */;
  shown(chat);
  const text = chat.messages.at(-1)?.parts.map((part) => (part.type === "text" ? part.text : ""));
  return createElement("main", null, text?.join(""));
}

export interface Page {
  /** What `useChat` returned when the page was last rendered. */
  readonly chat: Chat;
  readonly last: UIMessage | undefined;
  text(): string;
  close(): void;
}

/** A page with one chat on it: React and `useChat` as an application uses them. */
export async function openPage(
  api: string,
  options: Omit<Init, "transport"> & { body?: object; headers?: Record<string, string> } = {},
): Promise<Page> {
  const dom = new JSDOM("<!doctype html><div id=root></div>", { url: "http://localhost/" });
  Object.assign(globalThis, { window: dom.window, document: dom.window.document });
  const { createRoot } = await import("react-dom/client");
  const { body, headers, ...init } = options;
  const transport = new DefaultChatTransport<UIMessage>({
    api,
    ...(body ? { body } : {}),
    ...(headers ? { headers } : {}),
  });
  let current: Chat | undefined;
  const container = dom.window.document.getElementById("root");
  if (container === null) throw new Error("there is no root");
  const root = createRoot(container);
  const shown = (chat: Chat) => {
    current = chat;
  };
  root.render(createElement(Screen, { init: { transport, ...init }, shown }));
  let isClosed = false;
  const close = () => {
    if (!isClosed) root.unmount();
    isClosed = true;
  };
  onTestFinished(close);
  afterFile(removeWindow);
  while (current === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  const page = {
    get chat(): Chat {
      if (current === undefined) throw new Error("nothing was rendered");
      return current;
    },
    get last() {
      return page.chat.messages.at(-1);
    },
    text: () => dom.window.document.querySelector("main")?.textContent ?? "",
    close,
  };
  return page;
}

/** Other files in this thread must not take it for a browser. */
async function removeWindow(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn(); // React's last work still needs the window, and is done at once
  Reflect.deleteProperty(globalThis, "window");
  Reflect.deleteProperty(globalThis, "document");
}
