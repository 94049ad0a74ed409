import type { RowCodec } from "./versioned.ts";

/** Every kind of row that carries a version, by the name of its file in the corpus (test/store/corpus). */
export const rowCodecs: Readonly<Record<string, RowCodec<unknown>>> = {};
