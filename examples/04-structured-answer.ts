// An answer with a shape. One that does not fit is sent back once, with what is wrong about it.
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const outputSchema = z.object({ severity: z.enum(["low", "high"]), summary: z.string() });
const model = scriptedModel([
  '{"severity": "terrible", "summary": "Payments fail."}',
  '{"severity": "high", "summary": "Payments fail."}',
]);
const triage = new Agent({ name: "triage", model, outputSchema });

const { output, steps } = await triage.run("Customers say they cannot pay.");
console.log(`${output.severity}: ${output.summary} (${steps} steps)`);
