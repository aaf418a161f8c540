import { openBridge } from "../../src/harness/bridge/bridge.ts";
import { answerMemory } from "./held-memory.ts";

/**
 * The run's end of calls to models. Arguments: path and token of the run's socket, the provider's base URL. Prints the
 * address in place of that URL and the bridge's key as JSON.
 */
const [socket = "", token = "", upstream = ""] = process.argv.slice(2);
const bridge = await openBridge({
  runSocket: { socket, token },
  onInterrupted: (message) => process.stderr.write(`${message}\n`),
});
const baseUrl = bridge.baseUrl({ name: "bench" }, upstream);
process.stdout.write(`${JSON.stringify({ baseUrl, key: bridge.key })}\n`);
answerMemory();
