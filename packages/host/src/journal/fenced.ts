/** Its conversation was erased: there is nothing to go on with. */
export class Erased extends Error {
  override readonly name = "Erased";

  constructor(runId: string) {
    super(`the run ${runId} is gone: its conversation was erased`);
  }
}

/** Another process has the run now: what this one still does with it no longer counts (X4). */
export class Fenced extends Error {
  override readonly name = "Fenced";

  constructor(runId: string) {
    super(`the run ${runId} belongs to another process now`);
  }
}
