import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelInput } from "../../../../streams/agent-config.ts";
import { aModel } from "../jobs.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession } from "./run-session.ts";
import { data } from "./wires/wire-format.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const call = {
  index: 0,
  id: "call12345",
  type: "function",
  function: { name: "read", arguments: '{"path":"dot.png"}' },
};
const choice = { index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" };
const reads = {
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: `${data({ id: "c1", choices: [choice] })}data: [DONE]\n\n`,
};

test.each<readonly [string, readonly ModelInput[] | null, string]>([
  ["gets the images that tools return if its config says so", ["text", "image"], `base64,${png}`],
  ["gets a text in their place otherwise", null, "does not support images"],
])("an unknown model %s", async (_name, input, expected) => {
  const workDir = tempDir();
  const upstream = await startFakeUpstream();
  onTestFinished(() => upstream.close());
  await writeFile(join(workDir, "dot.png"), Buffer.from(png, "base64"));
  const route = upstream.route([reads, { reply: { kind: "text", text: "Seen." } }]);
  const model = aModel("first", route.baseUrl, { provider: "custom", model: "seer-1", input });
  expect(await runSession({ workDir, models: [model] })).toMatchObject({ error: null });
  expect(route.requests.at(-1)).toContain(expected);
});
