import { useEffect, useId, useRef, useState } from "react";
import { connection } from "./connection.ts";
import { SseReader } from "./sse.ts";

export interface ServerEvent {
  /** The event's name; "message" if it has none. */
  type: string;
  /** Read from JSON; the text itself where it is none. */
  data: unknown;
  id: string | undefined;
}

export interface UseEventsOptions {
  onEvent(event: ServerEvent): void;
  /** Where to resume when the page already has events, like a snapshot's last id. */
  lastEventId?: string | undefined;
  /** Called when the stream ends for good: the server said so, or refused. */
  onEnd?(): void;
  /** Goes on in a tab that nobody sees. Browsers allow six connections to a server, for all tabs together. */
  whileHidden?: boolean;
}

export type StreamState = "connecting" | "open" | "offline" | "ended";

/** 204 is how a server tells a reader of events to stop; 4xx will not change by asking again. */
const isFinal = (status: number) => status === 204 || (status >= 400 && status < 500 && status !== 429);

/** A glance at another tab is not worth a new connection. */
const HIDDEN_MS = 20_000;

/**
 * Events of the server for as long as the page is there. After a break it resumes behind the last event it saw
 * (`Last-Event-ID`), waiting longer each time; a tab that is hidden for a while lets go of its connection and catches up
 * when it is looked at. No `EventSource`: that hides why it failed and cannot start behind an event.
 */
export function useEvents(url: string | undefined, options: UseEventsOptions): StreamState {
  const [state, setState] = useState<StreamState>("connecting");
  const latest = useRef(options);
  const who = useId();
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    if (url === undefined) return;
    setState("connecting");
    const stream = followEvents(url, {
      lastEventId: latest.current.lastEventId,
      onEvent: (event) => latest.current.onEvent(event),
      onState: (next) => {
        setState(next);
        if (next === "offline") connection.failed(who);
        if (next === "open" || next === "ended") connection.worked(who);
        if (next === "ended") latest.current.onEnd?.();
      },
    });
    // Back by another request's word: no need to wait out the pause.
    const stopWaiting = connection.onComeback(stream.hurry);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onVisibility = () => {
      clearTimeout(timer);
      if (!document.hidden) stream.resume();
      else if (!latest.current.whileHidden) timer = setTimeout(stream.pause, HIDDEN_MS);
    };
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
      stopWaiting();
      stream.close();
      connection.forget(who);
    };
  }, [url, who]);
  return url === undefined ? "ended" : state;
}

export interface FollowOptions {
  lastEventId?: string | undefined;
  onEvent(event: ServerEvent): void;
  onState(state: StreamState): void;
  fetch?: typeof fetch;
  /** How long to wait before the next attempt, in ms. */
  wait?(attempt: number): number;
}

/** Half a second, doubling to 15 s, with some luck in it, so that a restarted server is not met by all at once. */
const patience = (attempt: number) => Math.min(500 * 2 ** attempt, 15_000) * (0.75 + Math.random() / 2);

export interface FollowedEvents {
  close(): void;
  /** Tries again at once, if it waits. */
  hurry(): void;
  /** Lets go of the connection until `resume`, which goes on behind the last event. */
  pause(): void;
  resume(): void;
}

/** The stream behind `useEvents`, without React. */
export function followEvents(url: string, options: FollowOptions): FollowedEvents {
  const stop = new AbortController();
  let current = new AbortController();
  let paused = false;
  let lastId = options.lastEventId;
  let wake: () => void = () => {};
  const send = options.fetch ?? fetch;

  const listen = async (): Promise<"ended" | "broken"> => {
    current = new AbortController();
    const response = await send(url, {
      headers: { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) },
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.any([stop.signal, current.signal]),
    });
    if (isFinal(response.status)) return "ended";
    if (!response.ok || !response.body) return "broken";
    options.onState("open");
    const reader = new SseReader((event) => {
      if (event.id !== undefined) lastId = event.id;
      options.onEvent({ type: event.type, data: readData(event.data), id: event.id });
    });
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      attempt = 0;
      reader.push(decoder.decode(bytes, { stream: true }));
      if (reader.retryMs !== undefined) floor = reader.retryMs;
    }
    // A stream that was closed in order may simply be over: asking again tells, by 204 or by going on.
    return "broken";
  };

  let attempt = 0;
  let floor = 0;
  const run = async () => {
    while (!stop.signal.aborted) {
      const end = await listen().catch(() => "broken" as const);
      if (stop.signal.aborted) return;
      if (end === "ended") return options.onState("ended");
      if (paused) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      // The first break may be a server that restarts: only the second in a row is worth a word.
      if (attempt > 0) options.onState("offline");
      const pause = Math.max(floor, (options.wait ?? patience)(attempt));
      attempt += 1;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  void run();
  return {
    close: () => {
      stop.abort();
      wake();
    },
    hurry: () => {
      if (!paused) wake();
    },
    pause: () => {
      paused = true;
      current.abort();
    },
    resume: () => {
      if (!paused) return;
      paused = false;
      attempt = 0;
      wake();
    },
  };
}

function readData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
