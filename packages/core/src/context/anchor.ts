/** What a provider reported for a request, beside what we had estimated for that same request. */
export interface Anchor {
  /** Input tokens the provider counted. */
  readonly reported: number;
  /** Our estimate of the same request. */
  readonly estimated: number;
}

/** The next request, by our own estimate. */
export interface NextRequest {
  /** The whole of it. */
  readonly whole: number;
  /** What it has that the anchor's request had not; null when it does not merely add to it (compaction, other tools). */
  readonly added: number | null;
}

/** Nobody's tokenizer differs by more from an estimate; beyond it something else was counted. */
const LEAST_RATIO = 0.5;
const MOST_RATIO = 2;
/**
 * As many tokens count as estimated rightly: in a small request what differs is mostly what providers add unseen, and
 * that does not grow with the conversation.
 */
const TRUSTED = 1_000;

/**
 * The size of the next request. What the provider has counted is taken as it is, so an error of ours does not build up
 * over a run; what was added since is estimated, corrected by how far the estimate was off before. Never less than was
 * reported while the request only grows.
 */
export function anchoredEstimate(anchor: Anchor | null, { whole, added }: NextRequest): number {
  if (anchor === null || !isUsable(anchor)) return Math.ceil(whole);
  const ratio = correction(anchor);
  if (added === null) return Math.ceil(whole * ratio);
  return Math.ceil(anchor.reported + Math.max(0, added) * ratio);
}

/** By how much to correct estimates, as far as the anchor tells. */
export function correction({ reported, estimated }: Anchor): number {
  const ratio = (reported + TRUSTED) / (estimated + TRUSTED);
  return Math.min(MOST_RATIO, Math.max(LEAST_RATIO, ratio));
}

/** Some servers report nothing, which reaches us as zero. */
function isUsable({ reported, estimated }: Anchor): boolean {
  return Number.isFinite(reported) && reported > 0 && Number.isFinite(estimated) && estimated > 0;
}
