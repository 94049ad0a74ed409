import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** So near to the end counts as being there. */
const NEAR_PX = 24;

export interface Stick {
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** Whether it follows what is new. */
  readonly isAtEnd: boolean;
  readonly onScroll: () => void;
  readonly jump: () => void;
}

/** Follows what is new at the bottom while the reader is there; who has scrolled up is left alone. */
export function useStick(key: string): Stick {
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const lastTop = useRef(0);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    const { current } = frame;
    if (!current) return;
    current.scrollTop = current.scrollHeight;
    lastTop.current = current.scrollTop;
  }, []);
  const jump = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    toEnd();
  }, [toEnd]);
  const onScroll = useCallback(() => {
    const { current } = frame;
    if (!current) return;
    const left = current.scrollHeight - current.scrollTop - current.clientHeight;
    // Growing text leaves the end behind without anybody scrolling: only a move upwards is the reader's.
    if (left <= NEAR_PX) follows.current = true;
    else if (current.scrollTop < lastTop.current - 1) follows.current = false;
    lastTop.current = current.scrollTop;
    setAtEnd(follows.current);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation begins at its end
  useLayoutEffect(jump, [key]);
  useEffect(() => {
    const { current } = content;
    if (!current) return;
    const observer = new ResizeObserver(() => {
      if (follows.current) toEnd();
    });
    observer.observe(current);
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, [toEnd]);
  return { frame, content, isAtEnd, onScroll, jump };
}
