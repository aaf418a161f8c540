import { NEVER } from "rxjs";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import { aRequest, aRunner } from "./support.ts";

/** Starts a run in the project of its first argument, reports its events as lines, and waits to be killed. */
const [projectDir = "", script = ""] = process.argv.slice(2);
const engine = connectEngine({ env: process.env });
const request = aRequest(script);
process.stdout.write(`${JSON.stringify({ instanceId: request.instanceId })}\n`);
aRunner(engine, { projectDir })
  .run(request, NEVER)
  .subscribe((event) => process.stdout.write(`${JSON.stringify(event)}\n`));
