import type { LogEntry } from "trackside";
import type { EffectOrder, PlacedRow } from "trackside/loop";
import { besideRow, type EndedRun } from "../journal/end-run.ts";
import { Fenced } from "../journal/fenced.ts";
import { commitBody } from "../journal/row-codecs.ts";
import { ASIDE, type CommitBody } from "../journal/rows.ts";
import { forget } from "../journal/run-host.ts";
import { insertArtifacts } from "../journal/run-records.ts";
import type { Surroundings } from "../journal/running.ts";
import { holdsFence } from "../store/fence.ts";
import { type Builder, type CommitEntry, changed, type Operation, rows, type Store } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import type { FiledRow, RunFile } from "./run-file.ts";

/**
 * Writes down what the loop did, once, whoever comes first: its rows go along with every effect until it knows that they
 * are in (X9). Answers which were new.
 */
export async function writeRows(
  around: Surroundings,
  file: RunFile,
  placed: readonly PlacedRow[],
  ending: (logged: () => number) => EndedRun,
): Promise<readonly PlacedRow[]> {
  const { parts, bus } = around;
  const { runId } = file.given;
  const unknown = placed.filter(({ ord }) => !file.has(ord));
  if (unknown.length === 0) return [];
  const at = parts.clock.now();
  const isPlain = unknown.every((row) => besideRow(ending(NONE), row, [], []) === undefined);
  const fresh = isPlain
    ? await appendRows(around, file, unknown, at)
    : await writeBeside(around, file, unknown, at, ending);
  for (const { ord, seq, ...row } of unknown) file.apply({ ord, seq, body: { v: 1, at, ...row } }, []);
  const last = fresh.at(-1);
  if (last !== undefined) bus.publish(runId, { type: "committed", run_id: runId, seq: last.seq });
  return fresh;
}

const NONE = () => 0;

/** Rows that mean nothing for other tables, which are most, go in one statement with those of other runs. */
async function appendRows(
  { patient }: Surroundings,
  file: RunFile,
  placed: readonly PlacedRow[],
  at: number,
): Promise<readonly PlacedRow[]> {
  const { runId, fence } = file.given;
  const fresh: PlacedRow[] = [];
  // One after the other: a reader that sees a row has seen those before it.
  for (const one of placed) {
    const { ord, seq, ...row } = one;
    const body = JSON.stringify({ v: 1, at, ...row });
    if (await file.once(ord, () => append(patient, { run_id: runId, ord, seq, body, fence })))
      fresh.push(one);
  }
  return fresh;
}

/** False when the row is there already. */
async function append(store: Store, entry: CommitEntry): Promise<boolean> {
  try {
    if (await store.append(entry)) return true;
  } catch (error) {
    if (error instanceof StoreError && error.fault === "conflict") return false;
    throw error;
  }
  throw new Fenced(entry.run_id);
}

function writeBeside(
  { patient }: Surroundings,
  file: RunFile,
  placed: readonly PlacedRow[],
  at: number,
  ending: (logged: () => number) => EndedRun,
): Promise<readonly PlacedRow[]> {
  const { runId, fence } = file.given;
  return patient.write(function* (db) {
    if (!(yield* holdsFence(db, runId, fence))) throw new Fenced(runId);
    const written: PlacedRow[] = [];
    let logged = 0;
    for (const one of placed) {
      const { ord, seq, ...row } = one;
      const entry = { run_id: runId, ord, seq, body: JSON.stringify({ v: 1, at, ...row }) };
      if (yield* insertOnce(db, entry)) {
        written.push(one);
        const before = logged;
        const forgotten =
          row.ended === undefined ? [] : forget(file.base, file.unlogged, row, [], file.savedAt);
        const beside = besideRow(
          ending(() => before),
          row,
          [],
          forgotten,
        );
        if (beside !== undefined) yield* beside(db);
      }
      for (const note of row.notes) if (note.type === "logged") logged += note.message_ids.length;
    }
    return written;
  });
}

function* insertOnce(
  db: Builder,
  entry: { run_id: string; ord: number; seq: number; body: string },
): Operation<boolean> {
  const insert = db
    .insertInto("commits")
    .values(entry)
    .onConflict((conflict) => conflict.columns(["run_id", "ord"]).doNothing());
  return (yield* changed(insert)) > 0;
}

/** What came of an effect, as it is written down. */
export interface Answer {
  readonly result: unknown;
  readonly messages: readonly LogEntry[];
  readonly deferred: NonNullable<CommitBody["deferred"]>;
  readonly attempt: number;
  readonly held_by?: string;
}

/**
 * Writes down what came of an effect, with the messages it made, before anybody hears of it. Of several tries of the same
 * effect the last one counts: a slower one finds that it is not it.
 */
export async function writeAnswer(
  around: Surroundings,
  file: RunFile,
  { asked, ord, seq }: EffectOrder,
  { result, messages, deferred, attempt, held_by }: Answer,
): Promise<void> {
  const { patient, codec, parts } = around;
  const { runId, fence, request, conversationId } = file.given;
  const at = parts.clock.now();
  const { stored, artifacts } = codec.encode(messages);
  const body: CommitBody = {
    v: 1,
    at,
    key: ASIDE,
    result,
    notes: [],
    begun: [],
    ...(stored.length > 0 ? { messages: stored } : {}),
    ...(deferred.length > 0 ? { deferred } : {}),
    answer: { key: asked.key, attempt, ...(held_by === undefined ? {} : { held_by }) },
  };
  const entry = { run_id: runId, ord, seq, body: JSON.stringify(body) };
  const of = { tenant: request.scope.tenant, conversation_id: conversationId, run_id: runId, at };
  // A first try is alone, nearly always.
  const isAlone = attempt === 1 && artifacts.length === 0 && (await append(patient, { ...entry, fence }));
  if (isAlone) return file.apply({ ord, seq, body }, messages);
  await patient.write(function* (db) {
    if (!(yield* holdsFence(db, runId, fence))) throw new Fenced(runId);
    if (!(yield* insertOnce(db, entry))) {
      const known = yield* answerAt(db, runId, ord);
      if (known === undefined || (known.body.answer?.attempt ?? 0) > attempt) throw new Fenced(runId);
      yield* rows(
        db
          .updateTable("commits")
          .set({ body: entry.body, seq })
          .where("run_id", "=", runId)
          .where("ord", "=", ord),
      );
    }
    yield* insertArtifacts(db, of, artifacts);
  });
  file.apply({ ord, seq, body }, messages);
}

/** What an earlier try of an effect wrote down. */
export function* answerAt(db: Builder, runId: string, ord: number): Operation<FiledRow | undefined> {
  const [row] = yield* rows(
    db
      .selectFrom("commits")
      .select(["ord", "seq", "body"])
      .where("run_id", "=", runId)
      .where("ord", "=", ord),
  );
  return row && { ord: row.ord, seq: row.seq, body: commitBody.read(row.body, runId) };
}
