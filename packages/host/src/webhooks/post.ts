import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** What came of one attempt. */
export type PostResult =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly problem: string };

/**
 * Posts JSON and looks at the status alone. Redirects are not followed, since a signed body goes only where it was meant to;
 * the answer's body is never read, so its size does not matter; and the whole of it, connecting included, has one deadline.
 */
export function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<PostResult> {
  return new Promise((resolve) => {
    const timeout = AbortSignal.timeout(limits.timeoutMs);
    const signal = AbortSignal.any([timeout, limits.signal]);
    const failed = (error: unknown) => {
      if (timeout.aborted) resolve({ problem: `no answer within ${limits.timeoutMs} ms` });
      else if (limits.signal.aborted) resolve({ problem: "stopped while it was being sent" });
      else resolve({ problem: codeOf(error) });
    };
    try {
      const send = new URL(url).protocol === "https:" ? httpsRequest : httpRequest;
      const sent = send(url, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
        agent: false, // one connection each: nothing stays open when the sender stops
        signal,
      });
      sent.on("error", failed);
      sent.on("response", (response) => {
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
        response.on("error", () => {}); // what comes after the status concerns nobody
        response.destroy();
      });
      sent.end(body);
    } catch (error) {
      failed(error);
    }
  });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  return code ?? (error instanceof Error ? error.message : String(error));
}
