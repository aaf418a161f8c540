import { NEVER } from "rxjs";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { printed } from "../print-events.ts";
import { aRunner } from "./support.ts";

/** Starts a run in the project of its first argument, prints its events as lines, and is killed as it says `ready`. */
const [projectDir = "", request = ""] = process.argv.slice(2);
aRunner(connectEngine({ env: process.env }), { projectDir })
  .run(JSON.parse(request) as RunRequest, NEVER)
  .subscribe(printed(true));
