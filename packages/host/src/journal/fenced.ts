/** Another process has the run now: what this one still does with it no longer counts (X4). */
export class Fenced extends Error {
  override readonly name = "Fenced";

  constructor(runId: string) {
    super(`the run ${runId} belongs to another process now`);
  }
}
