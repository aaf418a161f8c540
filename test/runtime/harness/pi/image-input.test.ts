import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelInput } from "../../../../streams/agent-config.ts";
import { aModel } from "../jobs.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const read = { id: "call12345", name: "read", json: '{"path":"dot.png"}' };

test.each<readonly [string, readonly ModelInput[] | null, string]>([
  [
    "gets the images that tools return if its config allows images",
    ["text", "image"],
    `base64,${png}`,
  ],
  ["gets a text instead of tools' images by default", null, "does not support images"],
])("a model that is not in the list %s", async (_name, input, expected) => {
  const workDir = tempDir();
  const upstream = await startFakeUpstream();
  onTestFinished(() => upstream.close());
  await writeFile(join(workDir, "dot.png"), Buffer.from(png, "base64"));
  const { baseUrl, requests } = upstream.route([
    { reply: { kind: "calls", calls: [read] } },
    { reply: { kind: "text", text: "Seen." } },
  ]);
  const model = aModel("first", baseUrl, { input });
  expect(await runSession({ workDir, models: [model] })).toMatchObject({ error: null });
  expect(requests.at(-1)).toContain(expected);
});
