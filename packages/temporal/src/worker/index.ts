export { createWorker, type TracksideWorker, type WorkerInit } from "./create-worker.ts";
